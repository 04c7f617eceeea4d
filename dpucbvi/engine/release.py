"""Compiled twins of the releases (privatizers.py, binary_mechanism.py): one user's statistics in, N̂ out.

Each kind of release is a NamedTuple of its state; `release` picks the code by that type when it is compiled.
"""

from typing import Any, NamedTuple

from numba.extending import overload

from dpucbvi.engine.compiled import OPTIONS, jit
from dpucbvi.engine.noise import laplace_from_word, next_words
from dpucbvi.mdp import Floats
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


def release_non_private(state: NonPrivateState, t: int, sigma: Floats, N_hat: Floats) -> None:
    for c in range(sigma.size):
        state.sum[c] += sigma[c]
        N_hat[c] = state.sum[c]


def release_central(state: CentralState, t: int, sigma: Floats, N_hat: Floats) -> None:
    """The Binary Mechanism's step t for every counter [Sec.5.1 (1), (3)]."""
    next_words(state.generator, state.words)
    closed = state.cumulative[trailing_zeros(t)]
    rest = t & (t - 1)
    if rest == 0:
        for c in range(sigma.size):
            closed[c] = state.scale * laplace_from_word(state.words[c])
    else:
        above = state.cumulative[trailing_zeros(rest)]
        for c in range(sigma.size):
            closed[c] = above[c] + state.scale * laplace_from_word(state.words[c])
    for c in range(sigma.size):
        state.sum[c] += sigma[c]
        N_hat[c] = state.sum[c] + closed[c]


def release_local(state: LocalState, t: int, sigma: Floats, N_hat: Floats) -> None:
    """The user perturbs every statistic, the server adds [Sec.5.2 (1)-(3)]."""
    next_words(state.generator, state.words)
    for c in range(sigma.size):
        state.sum[c] += sigma[c] + state.scale * laplace_from_word(state.words[c])
        N_hat[c] = state.sum[c]


RELEASES: dict[type, Any] = {
    NonPrivateState: release_non_private,
    CentralState: release_central,
    LocalState: release_local,
}


def release(state: Any, t: int, sigma: Floats, N_hat: Floats) -> None:
    """Take user t and put the noisy counts of users 1..t into N_hat."""
    RELEASES[type(state)](state, t, sigma, N_hat)


@overload(release, strict=False, jit_options=OPTIONS)
def _release(state: Any, t: Any, sigma: Any, N_hat: Any) -> Any:
    return RELEASES[state.instance_class]
