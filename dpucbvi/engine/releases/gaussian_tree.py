"""Compiled twin of GaussianTree (privatizers/gaussian_tree.py, tree.py)."""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.engine.releases.shared import (
    Features,
    add_user,
    close_block,
    features,
    fill_normal,
    normal_words,
    put,
    scale_by_counter,
    set_bits,
)
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers.gaussian import GaussianStream
from dpucbvi.privatizers.gaussian_tree import GaussianTree
from dpucbvi.privatizers.laplace import Words, seed_stream
from dpucbvi.protocol import Floats, Setup


class GaussianTreeState(NamedTuple):
    """As CentralState."""

    sum: Floats
    cumulative: Floats
    generator: Words
    words: Words  # scratch
    noise: Floats  # scratch
    scale: Floats
    unit_sd: float
    every: int
    features: Features


def release_gaussian_tree(state: GaussianTreeState, t: int, memory: Memory, private: Private) -> bool:
    add_user(state.features, state.sum, memory, private)
    if t % state.every:
        return False
    item = t // state.every
    fill_normal(state.generator, state.words, state.scale, state.noise)
    released = close_block(state.cumulative, item, state.noise)
    put(state.features, state.sum, released, private, state.unit_sd * math.sqrt(set_bits(item)))
    return True


def start(setup: Setup, seed: int, size: int) -> GaussianTreeState:
    privatizer = setup.privatizer
    assert isinstance(privatizer, GaussianTree)
    scales, T = privatizer.scales(setup.problem, setup.G), privatizer.releases(setup.problem)
    scale = scale_by_counter(setup, scales)
    return GaussianTreeState(
        np.zeros(size),
        np.zeros((int(privatizer.terms(T)), scale.size)),
        GaussianStream(seed_stream(seed, "privacy")).state(),
        normal_words(scale.size),
        np.zeros(scale.size),
        scale,
        scales.M,
        privatizer.every,
        features(setup),
    )


add_release(GaussianTree, GaussianTreeState, release_gaussian_tree, start)
