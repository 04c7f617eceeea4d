"""Compiled twins of the habits of published code (privatizers/earlier_code.py)."""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.engine.compiled import jit
from dpucbvi.engine.laplace import laplace_from_word, next_words
from dpucbvi.engine.releases.shared import LAPLACE_SD, Features, add_user, features, fill_laplace, put
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers import earlier_code
from dpucbvi.privatizers.earlier_code import Redrawn, Shared
from dpucbvi.privatizers.laplace import LaplaceStream, Words, seed_stream
from dpucbvi.protocol import Floats, Setup

terms_at = jit(earlier_code.terms_at)


class RedrawnState(NamedTuple):
    """The true sums."""

    sum: Floats
    generator: Words
    words: Words  # scratch
    noise: Floats  # scratch
    total: Floats  # scratch
    scale: Floats
    unit_sd: float
    features: Features


class SharedState(NamedTuple):
    """The true sums and the noises on them: of N, of every s' and of R, for all pairs."""

    sum: Floats
    generator: Words
    words: Words  # scratch
    total: Floats
    noise: Floats  # scratch
    b: float
    unit_sd: float
    features: Features


def release_redrawn(state: RedrawnState, t: int, memory: Memory, private: Private) -> bool:
    """Fresh noises on every counter."""
    add_user(state.features, state.sum, memory, private)
    state.total[:] = 0.0
    for _ in range(terms_at(t)):
        fill_laplace(state.generator, state.words, state.scale, state.noise)
        for c in range(state.total.size):
            state.total[c] += state.noise[c]
    put(state.features, state.sum, state.total, private, state.unit_sd * math.sqrt(terms_at(t)))
    return True


def release_shared(state: SharedState, t: int, memory: Memory, private: Private) -> bool:
    """One more noise on N, on every s' and on R."""
    add_user(state.features, state.sum, memory, private)
    next_words(state.generator, state.words)
    pairs = state.noise.size // state.total.size
    for i in range(state.total.size):
        state.total[i] += state.b * laplace_from_word(state.words[i])
        state.noise[i * pairs : (i + 1) * pairs] = state.total[i]
    put(state.features, state.sum, state.noise, private, state.unit_sd * math.sqrt(t))
    return True


def start_redrawn(setup: Setup, seed: int, size: int) -> RedrawnState:
    assert isinstance(setup.privatizer, Redrawn)
    b = setup.privatizer.b
    return RedrawnState(
        np.zeros(size),
        LaplaceStream(seed_stream(seed, "privacy")).state(),
        np.zeros(size, dtype=np.uint64),
        np.zeros(size),
        np.zeros(size),
        np.full(size, b),
        b * LAPLACE_SD,
        features(setup),
    )


def start_shared(setup: Setup, seed: int, size: int) -> SharedState:
    assert isinstance(setup.privatizer, Shared)
    b = setup.privatizer.b
    return SharedState(
        np.zeros(size),
        LaplaceStream(seed_stream(seed, "privacy")).state(),
        np.zeros(setup.problem.S + 2, dtype=np.uint64),
        np.zeros(setup.problem.S + 2),
        np.zeros(size),
        b,
        b * LAPLACE_SD,
        features(setup),
    )


add_release(Redrawn, RedrawnState, release_redrawn, start_redrawn)
add_release(Shared, SharedState, release_shared, start_shared)
