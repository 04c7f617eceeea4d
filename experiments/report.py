"""Write the report's numbers and tables and build results/report/report.pdf: python experiments/report.py."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import re
import shutil
import subprocess

from dpucbvi.errors import InputError
from experiments.lab.process import NOTHING_STORED, guarded, parser
from experiments.lab.shipped import Shipped
from experiments.studies.artifact.claims import VERDICTS, Claim, read
from experiments.studies.artifact.figures import read_captions
from experiments.studies.artifact.numbers import Numbers, stored_numbers

BUILDERS = {
    "latexmk": ["-pdf", "-interaction=nonstopmode", "-halt-on-error", "-quiet"],
    "tectonic": ["--chatter", "minimal", "--keep-logs"],
}
LAST_LINES = 10  # of what a builder that failed said
WRITTEN = "% Written by experiments/report.py from the results that ship; do not edit.\n"
# The rules of riverswim/verdicts.py, and what the table calls them.
SENTENCES = {
    "non_private_is_best": "UCBVI is best",
    "jdp_cost_is_a_small_constant": "JDP: small constant",
    "larger_epsilon_has_smaller_regret": r"larger $\varepsilon$, less regret",
    "ldp_cost_stays_high": "LDP: cost remains high",
}
# What the texts of this artifact are written with, in LaTeX.
MATHS = r"""
    ± \pm · \cdot → \to ε \varepsilon δ \delta β \beta ι \iota π \pi μ \mu √ \surd ≤ \le ≥ \ge Ω \Omega
    Õ \tilde{O} ∞ \infty ∗ ^\ast † ^\dagger ‡ ^\ddagger ℓ \ell < < > > ‖ \| ₁ _1 Ṽ \tilde{V} × \times
    Ñ \tilde{N} ⁻ ^{-} ∈ \in ⁰ ^0 ¹ ^1 ² ^2 ³ ^3 ⁴ ^4 ⁵ ^5 ⁶ ^6 ⁷ ^7 ⁸ ^8 ⁹ ^9
