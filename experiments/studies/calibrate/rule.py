"""The rule by which the two factors of an algorithm are chosen, and how much hangs on the choice.

An algorithm is run at every point of its grid (the factors bonus.scale and confidence.scale), in one or more
settings (privacy model, ε), a few runs each. With R̄_j the mean and Q_j the 90% quantile of the regret after the
last episode in setting j,

    objective(point) = (Π_j √(R̄_j Q_j))^{1/J}

The quantile is there because a mean of a few runs rewards luck: small factors do well in most runs and fail in
some. The geometric mean lets every setting count by factors, so that a setting in which all regrets are large
does not decide alone.

Valleys are flat: the points within 10% of the least objective cannot be told apart by a few runs. The choice is
the middle of them, the one nearest to all the others in decades (dpucbvi/calibrate.py).
"""

from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

from dpucbvi.calibrate import Calibration, Factors, geometric_mean, objective
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.shared.arms import config_of, finals_of

KEYS = ("bonus.scale", "confidence.scale")
Key = TypeVar("Key")


def objectives(
    experiment: StoredExperiment, told_by: Callable[[StoredArm], Key]
) -> dict[Key, dict[Factors, float]]:
    """The objective at every point, for all that the arms can be told by, in their order."""
    found: dict[Key, dict[Factors, list[float]]] = defaultdict(lambda: defaultdict(list))
    for arm in experiment.arms:
        factors = tuple(float(arm.point[key]) for key in KEYS if key in arm.point)
        found[told_by(arm)][factors].append(objective(finals_of(arm)))
    for key, points in found.items():
        assert len({len(values) for values in points.values()}) == 1, f"{key}: points with different settings"
    return {
        key: {factors: geometric_mean(values) for factors, values in points.items()}
        for key, points in found.items()
    }


def calibrations(experiment: StoredExperiment) -> list[Calibration]:
    """Every algorithm of a stored grid, in the order of its arms."""
    made = objectives(experiment, lambda arm: (str(config_of(arm)["agent"]["name"]), arm.label))
    return [Calibration(agent, label, points) for (agent, label), points in made.items()]


def in_use(made: list[Calibration]) -> list[Factors]:
    """The factors that each is run with: its agent's first choice, which a variant shares [conf/arm]."""
    first = {calibration.agent: calibration.choice for calibration in reversed(made)}
    return [first[calibration.agent] for calibration in made]
