"""The report's generated parts in LaTeX: every number as a macro, the claims and the experiments as tables."""

import re

from experiments.studies.artifact.claims import Claim
from experiments.studies.artifact.numbers import Numbers
from experiments.studies.shared.tables import in_latex

WRITTEN = "% Written by experiments/report.py from the results that ship; do not edit.\n"
# The rules of riverswim/verdicts.py, and what the table calls them.
SENTENCES = {
    "non_private_is_best": "UCBVI is best",
    "jdp_cost_is_a_small_constant": "JDP: small constant",
    "larger_epsilon_has_smaller_regret": r"larger $\varepsilon$, less regret",
    "ldp_cost_stays_high": "LDP: cost remains high",
}
USED = re.compile(r"\\result\{([^}]+)\}")


def macros(numbers: Numbers) -> str:
    r"""\result{name} gives a number; one whose experiment has not shipped is told as such."""
    lines = [
        f"\\expandafter\\def\\csname result@{name}\\endcsname{{{in_latex(v)}}}" for name, v in numbers.items()
    ]
    command = (
        r"\newcommand{\result}[1]{\ifcsname result@#1\endcsname\csname result@#1\endcsname"
        r"\else\textbf{(not shipped yet)}\fi}"
    )
    return "\n".join([WRITTEN + command, *lines]) + "\n"


def caption_macros(captions: dict[str, str]) -> str:
    r"""\figurecaption{name} gives the words beside a figure; nothing for one that has not been drawn."""
    lines = [
        f"\\expandafter\\def\\csname caption@{name}\\endcsname{{{in_latex(v)}}}" for name, v in captions.items()
    ]
    command = r"\newcommand{\figurecaption}[1]{\ifcsname caption@#1\endcsname\csname caption@#1\endcsname\fi}"
    return "\n".join([WRITTEN + command, *lines]) + "\n"


def claims_table(claims: list[Claim]) -> str:
    """Statement, what it says, verdict and what was measured, over as many pages as it takes."""
    rows = [
        " & ".join([*map(in_latex, (claim.statement, claim.says)), claim.verdict, in_latex(claim.measured)])
        + r" \\"
        for claim in claims
    ]
    head = r"\toprule Statement & It says & Verdict & Measured \\ \midrule \endhead \bottomrule \endfoot"
    widths = "".join(rf"p{{{share}\linewidth}}" for share in (0.16, 0.36, 0.12, 0.31))
    columns = rf"\begin{{longtable}}{{@{{}}{widths}@{{}}}}"
    return "\n".join([WRITTEN + columns, head, *rows, r"\end{longtable}"]) + "\n"


def sentences_table(numbers: Numbers) -> str:
    """The verdict on every sentence of Section 7 (a column) in every setting (a row)."""
    told = {rule: numbers.get(f"riverswim.verdict.{rule}", "") for rule in SENTENCES}
    found = {rule: dict(part.split(": ") for part in text.split("; ") if part) for rule, text in told.items()}
    settings = dict.fromkeys(setting for verdicts in found.values() for setting in verdicts)
    rows = [" & ".join([name, *(v.get(name, "-") for v in found.values())]) + r" \\" for name in settings]
    head = " & ".join(["Setting", *SENTENCES.values()]) + r" \\ \midrule"
    return "\n".join(
        [WRITTEN + r"\begin{tabular}{@{}lllll@{}} \toprule", head, *rows, r"\bottomrule \end{tabular}", ""]
    )


def missing_numbers(source: str, numbers: Numbers, shipped: list[str]) -> list[str]:
    """The names in \\result{...} that a shipped experiment should have and does not."""
    names = USED.findall(source)
    known = (*shipped, "printed", "count")
    return [name for name in names if name not in numbers and name.partition(".")[0] in known]
