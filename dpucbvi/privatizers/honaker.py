"""Honaker: the binary tree, each block estimated from all nodes in it ("Efficient Use of DP Binary Trees",
2015).

A block of height i has noise of its own, z, and so have the nodes below it. The sum of its two halves'
estimates is a second estimate of the same block; the best mean of the two by variance is

    e_i = v_i z + (1 - v_i)(e_left + e_right),   v_0 = 1,  1/v_i = 1 + 1/(2 v_{i-1}),

and has v_i times the variance of z; v_i falls to ½. The release at t sums e over the dyadic blocks of t. Every
node of the tree is needed now, not only those that Chan's mechanism uses, but an item still lies in L nodes:
the budget is the same. The weights of one release are at most 1 and have Σ a² = Σ v_i over the set bits of t.
"""

from dataclasses import dataclass

import numpy as np

from dpucbvi.privatizers.over_time import LaplaceOverTime
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.tree import Draws, levels
from dpucbvi.protocol import Floats


@dataclass(frozen=True)
class Honaker(LaplaceOverTime):
    """The paper's tree with every node used: less noise at the same ε.

    Simulation only: its noise is weighted by reals, so integer noise would not stay integer.
    """

    def levels(self, T: int) -> int:
        return levels(T + 1)

    def terms(self, T: int) -> float:
        return float(sum(block_variances(levels(T + 1))))

    def process(self, size: int, T: int, scale: float | Floats, stream: Draws) -> "HonakerNoise":
        return HonakerNoise(size, levels(T + 1), scale, stream)


def block_variances(L: int) -> Floats:
    """v_0, ..., v_{L-1}."""
    v = np.ones(L)
    for i in range(1, L):
        v[i] = 2.0 * v[i - 1] / (1.0 + 2.0 * v[i - 1])
    return v


class HonakerNoise:
    """The estimates' noise: `left[i]` is that of the block of height i that waits for its right half."""

    def __init__(self, size: int, L: int, scale: float | Floats, stream: Draws):
        self.t, self.L, self.size, self.scale = 0, L, size, scale
        self.v = block_variances(L)
        self.left = np.zeros((L, size))
        self._stream = stream

    def next(self) -> Floats:
        self.t += 1
        if self.t >= 1 << self.L:
            raise OverflowError(f"a tree of {self.L} levels holds {(1 << self.L) - 1} items, not more")
        e, i = self._node(), 0
        while not self.t >> i & 1:  # the block of height i+1 closes with its right half
            v = self.v[i + 1]
            e = v * self._node() + (1.0 - v) * (self.left[i] + e)
            i += 1
        self.left[i] = e
        total = np.zeros(self.size)
        for j in reversed(range(i, self.L)):  # largest block first: the order of the compiled twin
            if self.t >> j & 1:
                total += self.left[j]
        return total

    def variance(self) -> float:
        return float(sum(self.v[i] for i in range(self.L) if self.t >> i & 1))

    def _node(self) -> Floats:
        return self.scale * self._stream.draw(self.size)


PRIVATIZERS.add("honaker", Honaker)
