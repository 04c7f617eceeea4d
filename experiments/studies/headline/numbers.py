"""What is said of an arm with many runs, and of two arms that share their seeds."""

from typing import NamedTuple

import numpy as np

from dpucbvi.stats import (
    Bootstrap,
    bootstrap,
    clopper_pearson,
    interquartile_mean,
    skewed_bootstrap,
)
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.headline.verdicts import Regret
from experiments.studies.shared.arms import finals_of, half_and_full

LAST = 0.9  # a run is settled if what follows this part of its episodes adds less regret than √k would
SQRT_TAIL = 1.0 - np.sqrt(LAST)
BASELINES = {"against UCBVI": "UCBVI", "against itself": "DP-UCBVI, not private"}
CERTIFIED = "certified"
PANELS = ("matched", "pooled", "explained", CERTIFIED)
CURVES = ("non_private", "jdp_eps2", "jdp_eps1", "ldp_eps2")


class Tail(NamedTuple):
    """How many runs never settle, of how many, with the 95% interval of their share (Clopper and Pearson)."""

    unsettled: int
    runs: int
    low: float
    high: float


class Numbers(NamedTuple):
    """The regret of an arm after its last episode."""

    mean: Bootstrap
    median: float
    middle: Bootstrap  # the interquartile mean
    largest: float
    tail: Tail


def numbers(arm: StoredArm) -> Numbers:
    finals = finals_of(arm)
    middle = bootstrap(finals[:, None], statistic=interquartile_mean)
    return Numbers(
        skewed_bootstrap(finals),
        float(np.median(finals)),
        Bootstrap(*(part[0] for part in middle)),
        float(finals.max()),
        tail(arm),
    )


def tail(arm: StoredArm) -> Tail:
    k, n = sum(not settled(run.trace.episodes, run.trace.regret) for run in arm.runs), len(arm.runs)
    return Tail(k, n, *clopper_pearson(k, n))


def settled(episodes: np.ndarray, regret: np.ndarray) -> bool:
    """Whether the last tenth of the episodes adds less than a regret that grows like √k would add."""
    before = np.interp(LAST * episodes[-1], episodes, regret)
    return bool(regret[-1] - before < SQRT_TAIL * regret[-1])


def arm_of(experiment: StoredExperiment, panel: str, curve: str, label: str | None = None) -> StoredArm | None:
    """The arm of a panel that stands for a printed curve; `label` tells two non-private ones apart."""
    arms = [arm for arm in experiment.arms if (arm.panel, arm.printed) == (panel, curve)]
    arms = [arm for arm in arms if label is None or arm.label == label]
    assert len(arms) <= 1, f"{panel}: {curve} stands for {len(arms)} arms"
    return arms[0] if arms else None


def compared(experiment: StoredExperiment, panel: str, baseline: str) -> dict[str, Regret] | None:
    """The four curves of a panel with one of its baselines; None if one is missing or has a single run."""
    arms = {curve: arm_of(experiment, panel, curve) for curve in CURVES[1:]}
    arms["non_private"] = arm_of(experiment, panel, "non_private", baseline)
    present = {curve: arm for curve, arm in arms.items() if arm is not None and len(arm.runs) > 1}
    if len(present) < len(arms):
        return None
    return {curve: Regret(*half_and_full(arm)) for curve, arm in present.items()}
