"""The rule by which +exp=calibrate chooses the scales of an algorithm, and how much hangs on the choice.

An algorithm is run at every point (bonus.scale, confidence.scale) of its grid, in one or more settings (privacy
model, ε), a few runs each. With R̄_j the mean regret after the last episode in setting j,

    objective(point) = (Π_j R̄_j)^{1/J}

and the choice is the point with the least objective. The geometric mean lets every setting count by factors, so
that a setting in which all regrets are large does not decide alone.
"""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from dpucbvi.store import StoredExperiment

SCALES = ("bonus.scale", "confidence.scale")
Scales = tuple[float, ...]  # of the bonus and of E; of the bonus alone for UCBVI, which has no E


class Calibration(NamedTuple):
    """One algorithm's objective at every point of its grid; a variant has its agent, and a label of its own."""

    agent: str
    label: str
    objective: dict[Scales, float]

    @property
    def choice(self) -> Scales:
        return min(self.objective, key=self.objective.__getitem__)


def calibrations(experiment: StoredExperiment) -> list[Calibration]:
    """Every algorithm of a stored grid, in the order of its arms."""
    regrets: dict[tuple[str, str], dict[Scales, list[float]]] = defaultdict(lambda: defaultdict(list))
    for arm in experiment.arms:
        scales = tuple(float(arm.point[name]) for name in SCALES if name in arm.point)
        mean = np.mean([run.trace.regret[-1] for run in arm.runs])
        regrets[arm.runs[0].config["agent"]["name"], arm.label][scales].append(float(mean))
    for (_, label), points in regrets.items():
        assert len({len(means) for means in points.values()}) == 1, f"{label}: points with different settings"
    return [
        Calibration(*algorithm, {scales: geometric_mean(means) for scales, means in points.items()})
        for algorithm, points in regrets.items()
    ]


def in_use(made: list[Calibration]) -> list[Scales]:
    """The scales that each is run with: its agent's first choice, which a variant shares [conf/arm]."""
    first = {calibration.agent: calibration.choice for calibration in reversed(made)}
    return [first[calibration.agent] for calibration in made]


def geometric_mean(values: list[float]) -> float:
    """(Π x_j)^{1/J}; a zero among them makes it zero."""
    return float(np.exp(np.mean(np.log(values)))) if min(values) > 0.0 else 0.0


def around(calibration: Calibration) -> dict[Scales, float]:
    """The objective at the choice's neighbours in the grid, one scale one step up or down, over the least."""
    chosen = calibration.choice
    beside = {
        (*chosen[:axis], value, *chosen[axis + 1 :])
        for axis in range(len(chosen))
        for value in _neighbours(sorted({scales[axis] for scales in calibration.objective}), chosen[axis])
    }
    least = calibration.objective[chosen]
    return {s: calibration.objective[s] / least for s in sorted(beside) if s in calibration.objective}


def _neighbours(values: list[float], value: float) -> list[float]:
    at = values.index(value)
    return values[max(at - 1, 0) : at] + values[at + 1 : at + 2]
