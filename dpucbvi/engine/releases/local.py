"""Compiled twin of Local (privatizers/local.py)."""

from typing import NamedTuple

import numpy as np

from dpucbvi.engine.laplace import laplace_from_word, next_words
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers import Local
from dpucbvi.privatizers.laplace import LaplaceStream, Words, seed_stream
from dpucbvi.protocol import Floats, Ints, Setup


class LocalState(NamedTuple):
    """The sum of what the users sent."""

    sum: Floats
    generator: Words
    words: Words  # scratch
    scale: float


def release_local(state: LocalState, t: int, sigma: Floats, cells: Ints, N_hat: Floats) -> None:
    """The user perturbs every statistic, the server adds [Sec.5.2 (1)-(3)]."""
    next_words(state.generator, state.words)
    for c in range(N_hat.size):
        state.sum[c] += sigma[c] + state.scale * laplace_from_word(state.words[c])
        N_hat[c] = state.sum[c]
    for i in range(cells.size):
        sigma[cells[i]] = 0.0


def start(setup: Setup, seed: int, size: int) -> LocalState:
    generator = LaplaceStream(seed_stream(seed, "privacy")).state()
    return LocalState(np.zeros(size), generator, np.zeros(size, dtype=np.uint64), setup.noise.scale)


add_release(Local, LocalState, release_local, start)
