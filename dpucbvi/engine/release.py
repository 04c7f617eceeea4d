"""Compiled twins of the releases (privatizers.py, binary_mechanism.py): one user's statistics in, N̂ out.

Each kind of release is a NamedTuple of its state; `release` picks the code by that type when it is compiled.
"""

from typing import Any, NamedTuple

from numba.extending import overload

from dpucbvi.engine.compiled import OPTIONS, jit
from dpucbvi.engine.noise import laplace_from_word, next_words
from dpucbvi.mdp import Floats, Ints
from dpucbvi.noise import Words


class NonPrivateState(NamedTuple):
    """The true sums."""

    sum: Floats


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
    scale: float


class LocalState(NamedTuple):
    """The sum of what the users sent."""

    sum: Floats
    generator: Words
    words: Words  # scratch
    scale: float


@jit
def trailing_zeros(t: int) -> int:
    """The index of the lowest set bit of t > 0."""
    i = 0
    while not t >> i & 1:
        i += 1
    return i


@jit
def add(total: Floats, sigma: Floats, cells: Ints) -> None:
    """total += sigma, then sigma = 0; `cells` holds every place where sigma is not zero, some twice."""
    for i in range(cells.size):
        c = cells[i]
        total[c] += sigma[c]
        sigma[c] = 0.0


def release_non_private(state: NonPrivateState, t: int, sigma: Floats, cells: Ints, N_hat: Floats) -> None:
    add(state.sum, sigma, cells)
    for i in range(cells.size):
        N_hat[cells[i]] = state.sum[cells[i]]


def release_central(state: CentralState, t: int, sigma: Floats, cells: Ints, N_hat: Floats) -> None:
    """The Binary Mechanism's step t for every counter [Sec.5.1 (1), (3)]."""
    next_words(state.generator, state.words)
    closed = state.cumulative[trailing_zeros(t)]
    rest = t & (t - 1)
    if rest == 0:
        for c in range(N_hat.size):
            closed[c] = state.scale * laplace_from_word(state.words[c])
    else:
        above = state.cumulative[trailing_zeros(rest)]
        for c in range(N_hat.size):
            closed[c] = above[c] + state.scale * laplace_from_word(state.words[c])
    add(state.sum, sigma, cells)
    for c in range(N_hat.size):
        N_hat[c] = state.sum[c] + closed[c]


def release_local(state: LocalState, t: int, sigma: Floats, cells: Ints, N_hat: Floats) -> None:
    """The user perturbs every statistic, the server adds [Sec.5.2 (1)-(3)]."""
    next_words(state.generator, state.words)
    for c in range(N_hat.size):
        state.sum[c] += sigma[c] + state.scale * laplace_from_word(state.words[c])
        N_hat[c] = state.sum[c]
    for i in range(cells.size):
        sigma[cells[i]] = 0.0


RELEASES: dict[type, Any] = {
    NonPrivateState: release_non_private,
    CentralState: release_central,
    LocalState: release_local,
}


def release(state: Any, t: int, sigma: Floats, cells: Ints, N_hat: Floats) -> None:
    """Take user t, put the noisy counts of users 1..t into N_hat and empty sigma, non-zero at cells."""
    RELEASES[type(state)](state, t, sigma, cells, N_hat)


@overload(release, strict=False, jit_options=OPTIONS)
def _release(state: Any, t: Any, sigma: Any, cells: Any, N_hat: Any) -> Any:
    return RELEASES[state.instance_class]
