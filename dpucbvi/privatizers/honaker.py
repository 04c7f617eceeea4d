"""Honaker: the binary tree with every node used (mechanisms/honaker.py), for pure JDP.

k-ary trees and Toeplitz noise have less noise at every ε; it stays because stored experiments compare it.
"""

import math
from dataclasses import dataclass
from typing import Any

from dpucbvi.mechanisms import honaker
from dpucbvi.mechanisms.binary import levels
from dpucbvi.privacy.law import ExactNoise, Spent
from dpucbvi.privatizers.over_time import EstimatedSums, OverTime, running_sums
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.protocol import Problem, Release


@dataclass(frozen=True)
class Honaker(OverTime):
    """The paper's tree with every node used: less noise at the same ε.

    The settings are those of noisy_sums.NoisySums. `noise="exact"` is for publication (release_mode.py).
    """

    epsilon: float
    sensitivity: str = "replace_one"
    families: str = "tuned"
    every: int = 1
    confidence_scale: float = 1.0

    take = staticmethod(running_sums(honaker.next_noise))

    def spent(self, T: int) -> Spent:
        L = levels(T + 1)
        return Spent(L, math.sqrt(L), L)

    def terms(self, T: int) -> float:
        return float(sum(honaker.block_variances(levels(T + 1))))

    def mechanism(self, size: int, T: int, source: Any, dtype: type) -> honaker.Estimates:
        return honaker.start(size, levels(T + 1))

    def in_integers(self, problem: Problem, G: int, draws: Any, noise: ExactNoise) -> Release:
        estimates = honaker.EstimatesOfNodes(levels(self.releases(problem) + 1), draws)
        return EstimatedSums(self.state(problem, G, draws, noise.grid), estimates, self.shape(problem, G))


PRIVATIZERS.add("honaker", Honaker)
