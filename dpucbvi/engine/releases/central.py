"""Compiled twin of Central (privatizers/central.py, tree.py)."""

from typing import NamedTuple

import numpy as np

from dpucbvi.engine.compiled import jit
from dpucbvi.engine.laplace import laplace_from_word, next_words
from dpucbvi.engine.releases.sums import add
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers import Central
from dpucbvi.privatizers.laplace import LaplaceStream, Words, seed_stream
from dpucbvi.privatizers.tree import levels
from dpucbvi.protocol import Floats, Ints, Setup


class CentralState(NamedTuple):
    """The true sums and the tree's noise: `cumulative[i]` is the noise released when block i last closed.

    The release at t has the blocks of t's set bits. Without the lowest one, i, they are the blocks of the
    earlier t' = t - 2^i, whose lowest set bit j has not closed again since: noise(t) = cumulative[j] + the new
    draw: one read and one write per counter, added from the largest block down as in the reference.
    """

    sum: Floats
    cumulative: Floats
    generator: Words
    words: Words  # scratch
    scale: float


@jit
def trailing_zeros(t: int) -> int:
    """The index of the lowest set bit of t > 0."""
    i = 0
    while not t >> i & 1:
        i += 1
    return i


def release_central(state: CentralState, t: int, sigma: Floats, cells: Ints, N_hat: Floats) -> None:
    """The Binary Mechanism's step t for every counter [Sec.5.1 (1), (3)]."""
    next_words(state.generator, state.words)
    closed = state.cumulative[trailing_zeros(t)]
    rest = t & (t - 1)
    if rest == 0:
        for c in range(N_hat.size):
            closed[c] = state.scale * laplace_from_word(state.words[c])
    else:
        above = state.cumulative[trailing_zeros(rest)]
        for c in range(N_hat.size):
            closed[c] = above[c] + state.scale * laplace_from_word(state.words[c])
    add(state.sum, sigma, cells)
    for c in range(N_hat.size):
        N_hat[c] = state.sum[c] + closed[c]


def start(setup: Setup, seed: int, size: int) -> CentralState:
    noise = np.zeros((levels(setup.problem.K), size))
    generator = LaplaceStream(seed_stream(seed, "privacy")).state()
    return CentralState(np.zeros(size), noise, generator, np.zeros(size, dtype=np.uint64), setup.noise.scale)


add_release(Central, CentralState, release_central, start)
