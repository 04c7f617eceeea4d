"""The curves of the paper's Figure 1, read off the printed figure (paper/figure1_printed.csv)."""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dpucbvi.mdp import Floats

PRINTED_CSV = Path(__file__).resolve().parents[1] / "paper" / "figure1_printed.csv"

# What the curves were printed for.
PRINTED_ENV = {"name": "riverswim", "S": 6, "H": 20, "variant": "chowdhury_zhou"}


class PrintedCurve(NamedTuple):
    """Mean regret of the paper's 5 runs."""

    episodes: Floats
    regret: Floats


@cache
def printed_curves() -> dict[str, PrintedCurve]:
    """All printed curves by the name of their column."""
    lines = [line for line in PRINTED_CSV.read_text().splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    episodes = np.array([float(row.pop("episode")) for row in rows])
    return {name: PrintedCurve(episodes, np.array([float(row[name]) for row in rows])) for name in rows[0]}
