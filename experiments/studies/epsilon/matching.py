"""Where a curve of regret against ε (or against the factor on the bonus) has a given regret.

Regret is known at x_1 < x_2 < ..., some runs each. Between neighbours the mean is interpolated, a straight
line of log regret against log x; the answer is the least x at which the line has the wanted regret. Its
interval is the percentile bootstrap: seeds are resampled, the same for all x_i (arms share their seeds); a
printed regret is read anew within the error of its digitisation; and half of the time one of the two points
beside the answer is left out, so that the error of interpolating is in the interval. With 5 runs it is narrow
by about √(4/5).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpucbvi.protocol import Floats
from dpucbvi.stats import LEVEL, RESAMPLES
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.shared.arms import config_of, finals_of
from experiments.studies.shared.printed import DIGITISATION, final_regrets

EPSILON, FACTOR = "privatizer.epsilon", "bonus.scale"
# The arms of +exp=epsilon that may have a printed curve's regret, by how the curve's name begins.
CANDIDATES = {
    "non_private": (FACTOR, ("ucbvi_scales", "pooled_ucbvi_scales")),
    "jdp": (EPSILON, ("dp_ucbvi_jdp", "pooled_jdp", "private_ucb_vi_jdp")),
    "ldp": (EPSILON, ("dp_ucbvi_ldp", "pooled_ldp", "private_ucb_vi_ldp")),
}


class Match(NamedTuple):
    """The matching x and its 95% interval, nan where resampled curves too often miss the wanted regret."""

    x: float
    low: float
    high: float


class PrintedMatch(NamedTuple):
    """Where an algorithm has the final regret of a printed curve: at which value of the setting."""

    curve: str
    label: str
    setting: str
    regret: float
    match: Match | None


def printed_matches(experiment: StoredExperiment) -> list[PrintedMatch]:
    """Every printed curve with every algorithm that may have its regret; none if K is not the printed one."""
    found = []
    for curve, wanted in final_regrets(config_of(experiment.arms[0])).items():
        setting, arms = next(value for start, value in CANDIDATES.items() if curve.startswith(start))
        for of in arms:
            label = next(arm.label for arm in experiment.arms if arm.of == of)
            x, regret = series(experiment.arms, of, setting)
            found.append(PrintedMatch(curve, label, setting, wanted, match(x, regret, wanted, DIGITISATION)))
    return found


def match(x: Floats, regret: Floats, wanted: float, error: float = 0.0, seed: int = 0) -> Match | None:
    """The least x at which the mean regret is `wanted` ± `error`; None if the curve never has it.

    `regret` has a row per x, a column per seed.
    """
    found = crossing(x, regret.mean(axis=1), wanted)
    if found is None:
        return None
    rng, runs = np.random.default_rng(seed), regret.shape[1]
    picks = rng.integers(runs, size=(RESAMPLES, runs))
    reads = wanted + error * rng.uniform(-1.0, 1.0, RESAMPLES)
    right = int(np.clip(np.searchsorted(x, found), 1, len(x) - 1))
    beside = [i for i in (right - 1, right) if 0 < i < len(x) - 1]  # an end cannot be left out
    left_out = rng.choice([*beside, *[-1] * max(len(beside), 1)], RESAMPLES)  # -1: none
    kept = [np.arange(len(x)) != i for i in left_out]
    resampled = [
        r
        for pick, read, keep in zip(picks, reads, kept, strict=True)
        if (r := crossing(x[keep], regret[keep][:, pick].mean(axis=1), read)) is not None
    ]
    if len(resampled) < LEVEL * RESAMPLES:
        return Match(found, np.nan, np.nan)
    low, high = np.quantile(resampled, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0])
    return Match(found, float(low), float(high))


def crossing(x: Floats, y: Floats, wanted: float) -> float | None:
    """The least x at which the log-log polygon through (x, y) is at `wanted`; None outside its range."""
    log_x, gap = np.log(x), np.log(y) - np.log(wanted)
    for i in range(len(x) - 1):
        if gap[i] == 0.0:
            return float(x[i])
        if gap[i] * gap[i + 1] < 0.0:
            share = gap[i] / (gap[i] - gap[i + 1])
            return float(np.exp(log_x[i] + share * (log_x[i + 1] - log_x[i])))
    return float(x[-1]) if gap[-1] == 0.0 else None


def series(arms: Sequence[StoredArm], of: str, setting: str) -> tuple[Floats, Floats]:
    """The arm `of` along its grid: the setting's values in ascending order, the final regrets of the runs."""
    points = sorted((arm for arm in arms if arm.of == of), key=lambda arm: arm.point[setting])
    x = np.array([float(arm.point[setting]) for arm in points])
    return x, np.array([finals_of(arm) for arm in points])
