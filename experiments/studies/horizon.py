"""Regret against the horizon: does a Bernstein bonus save √H against a Hoeffding bonus, and by which term?

The bounds are about the worst case in the regime of √T. On an instance with a fixed gap an algorithm has
settled after some episodes, and the regret says how long that took. So where an arm has a grid over the gap,
its regret at a horizon is that at the worst gap, the largest mean over runs; the exponent of its growth in k
over the second half of the episodes tells which regime it is (0: settled, ½: √k, 1: nothing learnt). A mean
between 0 and 1 may be a mixture of runs that settled and runs that are stuck, so the stuck ones are counted.
"""

import numpy as np

from dpucbvi.stats import Summary, exponent, exponent_text
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Study
from experiments.studies.shared.arms import grouped
from experiments.studies.shared.tables import as_regret

HORIZON, GAP = "env.H", "env.gap"
STUCK = 0.9  # exponent in k over the second half: a run with a larger one has learnt nothing
HEADER = ("environment", "algorithm", "exponent in H", "in k at the end", "stuck runs", "regret", "worst gaps")


def worst(experiment: StoredExperiment) -> dict[str, list[StoredArm]]:
    """For every arm of the config, at every horizon, the one at its worst gap."""
    return {
        of: [max(at, key=lambda arm: arm.mean) for _, at in sorted(grouped(arms, horizon).items())]
        for of, arms in grouped(experiment.arms, lambda arm: arm.of).items()
    }


def horizon(arm: StoredArm) -> int:
    assert arm.sizes[0] == arm.point[HORIZON], f"{arm.key}: another horizon"
    return arm.sizes[0]


def growth(arms: list[StoredArm]) -> Summary:
    """The exponent of the regret in H, fitted to every run."""
    return exponent(np.array([*map(horizon, arms)]), np.array([arm.finals for arm in arms]).T)


def table(experiment: StoredExperiment) -> Rows:
    """Every algorithm on every environment: exponents, stuck runs, and the gaps that were the worst."""
    return [HEADER, *(_row(arms) for arms in worst(experiment).values())]


def _row(arms: list[StoredArm]) -> tuple[str, ...]:
    ends = [arm.half_and_full for arm in arms]
    in_k = np.mean([np.log2(full.mean() / half.mean()) for half, full in ends])
    stuck = [int((full > 2.0**STUCK * half).sum()) for half, full in ends]
    return (
        str(arms[0].panel),
        arms[0].label,
        exponent_text(growth(arms), "").strip(),
        f"{in_k:.2f}",
        f"{', '.join(map(str, stuck))} of {len(arms[0].runs)}",
        ", ".join(as_regret(arm.mean) for arm in arms),
        ", ".join(f"{arm.point[GAP]:g}" for arm in arms if GAP in arm.point) or "-",
    )


STUDY = Study(None, table, points=400)  # all: it interpolates
