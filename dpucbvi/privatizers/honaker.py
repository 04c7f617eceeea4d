"""Honaker: the binary tree with every node used (mechanisms/honaker.py), for pure JDP.

k-ary trees and Toeplitz noise have less noise at every ε; it stays because stored experiments compare it.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpucbvi.mechanisms import honaker
from dpucbvi.mechanisms.binary import levels
from dpucbvi.privacy.law import Spent
from dpucbvi.privatizers.over_time import OverTime, estimated_sums, running_sums
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.release_mode import in_integers


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
    exact_take = staticmethod(in_integers(estimated_sums(honaker.next_estimate)))
    exact_dtype = np.float64

    def spent(self, T: int) -> Spent:
        L = levels(T + 1)
        return Spent(L, math.sqrt(L), L)

    def terms(self, T: int) -> float:
        return float(sum(honaker.block_variances(levels(T + 1))))

    def mechanism(self, size: int, T: int, source: Any, dtype: type) -> Any:
        return (honaker.start_nodes if self.exact else honaker.start)(size, levels(T + 1))


PRIVATIZERS.add("honaker", Honaker)
