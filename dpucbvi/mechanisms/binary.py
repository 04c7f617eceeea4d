"""The Binary Mechanism: private running sums of a stream (Chan, Shi & Song, 2011, Algorithm 2).

After item t the sum of items 1..t is cut into dyadic blocks, one per set bit of t:

    t = 13 = 1101b:   [1..8] + [9..12] + [13]

Each block (a node of the binary tree, Chan's p-sum α_i) gets its own noise, drawn once when the block
closes and kept as long as the block is used. The release at t is

    Σ_{i: bit i of t} (α_i + noise_i) = (items 1..t) + Σ_{i: bit i of t} noise_i,

because the α_i of the set bits partition the items: it is enough to keep the running sum and the
noises. Closing block i at t (i = lowest set bit of t) discards the noises below i.

Formal guarantees, for a stream of at most 2^L - 1 items:
- each item lies in at most L blocks (exact), so with noise Lap(b) per block and coordinate, the whole
  sequence of releases is (Δ·L/b)-DP, Δ the largest ℓ1 change of one item (idealised numerics);
- a release at t carries popcount(t) ≤ L independent noises (exact).
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from dpucbvi.mechanisms import TOO_MANY, add_to
from dpucbvi.privacy.draws import fill, snapped
from dpucbvi.protocol import Floats, Ints


class Stream(Protocol):
    """A source of independent standard variates."""

    def draw(self, n: int) -> Floats: ...


def levels(K: int) -> int:
    """L = ⌈log2 K⌉: the levels of a tree over users 1..K-1, all whose data Algorithm 1 ever reads."""
    return (K - 1).bit_length()


class BinaryMechanism:
    """Chan's Algorithm 2 as it reads, on a whole vector of counters at once, all with noise Lap(scale).

    `scale` is one number or one for every counter; with a stream of normal variates the noise is
    Gaussian. The arrays below are tested against it.
    """

    def __init__(self, size: int, L: int, scale: float | Floats, stream: Stream):
        self.L, self.scale = L, scale
        self.t = 0
        self.sum: Floats = np.zeros(size)
        self.noise: Floats = np.zeros((L, size))
        self._stream = stream

    def release(self, item: Floats) -> Floats:
        """Take item t+1 and return the noisy sum of all items so far."""
        self.sum += item
        return self.sum + self.next()

    def next(self) -> Floats:
        """The noise of the release at t+1."""
        self.t += 1
        if self.t >= 1 << self.L:
            raise OverflowError(f"a tree of {self.L} levels holds {(1 << self.L) - 1} items, not more")
        closed = (self.t & -self.t).bit_length() - 1
        self.noise[:closed] = 0
        self.noise[closed] = snapped(self.scale * self._stream.draw(len(self.sum)))
        total = np.zeros_like(self.sum)
        for i in reversed(range(closed, self.L)):  # largest block first: the order of the arrays below
            if self.t >> i & 1:
                total += self.noise[i]
        return total

    def variance(self) -> float:
        """One for every block of the last release."""
        return float(self.t.bit_count())


# --- as arrays ------------------------------------------------------------------------------------------------


class BinaryTree(NamedTuple):
    """The noises as both engines keep them: `cumulative[i]` is what was released when block i last closed.

    The release at t has the blocks of t's set bits. Without the lowest one, i, they are the blocks of the
    earlier t' = t - 2^i, whose lowest set bit j has not closed again since: noise(t) = cumulative[j] + the new
    draw: one read and one write per counter, added from the largest block down.
    """

    t: Ints  # t[0]: releases so far
    cumulative: np.ndarray  # [i, counter]


def start(size: int, L: int, dtype: type = np.float64) -> BinaryTree:
    """The tree before its first release."""
    return BinaryTree(np.zeros(1, np.int64), np.zeros((L, size), dtype))


def next_noise(tree: BinaryTree, source: Any) -> tuple[np.ndarray, float]:
    """The noise of the next release and how many noises it has."""
    tree.t[0] += 1
    t = tree.t[0]
    if t >> tree.cumulative.shape[0]:
        raise OverflowError(TOO_MANY)
    closed, rest = tree.cumulative[lowest_bit(t)], t & (t - 1)
    fill(source, closed)
    if rest:
        add_to(closed, tree.cumulative[lowest_bit(rest)])
    return closed, float(set_bits(t))


def lowest_bit(t: int) -> int:
    """The index of the lowest set bit of t > 0."""
    i = 0
    while not t >> i & 1:
        i += 1
    return i


def set_bits(t: int) -> int:
    """How many bits of t are set."""
    n = 0
    while t:
        t &= t - 1
        n += 1
    return n
