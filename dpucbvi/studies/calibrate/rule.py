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

from collections import defaultdict

from dpucbvi.lab.calibration import Calibration, Factors, geometric_mean
from dpucbvi.lab.store import StoredExperiment
from dpucbvi.studies.shared.arms import config_of, mean_of

KEYS = ("bonus.scale", "confidence.scale")
WITHIN = {"calibrate_mechanisms": 1.1}  # by study


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
