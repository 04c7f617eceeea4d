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

from typing import Protocol

import numpy as np

from dpucbvi.protocol import Floats


class Draws(Protocol):
    """A source of independent variates: standard ones in floats, or integers in their scale (`dtype`)."""

    def draw(self, n: int) -> np.ndarray: ...


def dtype_of(stream: Draws) -> type:
    """Of what a stream draws: float64 unless it says otherwise."""
    return getattr(stream, "dtype", np.float64)


def levels(K: int) -> int:
    """L = ⌈log2 K⌉: the levels of a tree over users 1..K-1, all whose data Algorithm 1 ever reads."""
    return (K - 1).bit_length()


class BinaryMechanism:
    """Chan's Algorithm 2 on a whole vector of counters at once, all with noise Lap(scale).

    `scale` is one number or one for every counter; with a stream of normal variates the noise is Gaussian.
    """

    def __init__(self, size: int, L: int, scale: float | Floats, stream: Draws):
        self.L, self.scale = L, scale
        self.t = 0
        self.sum: np.ndarray = np.zeros(size, dtype_of(stream))
        self.noise: np.ndarray = np.zeros((L, size), dtype_of(stream))
        self._stream = stream

    def release(self, item: np.ndarray) -> np.ndarray:
        """Take item t+1 and return the noisy sum of all items so far."""
        self.sum += item
        return self.sum + self.next()

    def next(self) -> np.ndarray:
        """The noise of the release at t+1."""
        self.t += 1
        if self.t >= 1 << self.L:
            raise OverflowError(f"a tree of {self.L} levels holds {(1 << self.L) - 1} items, not more")
        closed = (self.t & -self.t).bit_length() - 1
        self.noise[:closed] = 0
        self.noise[closed] = self.scale * self._stream.draw(len(self.sum))
        total = np.zeros_like(self.sum)
        for i in reversed(range(closed, self.L)):  # largest block first: the order of the compiled twin
            if self.t >> i & 1:
                total += self.noise[i]
        return total

    def variance(self) -> float:
        """One for every block of the last release."""
        return float(self.t.bit_count())