"""
LATEX = {letter: f"${tex}$" for letter, tex in zip(MATHS.split()[::2], MATHS.split()[1::2], strict=True)}
LATEX |= {**{letter: f"\\{letter}" for letter in "&%#_"}, "–": "--", "§": r"\S{}"}
ACCENTS = {"\u0302": r"\hat", "\u0303": r"\tilde"}
USED = re.compile(r"\\result\{([^}]+)\}")


def write(paper: Path, folder: Path) -> None:
    """report.tex with the figures' folder, and numbers, claims, sentences and captions as .tex beside it."""
    shipped = Shipped(paper / "results")
    names = shipped.experiments()
    found = stored_numbers(paper)
    claims = read(paper / "claims.yaml", found, names)
    for verdict in VERDICTS:
        found[f"count.{verdict.replace(' ', '_')}"] = str(sum(claim.verdict == verdict for claim in claims))
    source = (paper / "report" / "report.tex").read_text("utf-8")
    if missing := missing_numbers(source, found, names):
        raise InputError(f"report.tex: no such number: {', '.join(missing)}")
    texts = {
        "numbers": macros("result", found, r"\textbf{(not shipped yet)}"),
        "claims": claims_table(claims),
        "sentences": sentences_table(found),
        "captions": macros("figurecaption", read_captions(paper / "figures")),
        "report": source,
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.tex").write_text(text, "utf-8")
    shutil.copytree(paper / "figures", folder / "figures", dirs_exist_ok=True)


def macros(command: str, texts: dict[str, str], other: str = "") -> str:
    r"""A LaTeX command that gives the text of a name, as \result{name}; `other` for any other name."""
    define = rf"\expandafter\def\csname {command}@"
    lines = [rf"{define}{name}\endcsname{{{in_latex(text)}}}" for name, text in texts.items()]
    found = rf"\ifcsname {command}@#1\endcsname\csname {command}@#1\endcsname\else{other}\fi"
    return "\n".join([rf"{WRITTEN}\newcommand{{\{command}}}[1]{{{found}}}", *lines]) + "\n"


def claims_table(claims: list[Claim]) -> str:
    """Statement, what it says, verdict and what was measured, over as many pages as it takes."""
    cells = [(claim.statement, claim.says, claim.verdict, claim.measured) for claim in claims]
    rows = [" & ".join(map(in_latex, row)) + r" \\" for row in cells]
    head = r"\toprule Statement & It says & Verdict & Measured \\ \midrule \endhead \bottomrule \endfoot"
    left = r">{\raggedright\arraybackslash}"  # narrow columns have no words to fill their lines with
    widths = "".join(rf"{left}p{{{share}\linewidth}}" for share in (0.16, 0.36, 0.12, 0.31))
    columns = rf"\begin{{longtable}}{{@{{}}{widths}@{{}}}}"
    return "\n".join([WRITTEN + columns, head, *rows, r"\end{longtable}"]) + "\n"


def sentences_table(numbers: Numbers) -> str:
    """The verdict on every sentence of Section 7 (a column) in every setting (a row)."""
    told = {rule: numbers.get(f"riverswim.verdict.{rule}", "") for rule in SENTENCES}
    found = {rule: dict(part.split(": ") for part in text.split("; ") if part) for rule, text in told.items()}
    settings = dict.fromkeys(setting for verdicts in found.values() for setting in verdicts)
    rows = [" & ".join([name, *(v.get(name, "-") for v in found.values())]) + r" \\" for name in settings]
    head = " & ".join(["Setting", *SENTENCES.values()]) + r" \\ \midrule"
    begin, end = WRITTEN + r"\begin{tabular}{@{}lllll@{}} \toprule", r"\bottomrule \end{tabular}"
    return "\n".join([begin, head, *rows, end, ""])


def in_latex(text: str) -> str:
    """The text with everything that LaTeX reads otherwise replaced."""
    # A letter and its accent are two characters; exponents are ^π or ^{3/2}.
    parts = re.split("(.[\u0302\u0303]|\\^(?:{[^}]*}|.))", text.replace("`", ""))
    return "".join(map(_part_in_latex, parts))


def _part_in_latex(part: str) -> str:
    r"""A letter with its hat as $\hat N$, ^π and ^{3/2} as $^{\pi}$ and $^{3/2}$, any other text as it is."""
    if part[1:] in ACCENTS:
        return f"${ACCENTS[part[1]]}{LATEX.get(part[0], f' {part[0]}').strip('$')}$"
    plain = "".join(LATEX.get(c, c) for c in (part[1:].strip("{}") if part[:1] == "^" else part))
    return f"$^{{{plain.strip('$')}}}$" if part[:1] == "^" else plain


def missing_numbers(source: str, numbers: Numbers, shipped: list[str]) -> list[str]:
    """The names in \\result{...} that a shipped experiment should have and does not."""
    names = USED.findall(source)
    known = (*shipped, "printed", "count")
    return [name for name in names if name not in numbers and name.partition(".")[0] in known]


def build(folder: Path) -> str:
    """Build the PDF, if there is a builder; what was done, in a line."""
    builder = next((name for name in BUILDERS if shutil.which(name)), None)
    if builder is None:
        return f"{folder / 'report.tex'} is written; to make a PDF of it, latexmk or tectonic must be on PATH"
    command = [builder, *BUILDERS[builder], "report.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    if done.returncode:
        print(*done.stderr.splitlines()[-LAST_LINES:], sep="\n", file=sys.stderr)
        raise InputError(f"{builder} failed; its log is {folder / 'report.log'}")
    return str(folder / "report.pdf")


def main() -> None:
    arguments = parser(__doc__, paper="paper", output="results/report").parse_args()
    with guarded(NOTHING_STORED):
        write(arguments.paper, arguments.output)
        print(build(arguments.output))


if __name__ == "__main__":
    main()
