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

from typing import Any, NamedTuple

import numpy as np

from dpucbvi.mechanisms import TOO_MANY
from dpucbvi.mechanisms.binary import close_block
from dpucbvi.privacy.draws import fill
from dpucbvi.protocol import Floats, Ints


def block_variances(L: int) -> Floats:
    """v_0, ..., v_{L-1}."""
    v = np.ones(L)
    for i in range(1, L):
        v[i] = 2.0 * v[i - 1] / (1.0 + 2.0 * v[i - 1])
    return v


class Estimates(NamedTuple):
    """`left[i]`: the noise of the block of height i that waits; `cumulative` as in binary.BinaryTree."""

    t: Ints  # t[0]: releases so far
    left: Floats
    cumulative: Floats
    v: Floats
    block: Floats  # scratch
    new: Floats  # scratch

    def seek(self, releases: int) -> None:
        """Set the index as it is after so many releases: no file is trusted with it."""
        self.t[0] = releases


def start(size: int, L: int) -> Estimates:
    """The tree before its first release."""
    left, cumulative = np.zeros((L, size)), np.zeros((L, size))
    return Estimates(
        np.zeros(1, np.int64), left, cumulative, block_variances(L), np.zeros(size), np.zeros(size)
    )


def next_noise(tree: Estimates, source: Any) -> tuple[Floats, float]:
    """The noise of the estimate of the next release, and its variance in that of one node."""
    tree.t[0] += 1
    t = tree.t[0]
    if t >> tree.left.shape[0]:
        raise OverflowError(TOO_MANY)
    tree.left[estimate_block(tree, source, t)] = tree.block
    variance = 0.0
    for i in range(tree.v.size):
        if t >> i & 1:
            variance += tree.v[i]
    return close_block(tree.cumulative, t, tree.block), variance


def estimate_block(tree: Estimates, source: Any, t: int) -> int:
    """The noise of the estimate of the block that t closes into `block`; returns its height."""
    e, z, i = tree.block, tree.new, 0
    fill(source, e)
    while not t >> i & 1:  # the block of height i+1 closes with its right half
        v, left = tree.v[i + 1], tree.left[i]
        fill(source, z)
        for c in range(e.size):
            e[c] = v * z[c] + (1.0 - v) * (left[c] + e[c])
        i += 1
    return i


class NoisyNodes:
    """The nodes of the tree in integers, each the sum of its items plus its noise, in the order drawn."""

    def __init__(self, L: int, noise: Any):
        self.left = np.zeros(
            (L, noise.size), np.int64
        )  # true sums of the blocks that wait for their right half
        self.sum = np.zeros(noise.size, np.int64)  # of the node at hand
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


class EstimatesOfNodes:
    """Running sums estimated from noisy nodes: `next_noise` with the nodes in place of their noises."""

    def __init__(self, L: int, noise: Any):
        self.nodes, self._last = NoisyNodes(L, noise), np.zeros(noise.size, np.int64)
        self._estimates = start(noise.size, L)

    def __call__(self, sums: Ints) -> tuple[Floats, float]:
        """The estimates of the running sums, and their variance in that of one node."""
        self.nodes.take(sums - self._last)
        self._last[:] = sums
        return next_noise(self._estimates, self.nodes)
