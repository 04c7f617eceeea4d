"""What every compared algorithm shares: plan on the released counts, deploy, update the counts."""

from collections.abc import Callable

from dpucbvi.algorithm1 import Algorithm, Plan
from dpucbvi.privatizers import Counts, Privatizer, zero_counts


def episodes(K: int, privatizer: Privatizer, plan: Callable[[Counts], Plan]) -> Algorithm:
    """K episodes: yields the plan, is sent the trajectory (the loop of Algorithm 1, lines 3 and 16-18)."""
    counts = zero_counts(privatizer.G, privatizer.S, privatizer.A)
    for _k in range(1, K + 1):
        trajectory = yield plan(counts)
        counts = privatizer.update(trajectory)
