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


@cache
def printed_curves() -> dict[str, PrintedCurve]:
    """All printed curves by the name of their column."""
    lines = [line for line in PRINTED_CSV.read_text("utf-8").splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    episodes = np.array([float(row.pop("episode")) for row in rows])
    return {name: PrintedCurve(episodes, np.array([float(row[name]) for row in rows])) for name in rows[0]}


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
