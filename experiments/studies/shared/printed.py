"""The curves of the paper's Figure 1, read off the printed figure (paper/figure1_printed.csv)."""

import csv
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.protocol import Floats
from experiments.lab.store import StoredArm, StoredExperiment

PRINTED_CSV = Path(__file__).resolve().parents[3] / "paper" / "figure1_printed.csv"

DIGITISATION = 100.0  # ± regret, as the file says

# What the curves were printed for.
PRINTED_ENV = {"name": "riverswim", "S": 6, "H": 20, "variant": "chowdhury_zhou"}


class PrintedCurve(NamedTuple):
    """Mean regret of the paper's 5 runs."""

    episodes: Floats
    regret: Floats


class Band(NamedTuple):
    """The shaded band of a curve at the last episode; the paper does not say what it shows."""

    low: float
    high: float

    def holds(self, regret: float) -> bool:
        """Whether a regret lies inside."""
        return self.low <= regret <= self.high


@cache
def _rows() -> dict[str, list[dict[str, str]]]:
    """The rows of the file by their curve."""
    lines = [line for line in PRINTED_CSV.read_text("utf-8").splitlines() if not line.startswith("#")]
    found: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(lines):
        found.setdefault(row["curve"], []).append(row)
    return found


@cache
def printed_curves() -> dict[str, PrintedCurve]:
    """All printed curves by their name."""
    return {
        name: PrintedCurve(*(np.array([float(row[key]) for row in rows]) for key in ("episode", "regret")))
        for name, rows in _rows().items()
    }


@cache
def printed_bands() -> dict[str, Band]:
    """The band of every printed curve at its last episode."""
    return {name: Band(float(rows[-1]["low"]), float(rows[-1]["high"])) for name, rows in _rows().items()}


def in_printed_env(config: dict[str, Any]) -> bool:
    """Whether a stored run was made in the environment of the printed figure."""
    return all(config["env"].get(key) == value for key, value in PRINTED_ENV.items())


def printed_beside(arm: StoredArm) -> PrintedCurve | None:
    """The arm's printed curve as far as the arm went, if it ran in the printed environment."""
    config = arm.config
    if arm.printed is None or not in_printed_env(config):
        return None
    curve = printed_curves()[arm.printed]
    near = curve.episodes <= config["K"]
    return PrintedCurve(curve.episodes[near], curve.regret[near]) if near.any() else None


def final_regrets(config: dict[str, Any]) -> dict[str, float]:
    """The last regret of every printed curve, if a run with this config can be compared with it; else none."""
    curves = printed_curves() if in_printed_env(config) else {}
    return {name: float(c.regret[-1]) for name, c in curves.items() if c.episodes[-1] == config["K"]}


def at_printed_size(experiment: StoredExperiment) -> bool:
    """Whether every arm has the environment and the episodes of the printed figure."""
    return all(final_regrets(arm.config) for arm in experiment.arms)
