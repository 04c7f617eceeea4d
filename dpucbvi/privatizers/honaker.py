"""Honaker: the binary tree, each block estimated from all nodes in it ("Efficient Use of DP Binary Trees",
2015).

A block of height i has noise of its own, z, and so have the nodes below it. The sum of its two halves'
estimates is a second estimate of the same block; the best mean of the two by variance is

    e_i = v_i z + (1 - v_i)(e_left + e_right),   v_0 = 1,  1/v_i = 1 + 1/(2 v_{i-1}),

and has v_i times the variance of z; v_i falls to ½. The release at t sums e over the dyadic blocks of t. Every
node of the tree is needed now, not only those that Chan's mechanism uses, but an item still lies in L nodes:
the budget is the same. The weights of one release are at most 1 and have Σ a² = Σ v_i over the set bits of t.

All this is a function of the noisy nodes. Simulated, only noises go through it, and the true sums are added. In
the release mode a node is an integer sum plus an integer noise, and the estimates are made of these nodes by
the same recursion, which is linear: weights are real, but they meet only what is private already.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpucbvi.counts import FAMILIES, counters, statistics
from dpucbvi.privatizers.over_time import LAPLACE_VARIANCE, LaplaceTree
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.release_mode import ExactNoise
from dpucbvi.privatizers.tree import Draws, levels
from dpucbvi.protocol import Floats, Ints, Problem, Shape, User


@dataclass(frozen=True)
class Honaker(LaplaceTree):
    """The paper's tree with every node used: less noise at the same ε.

    `noise="exact"` is for publication (release_mode.py).
    """

    def levels(self, T: int) -> int:
        return levels(T + 1)

    def terms(self, T: int) -> float:
        return float(sum(block_variances(levels(T + 1))))

    def process(self, size: int, T: int, scale: float | Floats, stream: Draws) -> "HonakerNoise":
        return HonakerNoise(size, levels(T + 1), scale, stream)

    def published(self, problem: Problem, shape: Shape, noise: ExactNoise, draws: Any) -> Any:
        nodes = NoisyNodes(self.levels(self.releases(problem)), draws.size, draws)
        return EstimatedCounts(self, shape, noise, nodes)


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


class NoisyNodes:
    """The nodes of the tree in integers, each the sum of its items plus its noise, in the order of `next`."""

    def __init__(self, L: int, size: int, noise: Draws):
        self.left = np.zeros((L, size), np.int64)  # true sums of the blocks that wait for their right half
        self.sum = np.zeros(size, np.int64)  # of the node at hand
        self.height, self._noise = -1, noise

    def take(self, item: Ints) -> None:
        """An item has come: the next node is its leaf."""
        if self.height >= 0:
            self.left[self.height] = self.sum
        self.sum, self.height = item.copy(), -1

    def draw(self, n: int) -> Ints:
        """The next node that closes with the item."""
        if self.height >= 0:
            self.sum = self.left[self.height] + self.sum
        self.height += 1
        return self.sum + self._noise.draw(n)


class EstimatedCounts:
    """Running sums estimated from noisy nodes: HonakerNoise with the nodes in place of their noises."""

    def __init__(self, privatizer: Honaker, shape: Shape, noise: ExactNoise, nodes: NoisyNodes):
        self._families, self._every = FAMILIES[privatizer.families], privatizer.every
        self._shape, self._grid, self._nodes = shape, noise.grid, nodes
        self._estimates = HonakerNoise(nodes.sum.size, len(nodes.left), 1, nodes)
        self._unit_sd = noise.scales.M * math.sqrt(LAPLACE_VARIANCE)
        self.item = np.zeros(counters(*shape), np.int64)  # of the users since the last release
        self.t = 0

    def release(self, user: User) -> Floats | None:
        self.item += statistics(
            user.trajectory, *self._shape[:3], self._families, grid=self._grid, moves=user.moves
        )
        self.t += 1
        if self.t % self._every:
            return None
        offset = self._families.offset(*self._shape)
        self._nodes.take(self.item[offset:])
        self.item[:] = 0
        return np.append(np.zeros(offset), self._estimates.next())

    @property
    def sd(self) -> Floats:
        return np.full(self._shape[:3], self._unit_sd * math.sqrt(self._estimates.variance()))


PRIVATIZERS.add("honaker", Honaker)
