"""The generated part of paper/PRIVACY.md: E of every privatizer."""

from typing import NamedTuple

import dpucbvi as dp
from dpucbvi.protocol import Privatizer, Problem
from experiments.studies.shared.tables import markdown

FIGURE = Problem(H=20, S=6, A=2, K=50_000, beta=0.05)
HEADER = ("privatizer", "order of E", "E", "noise term, of the paper's", "Assumption 3.1")

TREE, GAUSSIAN = "(H/ε) log²", "√(H log(1/δ)) log /ε"


class Entry(NamedTuple):
    """A line of the table: a privatizer at ε = 1 if a user is replaced, and the order of its E."""

    name: str
    order: str
    privatizer: Privatizer


ENTRIES = (
    Entry("the paper's tree, noise for a user replaced", TREE, dp.Central(1.0, sensitivity="replace_one")),
    Entry("the same, tuned families", TREE, dp.Central(1.0, sensitivity="replace_one", families="tuned")),
    Entry("k-ary tree, tuned", TREE, dp.KaryTree(1.0)),
    Entry("Toeplitz, tuned", GAUSSIAN, dp.Toeplitz(1.0)),
    Entry("Toeplitz, every 50 users", "the same, + 4·49 users behind", dp.Toeplitz(1.0, every=50)),
    Entry("batches, 20 of them", "(H/ε) log", dp.Batches(1.0)),
    Entry("windows", "(H/ε) log, + √(H log(1/δ)) log /ε a step", dp.Windows(1.0, delta=1e-6)),
    Entry("the paper's user noise, a user replaced", "(H/ε)√(K log)", dp.Local(1.0, sensitivity="replace_one")),
    Entry("one question", "(S/ε)√(K log)", dp.OneQuestion(1.0)),
    Entry("windows, local", "(S/ε)√(K log)", dp.LocalWindows(1.0)),
)


def bounds() -> str:
    """E at the figure's size, counts per step; where Assumption 3.1 does not hold, no theorem has it."""
    papers = ENTRIES[0].privatizer.noise_of(FIGURE, FIGURE.H).E
    lines = []
    for name, order, privatizer in ENTRIES:
        noise = privatizer.noise_of(FIGURE, FIGURE.H)
        share = f"{noise.E / papers:.2g}" if noise.proven else ""
        lines.append((name, order, f"{noise.E:,.0f}", share, "proved" if noise.proven else "does not hold"))
    return markdown([HEADER, *lines])
