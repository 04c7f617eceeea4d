"""Compiled twin of KaryTree (privatizers/kary_tree.py, kary.py)."""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.engine.compiled import jit
from dpucbvi.engine.releases.shared import (
    LAPLACE_SD,
    Features,
    add_user,
    features,
    fill_laplace,
    put,
    scale_by_counter,
)
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers.kary_tree import KaryTree
from dpucbvi.privatizers.laplace import LaplaceStream, Words, seed_stream
from dpucbvi.protocol import Floats, Ints, Setup


class KaryTreeState(NamedTuple):
    """The digits of t and the partial sums S_i[0..h] of every level (kary.py)."""

    sum: Floats
    digits: Ints
    S: Floats  # [i, j, counter]
    generator: Words
    words: Words  # scratch
    noise: Floats  # scratch
    total: Floats  # scratch
    scale: Floats
    unit_sd: float
    every: int
    features: Features


@jit
def draw_block(state: KaryTreeState, i: int, j: int) -> None:
    """S_i[j] = S_i[j-1] + a new noise."""
    fill_laplace(state.generator, state.words, state.scale, state.noise)
    new, last = state.S[i, j], state.S[i, j - 1]
    for c in range(state.noise.size):
        new[c] = last[c] + state.noise[c]


@jit
def next_noise(state: KaryTreeState) -> int:
    """The noise of the next release into `total`; returns how many noises it has (KaryNoise.next)."""
    digits, half, i = state.digits, state.S.shape[1] - 1, 0
    while digits[i] == half:
        digits[i] = -half
        for j in range(1, half + 1):
            draw_block(state, i, j)
        i += 1
    digits[i] += 1
    if digits[i] > 0:
        draw_block(state, i, digits[i])
    total, terms = state.total, 0
    total[:] = 0.0
    for level in range(digits.size - 1, -1, -1):
        d = digits[level]
        part, sign = state.S[level, abs(d)], 1.0 if d > 0 else -1.0
        terms += abs(d)
        if d != 0:
            for c in range(total.size):
                total[c] += sign * part[c]
    return terms


def release_kary_tree(state: KaryTreeState, t: int, memory: Memory, private: Private) -> bool:
    add_user(state.features, state.sum, memory, private)
    if t % state.every:
        return False
    terms = next_noise(state)
    put(state.features, state.sum, state.total, private, state.unit_sd * math.sqrt(terms))
    return True


def start(setup: Setup, seed: int, size: int) -> KaryTreeState:
    privatizer = setup.privatizer
    assert isinstance(privatizer, KaryTree)
    scales, L = privatizer.scales(setup.problem), privatizer.levels(privatizer.releases(setup.problem))
    scale = scale_by_counter(setup, scales)
    return KaryTreeState(
        np.zeros(size),
        np.zeros(L, dtype=np.int64),
        np.zeros((L, (privatizer.k - 1) // 2 + 1, scale.size)),
        LaplaceStream(seed_stream(seed, "privacy")).state(),
        np.zeros(scale.size, dtype=np.uint64),
        np.zeros(scale.size),
        np.zeros(scale.size),
        scale,
        scales.M * LAPLACE_SD,
        privatizer.every,
        features(setup),
    )


add_release(KaryTree, KaryTreeState, release_kary_tree, start)
