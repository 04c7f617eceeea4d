"""KaryTree: the k-ary tree with negative digits on every counter (kary.py), for pure JDP.

Of the mechanisms on streams with Laplace noise the one with least: L = 4 levels for 50,000 users at k = 19,
where the binary tree has 16.
"""

from dataclasses import dataclass

from dpucbvi.errors import InputError, whole
from dpucbvi.privatizers.kary import KaryNoise, kary_levels, most_terms
from dpucbvi.privatizers.over_time import LaplaceTree
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.tree import Draws
from dpucbvi.protocol import Floats


@dataclass(frozen=True)
class KaryTree(LaplaceTree):
    """A tree in which every node has k children, k odd.

    `noise="exact"` is for publication (release_mode.py).
    """

    k: int = 19

    def __post_init__(self) -> None:
        super().__post_init__()
        if whole("k", self.k, 3) % 2 == 0:
            raise InputError(f"k: {self.k} is not accepted; it must be an odd integer >= 3")

    def levels(self, T: int) -> int:
        return kary_levels(T, self.k)

    def terms(self, T: int) -> float:
        return float(most_terms(self.k, self.levels(T)))

    def process(self, size: int, T: int, scale: float | Floats, stream: Draws) -> KaryNoise:
        return KaryNoise(size, self.k, self.levels(T), scale, stream)


PRIVATIZERS.add("kary_tree", KaryTree)
