"""The generated parts of documents.

ARTIFACT-APPENDIX.md: sizes, main claims, and the experiments with their commands. paper/PRIVACY.md: the E of
every privatizer.
"""

import re
from pathlib import Path
from typing import Any

import dpucbvi as dp
from dpucbvi.protocol import Privatizer, Problem
from experiments.lab.compose import composed
from experiments.studies import keeps_figure, sections, study
from experiments.studies.artifact.claims import Claim
from experiments.studies.artifact.conf import in_order, stated
from experiments.studies.artifact.numbers import Numbers, filled
from experiments.studies.shared.tables import TEXTS, markdown

EXPECTED = TEXTS / "expected.md"  # what to look at first in an output


def with_parts(text: str, parts: dict[str, str]) -> str:
    """The text with everything between <!-- name --> and <!-- end --> replaced."""
    for name, part in parts.items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        place = re.search(pattern, text, flags=re.DOTALL)
        assert place is not None, f"the text has no place for {name}"
        text = text[: place.end(1)] + part + "\n" + text[place.start(2) :]
    return text


def parts(
    claims: list[Claim], manifest: dict[str, Any], paper: Path, numbers: Numbers, shipped: list[str]
) -> dict[str, str]:
    """All of them by name."""
    quoted = {name: filled(text, numbers, shipped) for name, text in sections(EXPECTED).items()}
    experiments = _experiments(claims, paper, quoted)
    return {"size": _size(manifest), "claims": _claims(claims), "experiments": experiments}


def _size(manifest: dict[str, Any]) -> str:
    minutes = sum(stated(name).minutes for name in in_order())
    runs, size = (sum(entry[key] for entry in manifest.values()) for key in ("runs", "bytes"))
    return (
        f"- **Time**: {minutes} compute minutes on 2 cores for everything; under 1 to redraw the figures.\n"
        f"- **Storage**: 2 GB for the environment, 200 MB for all runs. The {runs:,} stored runs take\n"
        f"  {size / 1e6:.1f} MB (`paper/results/*.npz`); [manifest.json](paper/results/manifest.json) lists\n"
        "  their SHA-256, code and packages."
    )


def _claims(claims: list[Claim]) -> str:
    rows = [
        f"| {claim.statement} | {claim.says} | {claim.verdict} | {claim.measured or '-'} | "
        f"{', '.join(f'[{name}](#{name})' for name in claim.experiments) or 'tests'} |"
        for claim in claims
        if claim.main
    ]
    return "\n".join(["| statement | says | verdict | measured | checked by |", "|---|---|---|---|---|", *rows])


def _experiments(claims: list[Claim], paper: Path, quoted: dict[str, str]) -> str:
    blocks = []
    for name in in_order():
        said = stated(name)
        checks = [claim.statement for claim in claims if name in claim.experiments]
        command = f"```sh\n{said.command}     # human minutes: 1, compute minutes: {said.minutes}\n```"
        expected = " ".join(filter(None, (quoted.get(name), _files(name, paper))))
        tested = f" Claims: {'; '.join(checks)}." if checks else ""
        blocks.append(f"### {name}\n\n{command}\n\n**Expected.** {expected}{tested}\n\n{said.asks}")
    return "\n\n".join(blocks)


def _files(name: str, paper: Path) -> str:
    """The files of paper/ to compare with."""
    of = str(composed(name)["study"])
    made, kept = study(of), keeps_figure(name, of)
    files = [f"figures/{name}.png"] * kept
    files += [f"{made.folder}/{name}.{kind}" for kind in ("md", "csv")]
    links = [f"[{Path(file).name}](paper/{file})" for file in files if (paper / file).is_file()]
    if not links:
        return "A table in the terminal, and its figure."
    caption = f" ([caption](paper/figures/captions.md#{name}))" if kept else ""
    return f"Compare with {', '.join(links)}{caption}."


# --- paper/PRIVACY.md ---------------------------------------------------------------------------------------

FIGURE = Problem(H=20, S=6, A=2, K=50_000, beta=0.05)
HEADER = ("privatizer", "order of E", "E", "noise term, of the paper's", "Assumption 3.1")

TREE, GAUSSIAN = "(H/ε) log²", "√(H log(1/δ)) log /ε"


# A line of the table each: a privatizer at ε = 1 if a user is replaced, and the order of its E.
ENTRIES: tuple[tuple[str, str, Privatizer], ...] = (
    ("the paper's tree, noise for a user replaced", TREE, dp.Central(1.0, sensitivity="replace_one")),
    ("the same, tuned families", TREE, dp.Central(1.0, sensitivity="replace_one", families="tuned")),
    ("k-ary tree, tuned", TREE, dp.KaryTree(1.0)),
    ("Toeplitz, tuned", GAUSSIAN, dp.Toeplitz(1.0)),
    ("Toeplitz, every 50 users", "the same, + 4·49 users behind", dp.Toeplitz(1.0, every=50)),
    ("batches, 20 of them", "(H/ε) log", dp.Batches(1.0)),
    ("windows", "(H/ε) log, + √(H log(1/δ)) log /ε a step", dp.Windows(1.0, delta=1e-6)),
    ("the paper's user noise, a user replaced", "(H/ε)√(K log)", dp.Local(1.0, sensitivity="replace_one")),
    ("one question", "(S/ε)√(K log)", dp.OneQuestion(1.0)),
    ("windows, local", "(S/ε)√(K log)", dp.LocalWindows(1.0)),
)


def bounds() -> str:
    """E at the figure's size, counts per step; where Assumption 3.1 does not hold, no theorem has it."""
    papers = ENTRIES[0][-1].noise_of(FIGURE, FIGURE.H).E
    lines = []
    for name, order, privatizer in ENTRIES:
        noise = privatizer.noise_of(FIGURE, FIGURE.H)
        share = f"{noise.E / papers:.2g}" if noise.proven else ""
        lines.append((name, order, f"{noise.E:,.0f}", share, "proved" if noise.proven else "does not hold"))
    return markdown([HEADER, *lines])
