"""KaryTree: the k-ary tree with negative digits on every counter (mechanisms/kary.py), for pure JDP.

Of the mechanisms on streams with Laplace noise the one with least: L = 4 levels for 50,000 users at k = 19,
where the binary tree has 16.
"""

import math
from dataclasses import dataclass
from typing import Any

from dpucbvi.mechanisms import kary
from dpucbvi.privacy.law import Spent
from dpucbvi.privatizers.arrays import PRIVATIZERS
from dpucbvi.privatizers.over_time import OverTime, running_sums


@dataclass(frozen=True)
class KaryTree(OverTime):
    """A tree in which every node has k children, k odd; Laplace noise for a pure ε under the given sensitivity.

    The other settings are those of noisy_sums.NoisySums. `noise="exact"` is for publication (release_mode.py).
    """

    epsilon: float
    sensitivity: str = "replace_one"
    families: str = "tuned"
    every: int = 1
    confidence_scale: float = 1.0
    k: int = 19

    take = staticmethod(running_sums(kary.next_noise))

    def __post_init__(self) -> None:
        super().__post_init__()
        kary.check_base(self.k)

    def spent(self, T: int) -> Spent:
        """An item lies in one block of every level."""
        L = kary.kary_levels(T, self.k)
        return Spent(L, math.sqrt(L), L)

    def terms(self, T: int) -> float:
        return float(kary.most_terms(self.k, kary.kary_levels(T, self.k)))

    def mechanism(self, size: int, T: int, source: Any, dtype: type) -> kary.KaryTree:
        return kary.start(size, self.k, kary.kary_levels(T, self.k), dtype)


PRIVATIZERS.add("kary_tree", KaryTree)
