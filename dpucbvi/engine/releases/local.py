"""Compiled twin of Local (privatizers/local.py)."""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.engine.laplace import laplace_from_word, next_words
from dpucbvi.engine.releases.shared import LAPLACE_SD, Features, features, scale_by_counter, statistics
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers import Local
from dpucbvi.privatizers.laplace import LaplaceStream, Words, seed_stream
from dpucbvi.protocol import Floats, Setup


class LocalState(NamedTuple):
    """The sum of what the users sent."""

    sum: Floats
    generator: Words
    words: Words  # scratch
    scale: Floats
    unit_sd: float
    features: Features


def release_local(state: LocalState, t: int, memory: Memory, private: Private) -> bool:
    """The user perturbs every statistic, the server adds [Sec.5.2 (1)-(3)]."""
    statistics(state.features, memory, private)
    next_words(state.generator, state.words)
    sigma, N_hat = memory.sigma[state.features.offset :], private.flat[state.features.offset :]
    for c in range(N_hat.size):
        state.sum[c] += sigma[c] + state.scale[c] * laplace_from_word(state.words[c])
        N_hat[c] = state.sum[c]
    for i in range(memory.cells.size):
        memory.sigma[memory.cells[i]] = 0.0
    private.sd[:] = state.unit_sd * math.sqrt(t)
    return True


def start(setup: Setup, seed: int, size: int) -> LocalState:
    assert isinstance(setup.privatizer, Local)
    scales = setup.privatizer.scales(setup.problem)
    scale = scale_by_counter(setup, scales)
    generator, words = (
        LaplaceStream(seed_stream(seed, "privacy")).state(),
        np.zeros(scale.size, dtype=np.uint64),
    )
    return LocalState(np.zeros(scale.size), generator, words, scale, scales.M * LAPLACE_SD, features(setup))


add_release(Local, LocalState, release_local, start)
