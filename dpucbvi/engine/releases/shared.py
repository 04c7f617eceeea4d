"""What the releases share: a user's statistics (counts.statistics) and running sums."""

import math
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.counts import CENTRE, FAMILIES
from dpucbvi.engine.compiled import inlined, jit
from dpucbvi.engine.gaussian import fill_gaussian
from dpucbvi.engine.laplace import laplace_from_word, next_words
from dpucbvi.engine.state import Memory, Private
from dpucbvi.errors import InputError
from dpucbvi.privatizers.laplace import Words
from dpucbvi.privatizers.over_time import by_counter
from dpucbvi.protocol import Floats, Ints, Setup

LAPLACE_SD = math.sqrt(2.0)


class Features(NamedTuple):
    """Which statistics are taken of a user."""

    offset: int  # of the first released counter
    summed: bool
    centred: bool
    clip: int  # 0: none


def features(setup: Setup) -> Features:
    families = FAMILIES[setup.privatizer.families]
    offset = families.offset(setup.G, setup.problem.S, setup.problem.A)
    return Features(offset, families.summed, families.centred, getattr(setup.privatizer, "clip", None) or 0)


def scale_by_counter(setup: Setup, scales: Any) -> Floats:
    return by_counter(scales, setup.privatizer.families, *setup.problem.shape(setup.G))


def only_actions(setup: Setup, name: str) -> None:
    """Raise InputError for an agent whose policy is probabilities."""
    if getattr(setup.agent, "stochastic", False):
        raise InputError(f"privatizer: {name} takes policies that choose one action per state")


@jit
def statistics(f: Features, memory: Memory, private: Private) -> None:
    """σ of the user in memory; `cells` holds every place where it is not zero, some twice."""
    G, pairs = private.N_sa.shape
    D = private.N_hat_sas.shape[0]
    N_cells, A = G * pairs, pairs // memory.V.shape[1]
    for h in range(memory.a.size):
        pair = (h % G) * pairs + memory.s[h] * A + memory.a[h]
        r = memory.r[h] - CENTRE if f.centred else memory.r[h]
        one = 1.0
        if f.clip > 0:
            memory.seen[pair] += 1
            if memory.seen[pair] > f.clip:
                one = r = 0.0
        visit(memory, 3 * h, pair, 0.0 if f.summed else one)
        visit(
            memory, 3 * h + 1, N_cells * (1 + place_of(private.places.place, pair, memory.s[h + 1])) + pair, one
        )
        visit(memory, 3 * h + 2, N_cells * (1 + D) + pair, r)
    if f.clip > 0:
        memory.seen[:] = 0


@inlined
def place_of(place: Ints, pair: int, s: int) -> int:
    """Which of its pair's counters the next state has."""
    if place.ndim == 2:  # known when compiled: the other branch is left out
        return place[pair, s]
    else:
        return s


@inlined
def visit(memory: Memory, i: int, cell: int, amount: float) -> None:
    memory.cells[i] = cell
    memory.sigma[cell] += amount


@jit
def add_user(f: Features, total: Floats, memory: Memory, private: Private) -> None:
    """total += σ of the user in memory, which is emptied."""
    statistics(f, memory, private)
    for i in range(memory.cells.size):
        c = memory.cells[i]
        total[c] += memory.sigma[c]
        memory.sigma[c] = 0.0


@jit
def put(f: Features, total: Floats, noise: Floats, private: Private, sd: float) -> None:
    """N̂ = the sums plus noise, for every released counter, and what is known of the noise."""
    N_hat, true = private.flat[f.offset :], total[f.offset :]
    for c in range(noise.size):
        N_hat[c] = true[c] + noise[c]
    private.sd[:] = sd


@jit
def fill_laplace(generator: Words, words: Words, scale: Floats, out: Floats) -> None:
    """out = scale × standard Laplace variates, from the generator's next words."""
    next_words(generator, words)
    for c in range(out.size):
        out[c] = scale[c] * laplace_from_word(words[c])


@jit
def fill_normal(generator: Words, words: Words, scale: Floats, out: Floats) -> None:
    """out = scale × standard normal variates, from the generator's next words."""
    fill_gaussian(generator, words, out)
    for c in range(out.size):
        out[c] = scale[c] * out[c]


def normal_words(size: int) -> Words:
    """Room for the words of so many normal variates: two for every pair."""
    return np.zeros(2 * ((size + 1) // 2), dtype=np.uint64)


@jit
def trailing_zeros(t: int) -> int:
    """The index of the lowest set bit of t > 0."""
    i = 0
    while not t >> i & 1:
        i += 1
    return i


@jit
def set_bits(t: int) -> int:
    """How many bits of t are set."""
    n = 0
    while t:
        t &= t - 1
        n += 1
    return n


@jit
def close_block(cumulative: Floats, t: int, noise: Floats) -> Floats:
    """The noise of the release at t when its lowest block gets `noise`; cumulative[i] as in CentralState."""
    closed, rest = cumulative[trailing_zeros(t)], t & (t - 1)
    if rest == 0:
        for c in range(noise.size):
            closed[c] = noise[c]
    else:
        above = cumulative[trailing_zeros(rest)]
        for c in range(noise.size):
            closed[c] = above[c] + noise[c]
    return closed


@jit
def show(pi: Ints | Floats, N_sa: Floats, shown: Ints) -> None:
    """Mark the rows of N_sa that a user who follows the policy may visit (batches.shown_pairs)."""
    (G, pairs), (H, S) = N_sa.shape, pi.shape[:2]
    A = pairs // S
    for h in range(H):
        for s in range(S):
            row = (h % G) * pairs + s * A
            if pi.ndim == 2:  # known when compiled: the other branch is left out
                shown[row + pi[h, s]] = 1
            else:
                for a in range(A):
                    if pi[h, s, a] > 0.0:
                        shown[row + a] = 1
