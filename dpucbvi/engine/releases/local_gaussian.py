"""Compiled twin of LocalGaussian (privatizers/local_gaussian.py)."""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.engine.releases.shared import (
    Features,
    features,
    fill_normal,
    normal_words,
    scale_by_counter,
    statistics,
)
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers.gaussian import GaussianStream
from dpucbvi.privatizers.laplace import Words, seed_stream
from dpucbvi.privatizers.local_gaussian import LocalGaussian
from dpucbvi.protocol import Floats, Setup


class LocalGaussianState(NamedTuple):
    """The sum of what the users sent."""

    sum: Floats
    generator: Words
    words: Words  # scratch
    noise: Floats  # scratch
    scale: Floats
    unit_sd: float
    features: Features


def release_local_gaussian(state: LocalGaussianState, t: int, memory: Memory, private: Private) -> bool:
    statistics(state.features, memory, private)
    fill_normal(state.generator, state.words, state.scale, state.noise)
    sigma, N_hat = memory.sigma[state.features.offset :], private.flat[state.features.offset :]
    for c in range(N_hat.size):
        state.sum[c] += sigma[c] + state.noise[c]
        N_hat[c] = state.sum[c]
    for i in range(memory.cells.size):
        memory.sigma[memory.cells[i]] = 0.0
    private.sd[:] = state.unit_sd * math.sqrt(t)
    return True


def start(setup: Setup, seed: int, size: int) -> LocalGaussianState:
    assert isinstance(setup.privatizer, LocalGaussian)
    scales = setup.privatizer.scales(setup.problem, setup.G)
    scale = scale_by_counter(setup, scales)
    generator = GaussianStream(seed_stream(seed, "privacy")).state()
    empty, noise = np.zeros(scale.size), np.zeros(scale.size)
    return LocalGaussianState(
        empty, generator, normal_words(scale.size), noise, scale, scales.M, features(setup)
    )


add_release(LocalGaussian, LocalGaussianState, release_local_gaussian, start)
