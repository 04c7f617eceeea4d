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

from dpucbvi.mechanisms import TOO_MANY, add_to
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
    t, i = next_item(tree), 0
    fill(source, tree.block)
    while not t >> i & 1:  # the block of height i+1 closes with its right half
        fill(source, tree.new)
        join_halves(tree, i, tree.new)
        i += 1
    return estimated(tree, t, i)


def next_item(tree: Estimates) -> int:
    tree.t[0] += 1
    t = tree.t[0]
    if t >> tree.left.shape[0]:
        raise OverflowError(TOO_MANY)
    return t


def join_halves(tree: Estimates, i: int, z: np.ndarray) -> None:
    """`block`, of height i, becomes the estimate of the block of height i+1, whose node is z."""
    e, v, left = tree.block, tree.v[i + 1], tree.left[i]
    for c in range(e.size):
        e[c] = v * z[c] + (1.0 - v) * (left[c] + e[c])


def estimated(tree: Estimates, t: int, i: int) -> tuple[Floats, float]:
    """The release at t, which has closed `block`, of height i; and its variance."""
    tree.left[i] = tree.block
    variance = 0.0
    for j in range(tree.v.size):
        if t >> j & 1:
            variance += tree.v[j]
    return close_block(tree.cumulative, t, tree.block), variance


# --- with integers --------------------------------------------------------------------------------------------


class NoisyNodes(NamedTuple):
    """The nodes in integers, each the sum of its items plus its noise, and the estimates made of them."""

    estimates: Estimates
    left: Ints  # [i, counter]: the true sum of the block of height i that waits
    last: Ints  # the running sums of the last release
    sum: Ints  # scratch: of the node at hand
    noisy: Ints  # scratch: the same with its noise


def start_nodes(size: int, L: int) -> NoisyNodes:
    """The tree before its first release."""
    last, one, other = (np.zeros(size, np.int64) for _ in range(3))
    return NoisyNodes(start(size, L), np.zeros((L, size), np.int64), last, one, other)


def next_estimate(nodes: NoisyNodes, source: Any, sums: Ints) -> tuple[Floats, float]:
    """The estimates of the running sums, and their variance in that of one node."""
    tree, i = nodes.estimates, 0
    t = next_item(tree)
    for c in range(sums.size):
        nodes.sum[c] = sums[c] - nodes.last[c]
    nodes.last[:] = sums
    publish_node(nodes, source)
    tree.block[:] = nodes.noisy
    while not t >> i & 1:
        add_to(nodes.sum, nodes.left[i])
        publish_node(nodes, source)
        join_halves(tree, i, nodes.noisy)
        i += 1
    nodes.left[i] = nodes.sum
    return estimated(tree, t, i)


def publish_node(nodes: NoisyNodes, source: Any) -> None:
    """The node at hand with its noise: what is public of it."""
    fill(source, nodes.noisy)
    add_to(nodes.noisy, nodes.sum)
