"""Compiled twin of Batches (privatizers/batches.py)."""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.engine.compiled import jit
from dpucbvi.engine.releases.shared import (
    Features,
    add_user,
    features,
    fill_laplace,
    fill_normal,
    normal_words,
    scale_by_counter,
    show,
)
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers.batches import Batches
from dpucbvi.privatizers.gaussian import GaussianStream
from dpucbvi.privatizers.laplace import LaplaceStream, Words, seed_stream
from dpucbvi.protocol import Floats, Ints, Setup


class BatchesState(NamedTuple):
    """The batch that fills, and the sum of those released, whose variance every row has."""

    batch: Floats
    total: Floats
    shown: Ints  # 1 for the rows that a policy of this batch may visit
    variance: Floats
    closed: Ints  # closed[0]: how many batches have ended
    ends: Ints
    generator: Words
    words: Words  # scratch
    noise: Floats  # scratch
    scale: Floats
    cell_variance: float
    least: float  # of a batch's row, to be kept
    laplace: bool
    policy_cells: bool
    drop_empty: bool
    features: Features


@jit
def close(state: BatchesState, private: Private) -> None:
    """The batch with its noise goes into the total, row by row, and is emptied."""
    D, rows = private.N_hat_sas.shape[0], state.shown.size
    if state.laplace:
        fill_laplace(state.generator, state.words, state.scale, state.noise)
    else:
        fill_normal(state.generator, state.words, state.scale, state.noise)
    batch = state.batch[state.features.offset :]
    for c in range(batch.size):
        batch[c] += state.noise[c]
    for row in range(rows):
        if state.shown[row] and not (state.drop_empty and row_total(state.batch, row, rows, D) < state.least):
            for family in range(D + 2):  # N(s,a), N(s,a,s') for every s', R(s,a)
                state.total[family * rows + row] += state.batch[family * rows + row]
            state.variance[row] += state.cell_variance
    state.batch[:] = 0.0
    state.shown[:] = 0
    state.closed[0] += 1


@jit
def row_total(batch: Floats, row: int, rows: int, D: int) -> float:
    """Σ_{s'} of the batch's noisy N(s,a,s')."""
    total = 0.0
    for d in range(D):
        total += batch[(1 + d) * rows + row]
    return total


def release_batches(state: BatchesState, t: int, memory: Memory, private: Private) -> bool:
    add_user(state.features, state.batch, memory, private)
    if state.policy_cells:
        show(memory.pi, private.N_sa, state.shown)
    else:
        state.shown[:] = 1
    i = state.closed[0]
    if i == state.ends.size or t != state.ends[i]:
        return False
    close(state, private)
    private.flat[:] = state.total
    for row in range(state.variance.size):
        private.sd[row] = math.sqrt(state.variance[row])
    return True


def start(setup: Setup, seed: int, size: int) -> BatchesState:
    privatizer = setup.privatizer
    assert isinstance(privatizer, Batches)
    laplace, rows = privatizer.delta == 0.0, setup.G * setup.problem.S * setup.problem.A
    scales, privacy = privatizer.scales(setup.problem, setup.G), seed_stream(seed, "privacy")
    scale, cell_variance = scale_by_counter(setup, scales), (scales.M * privatizer.unit_sd()) ** 2
    return BatchesState(
        np.zeros(size),
        np.zeros(size),
        np.zeros(rows, dtype=np.int64),
        np.zeros(rows),
        np.zeros(1, dtype=np.int64),
        privatizer.ends(setup.problem),
        LaplaceStream(privacy).state() if laplace else GaussianStream(privacy).state(),
        np.zeros(scale.size, dtype=np.uint64) if laplace else normal_words(scale.size),
        np.zeros(scale.size),
        scale,
        cell_variance,
        math.sqrt(setup.problem.next_states * cell_variance),
        laplace,
        privatizer.policy_cells,
        privatizer.drop_empty,
        features(setup),
    )


add_release(Batches, BatchesState, release_batches, start)
