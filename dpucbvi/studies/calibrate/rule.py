"""The rule by which the two factors of an algorithm are chosen, and how much hangs on the choice.

An algorithm is run at every point of its grid (the factors bonus.scale and confidence.scale), in one or more
settings (privacy model, ε), a few runs each. With R̄_j the mean regret after the last episode in setting j,

    objective(point) = (Π_j R̄_j)^{1/J}

and the choice is the point with the least objective. The geometric mean lets every setting count by factors, so
that a setting in which all regrets are large does not decide alone.

The study calibrate_mechanisms has flat valleys in which small factors are as good as larger ones in a few runs
and fail in one of many. There, of the points within 10% of the least objective, the one with the largest is
chosen, nearest to the paper's: largest product of the factors, then largest bonus.
"""

import math
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from dpucbvi.lab.store import StoredExperiment
from dpucbvi.studies.shared.arms import config_of, mean_of

KEYS = ("bonus.scale", "confidence.scale")
WITHIN = {"calibrate_mechanisms": 1.1}  # by study
Factors = tuple[float, ...]  # on the bonus and on E; on the bonus alone for UCBVI, which has no E


class Calibration(NamedTuple):
    """One algorithm's objective at every point of its grid; a variant has its agent, and a label of its own."""

    agent: str
    label: str
    objective: dict[Factors, float]
    within: float = 1.0  # of the least objective: which points are as good

    @property
    def choice(self) -> Factors:
        most = self.within * min(self.objective.values())
        good = [factors for factors, value in self.objective.items() if value <= most]
        return max(good, key=lambda factors: (round(math.prod(factors), 15), factors[0]))


def calibrations(experiment: StoredExperiment) -> list[Calibration]:
    """Every algorithm of a stored grid, in the order of its arms."""
    regrets: dict[tuple[str, str], dict[Factors, list[float]]] = defaultdict(lambda: defaultdict(list))
    for arm in experiment.arms:
        factors = tuple(float(arm.point[key]) for key in KEYS if key in arm.point)
        regrets[config_of(arm)["agent"]["name"], arm.label][factors].append(mean_of(arm))
    for (_, label), points in regrets.items():
        assert len({len(means) for means in points.values()}) == 1, f"{label}: points with different settings"
    return [
        Calibration(
            *algorithm,
            {factors: geometric_mean(means) for factors, means in points.items()},
            WITHIN.get(experiment.study, 1.0),
        )
        for algorithm, points in regrets.items()
    ]


def in_use(made: list[Calibration]) -> list[Factors]:
    """The factors that each is run with: its agent's first choice, which a variant shares [conf/arm]."""
    first = {calibration.agent: calibration.choice for calibration in reversed(made)}
    return [first[calibration.agent] for calibration in made]


def geometric_mean(values: list[float]) -> float:
    """(Π x_j)^{1/J}; a zero among them makes it zero."""
    return float(np.exp(np.mean(np.log(values)))) if min(values) > 0.0 else 0.0


def around(calibration: Calibration) -> dict[Factors, float]:
    """The objective at the choice's neighbours in the grid, one factor one step up or down, over the least."""
    chosen = calibration.choice
    beside = {
        (*chosen[:axis], value, *chosen[axis + 1 :])
        for axis in range(len(chosen))
        for value in _neighbours(sorted({factors[axis] for factors in calibration.objective}), chosen[axis])
    }
    least = calibration.objective[chosen]
    return {f: calibration.objective[f] / least for f in sorted(beside) if f in calibration.objective}


def _neighbours(values: list[float], value: float) -> list[float]:
    at = values.index(value)
    return values[max(at - 1, 0) : at] + values[at + 1 : at + 2]
