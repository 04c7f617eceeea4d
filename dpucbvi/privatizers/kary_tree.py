"""KaryTree: the k-ary tree with negative digits on every counter (kary.py), for pure JDP.

Of the mechanisms on streams with Laplace noise the one with least: L = 4 levels for 50,000 users at k = 19,
where the binary tree has 16.
"""

from dataclasses import dataclass

from dpucbvi.privatizers.kary import KaryNoise, check_base, kary_levels, most_terms
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
        check_base(self.k)

    def levels(self, T: int) -> int:
        return kary_levels(T, self.k)

    def terms(self, T: int) -> float:
        return float(most_terms(self.k, self.levels(T)))

    def process(self, size: int, T: int, scale: float | Floats, stream: Draws) -> KaryNoise:
        return KaryNoise(size, self.k, self.levels(T), scale, stream)


PRIVATIZERS.add("kary_tree", KaryTree)
