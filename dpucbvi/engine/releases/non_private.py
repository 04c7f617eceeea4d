"""Compiled twin of NonPrivate (privatizers/non_private.py)."""

from typing import NamedTuple

import numpy as np

from dpucbvi.engine.releases.sums import add
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers import NonPrivate
from dpucbvi.protocol import Floats, Ints, Setup


class NonPrivateState(NamedTuple):
    """The true sums."""

    sum: Floats


def release_non_private(state: NonPrivateState, t: int, sigma: Floats, cells: Ints, N_hat: Floats) -> None:
    add(state.sum, sigma, cells)
    for i in range(cells.size):
        N_hat[cells[i]] = state.sum[cells[i]]


def start(setup: Setup, seed: int, size: int) -> NonPrivateState:
    return NonPrivateState(np.zeros(size))


add_release(NonPrivate, NonPrivateState, release_non_private, start)
