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

An algorithm is told by the label of its arms, their panel and, where there are several, their environment: what
differs otherwise is a setting.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

from dpucbvi.calibrate import Calibration, Factors, geometric_mean, objective
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.shared.labels import SHORT_ENVIRONMENTS

KEYS = ("bonus.scale", "confidence.scale")
Key = TypeVar("Key")


def algorithm(label: str, panel: str | None, env: str, environments: set[str]) -> str:
    """`batches, pooled`, or `RiverSwim: PUCB, JDP` if there are several environments."""
    name = label if panel is None else f"{label}, {panel}"
    return name if len(environments) == 1 else f"{SHORT_ENVIRONMENTS[env]}: {name}"


def objectives(
    experiment: StoredExperiment, told_by: Callable[[StoredArm], Key]
) -> dict[Key, dict[Factors, float]]:
    """The objective at every point, for all that the arms can be told by, in their order."""
    found: dict[Key, dict[Factors, list[float]]] = defaultdict(lambda: defaultdict(list))
    for arm in experiment.arms:
        factors = tuple(float(arm.point[key]) for key in KEYS if key in arm.point)
        found[told_by(arm)][factors].append(objective(arm.finals))
    for key, points in found.items():
        assert len({len(values) for values in points.values()}) == 1, f"{key}: points with different settings"
    return {
        key: {factors: geometric_mean(values) for factors, values in points.items()}
        for key, points in found.items()
    }


def name_of(experiment: StoredExperiment, arm: StoredArm) -> str:
    """The algorithm of an arm."""
    environments = {other.config["env"]["name"] for other in experiment.arms}
    return algorithm(arm.label, arm.panel, arm.config["env"]["name"], environments)


def calibrations(experiment: StoredExperiment) -> list[Calibration]:
    """Every algorithm of a stored grid, in the order of its arms."""
    made = objectives(experiment, lambda arm: (str(arm.config["agent"]["name"]), name_of(experiment, arm)))
    return [Calibration(agent, label, points) for (agent, label), points in made.items()]


def in_use(made: list[Calibration]) -> list[Factors]:
    """The factors that each is run with: `DP-UCBVI, pooled`, a variant, has those of DP-UCBVI [conf/arm]."""

    def first(one: Calibration) -> Calibration:
        return next(c for c in made if c.agent == one.agent and f"{one.label}, ".startswith(f"{c.label}, "))

    return [first(calibration).choice for calibration in made]
