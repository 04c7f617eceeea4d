"""Compiled twin of Toeplitz (privatizers/toeplitz.py, blt.py, square_root.py)."""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.engine.compiled import jit
from dpucbvi.engine.releases.shared import (
    Features,
    add_user,
    features,
    fill_normal,
    normal_words,
    put,
    scale_by_counter,
)
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers.blt import Blt, parameters
from dpucbvi.privatizers.gaussian import GaussianStream
from dpucbvi.privatizers.laplace import Words, seed_stream
from dpucbvi.privatizers.square_root import noise_table, variances
from dpucbvi.privatizers.toeplitz import Toeplitz
from dpucbvi.protocol import Floats, Setup


class Table(NamedTuple):
    """The noise of all releases if the factorisation is square_root, else empty, and its variances.

    A tuple of its own: a checkpoint has the arrays of the state alone, and this is made again from the seed.
    """

    noise: Floats  # [release, counter]
    variance: Floats


class ToeplitzState(NamedTuple):
    """The buffers y of BltNoise, and x_i^t and Σ b_j² so far; or the table of square_root."""

    sum: Floats
    y: Floats
    x: Floats
    w: Floats
    powers: Floats
    variance: Floats  # variance[0]
    generator: Words
    words: Words  # scratch
    noise: Floats  # scratch
    total: Floats  # scratch
    scale: Floats
    unit_sd: float
    every: int
    features: Features
    table: Table


@jit
def next_noise(state: ToeplitzState) -> None:
    """The noise of the next release into `total`, and its variance (BltNoise.next)."""
    z, total = state.noise, state.total
    fill_normal(state.generator, state.words, state.scale, z)
    total[:] = 0.0
    b = 0.0
    for i in range(state.x.size):
        y, x, w = state.y[i], state.x[i], state.w[i]
        for c in range(z.size):
            y[c] = y[c] * x + z[c]
            total[c] += w * y[c]
        b += w * state.powers[i]
        state.powers[i] *= x
    state.variance[0] += b * b


def release_toeplitz(state: ToeplitzState, t: int, memory: Memory, private: Private) -> bool:
    add_user(state.features, state.sum, memory, private)
    if t % state.every:
        return False
    if state.table.noise.size > 0:
        noise, variance = state.table.noise[t // state.every - 1], state.table.variance[t // state.every - 1]
    else:
        next_noise(state)
        noise, variance = state.total, state.variance[0]
    put(state.features, state.sum, noise, private, state.unit_sd * math.sqrt(variance))
    return True


def start(setup: Setup, seed: int, size: int) -> ToeplitzState:
    privatizer = setup.privatizer
    assert isinstance(privatizer, Toeplitz)
    scales, T = privatizer.scales(setup.problem, setup.G), privatizer.releases(setup.problem)
    scale, stream = scale_by_counter(setup, scales), GaussianStream(seed_stream(seed, "privacy"))
    blt = Blt((), ()) if privatizer.full else parameters(max(T, 1))
    kept = T if privatizer.full else 0
    return ToeplitzState(
        np.zeros(size),
        np.zeros((len(blt.x), scale.size)),
        np.array(blt.x),
        np.array(blt.w),
        np.ones(len(blt.x)),
        np.zeros(1),
        stream.state(),
        normal_words(scale.size),
        np.zeros(scale.size),
        np.zeros(scale.size),
        scale,
        scales.M,
        privatizer.every,
        features(setup),
        Table(noise_table(scale.size, kept, scale, stream), variances(kept)),
    )


add_release(Toeplitz, ToeplitzState, release_toeplitz, start)
