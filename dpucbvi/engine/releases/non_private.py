"""Compiled twin of NonPrivate (privatizers/non_private.py)."""

from typing import NamedTuple

import numpy as np

from dpucbvi.engine.releases.shared import Features, add_user, features
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers import NonPrivate
from dpucbvi.protocol import Floats, Setup


class NonPrivateState(NamedTuple):
    """The true sums."""

    sum: Floats
    features: Features


def release_non_private(state: NonPrivateState, t: int, memory: Memory, private: Private) -> bool:
    add_user(state.features, state.sum, memory, private)
    for i in range(memory.cells.size):
        private.flat[memory.cells[i]] = state.sum[memory.cells[i]]
    return True


def start(setup: Setup, seed: int, size: int) -> NonPrivateState:
    return NonPrivateState(np.zeros(size), features(setup))


add_release(NonPrivate, NonPrivateState, release_non_private, start)
