"""Compiled twin of Central (privatizers/central.py, tree.py)."""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.engine.releases.shared import (
    LAPLACE_SD,
    Features,
    add_user,
    close_block,
    features,
    fill_laplace,
    put,
    scale_by_counter,
    set_bits,
)
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers.central import Central
from dpucbvi.privatizers.laplace import LaplaceStream, Words, seed_stream
from dpucbvi.protocol import Floats, Setup


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
    noise: Floats  # scratch
    scale: Floats
    unit_sd: float
    every: int
    features: Features


def release_central(state: CentralState, t: int, memory: Memory, private: Private) -> bool:
    """The Binary Mechanism's step t for every counter [Sec.5.1 (1), (3)]."""
    add_user(state.features, state.sum, memory, private)
    if t % state.every:
        return False
    item = t // state.every
    fill_laplace(state.generator, state.words, state.scale, state.noise)
    released = close_block(state.cumulative, item, state.noise)
    put(state.features, state.sum, released, private, state.unit_sd * math.sqrt(set_bits(item)))
    return True


def start(setup: Setup, seed: int, size: int) -> CentralState:
    privatizer = setup.privatizer
    assert isinstance(privatizer, Central)
    scales, T = privatizer.scales(setup.problem), privatizer.releases(setup.problem)
    scale = scale_by_counter(setup, scales)
    return CentralState(
        np.zeros(size),
        np.zeros((privatizer.levels(T), scale.size)),
        LaplaceStream(seed_stream(seed, "privacy")).state(),
        np.zeros(scale.size, dtype=np.uint64),
        np.zeros(scale.size),
        scale,
        scales.M * LAPLACE_SD,
        privatizer.every,
        features(setup),
    )


add_release(Central, CentralState, release_central, start)
