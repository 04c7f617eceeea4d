"""Compiled twin of Honaker (privatizers/honaker.py)."""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.engine.compiled import jit
from dpucbvi.engine.releases.shared import (
    LAPLACE_SD,
    Features,
    add_user,
    close_block,
    features,
    fill_laplace,
    put,
    scale_by_counter,
)
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers.honaker import Honaker, block_variances
from dpucbvi.privatizers.laplace import LaplaceStream, Words, seed_stream
from dpucbvi.protocol import Floats, Setup


class HonakerState(NamedTuple):
    """`left[i]`: the noise of the block of height i that waits; `cumulative` as in CentralState."""

    sum: Floats
    left: Floats
    cumulative: Floats
    v: Floats
    estimate: Floats  # scratch
    generator: Words
    words: Words  # scratch
    noise: Floats  # scratch
    scale: Floats
    unit_sd: float
    every: int
    features: Features


@jit
def estimate_block(state: HonakerState, t: int) -> int:
    """The noise of the estimate of the block that t closes into `estimate`; returns its height."""
    e, z, i = state.estimate, state.noise, 0
    fill_laplace(state.generator, state.words, state.scale, e)
    while not t >> i & 1:
        v, left = state.v[i + 1], state.left[i]
        fill_laplace(state.generator, state.words, state.scale, z)
        for c in range(e.size):
            e[c] = v * z[c] + (1.0 - v) * (left[c] + e[c])
        i += 1
    return i


@jit
def variance(v: Floats, t: int) -> float:
    total = 0.0
    for i in range(v.size):
        if t >> i & 1:
            total += v[i]
    return total


def release_honaker(state: HonakerState, t: int, memory: Memory, private: Private) -> bool:
    add_user(state.features, state.sum, memory, private)
    if t % state.every:
        return False
    item = t // state.every
    i = estimate_block(state, item)
    state.left[i] = state.estimate
    released = close_block(state.cumulative, item, state.estimate)
    put(state.features, state.sum, released, private, state.unit_sd * math.sqrt(variance(state.v, item)))
    return True


def start(setup: Setup, seed: int, size: int) -> HonakerState:
    privatizer = setup.privatizer
    assert isinstance(privatizer, Honaker)
    scales, L = privatizer.scales(setup.problem), privatizer.levels(privatizer.releases(setup.problem))
    scale = scale_by_counter(setup, scales)
    return HonakerState(
        np.zeros(size),
        np.zeros((L, scale.size)),
        np.zeros((L, scale.size)),
        block_variances(L),
        np.zeros(scale.size),
        LaplaceStream(seed_stream(seed, "privacy")).state(),
        np.zeros(scale.size, dtype=np.uint64),
        np.zeros(scale.size),
        scale,
        scales.M * LAPLACE_SD,
        privatizer.every,
        features(setup),
    )


add_release(Honaker, HonakerState, release_honaker, start)
