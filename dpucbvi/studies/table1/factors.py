"""How much of Table 1 hangs on factors that were chosen on RiverSwim: the best factor on each system's bonus.

+exp=calibrate_environments has every system at several factors in the other environments.
"""

from typing import NamedTuple

from dpucbvi.lab.store import StoredExperiment
from dpucbvi.studies.table1.bounds import Row
from dpucbvi.studies.table1.measurements import measure

KEY = "bonus.scale"


class Best(NamedTuple):
    """The least mean regret over the factors on the bonus, its factor, and the rank within the same model."""

    regret: float
    factor: float
    rank: int


BestFactors = dict[tuple[Row, str, str], Best]  # by row, model and environment


def best_factors(experiment: StoredExperiment) -> BestFactors:
    """Of a stored +exp=calibrate_environments."""
    least: dict[tuple[Row, str, str], tuple[float, float]] = {}
    for arm in experiment.arms:
        m = measure(arm)
        found, key = (m.regret, float(arm.point[KEY])), (m.row, m.model, m.env)
        least[key] = min(found, least.get(key, found))
    return {
        key: Best(*best, 1 + sum(other < best for k, other in least.items() if k[1:] == key[1:]))
        for key, best in least.items()
    }
