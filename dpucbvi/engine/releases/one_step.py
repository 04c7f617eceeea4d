"""Compiled twin of OneStep (privatizers/one_step.py)."""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.counts import CENTRE
from dpucbvi.engine.coins import unit
from dpucbvi.engine.compiled import jit
from dpucbvi.engine.laplace import next_words
from dpucbvi.engine.releases.shared import only_actions
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers.coins import Coins
from dpucbvi.privatizers.laplace import Words, seed_stream
from dpucbvi.privatizers.one_step import COINS, HOT, OneStep
from dpucbvi.protocol import Floats, Ints, Setup


class OneStepState(NamedTuple):
    """The server's tallies of bits, by row, and what one bit adds to an estimate."""

    moved: Floats  # [row, s']
    earned: Floats  # [row, 0 or 1]
    asked: Floats  # [row]: reports on the next state
    released: Ints  # released[0]: how often
    ends: Ints
    generator: Words
    coins: Words  # scratch
    bits_moved: Words  # scratch
    bits_earned: Words  # scratch
    transitions: float
    q: float
    factor_moved: float
    factor_earned: float
    cell_sd: float


@jit
def send(
    state: OneStepState, bits: Words, tally: Floats, row: int, A: int, pi: Ints, s_hot: int, hot: int
) -> None:
    """The user's bits for every (s, x), into the rows of the pairs (s, π_h(s)); row is that of (0, 0)."""
    next_words(state.generator, bits)
    width = tally.shape[1]
    for s in range(pi.size):
        for x in range(width):
            chance = HOT if s == s_hot and x == hot else state.q
            if unit(bits[s * width + x]) < chance:
                tally[row + s * A + pi[s], x] += 1.0


@jit
def estimate(state: OneStepState, private: Private) -> None:
    """N̂(s,a,s') and R̂(s,a) from the tallies."""
    S, rows = private.N_hat_sas.shape[0], state.asked.size
    for row in range(rows):
        for s in range(S):
            value = state.factor_moved * (state.moved[row, s] - state.q * state.asked[row])
            private.flat[(1 + s) * rows + row] = value
        difference = CENTRE * (state.earned[row, 1] - state.earned[row, 0])
        private.flat[(1 + S) * rows + row] = state.factor_earned * difference
        private.sd[row] = state.cell_sd * math.sqrt(state.asked[row])


def release_one_step(state: OneStepState, t: int, memory: Memory, private: Private) -> bool:
    next_words(state.generator, state.coins)
    (G, pairs), S = private.N_sa.shape, private.N_hat_sas.shape[0]
    A = pairs // S
    h = int(unit(state.coins[0]) * memory.a.size)
    row, pi, s = (h % G) * pairs, memory.pi[h], memory.s[h]
    if unit(state.coins[1]) < state.transitions:
        send(state, state.bits_moved, state.moved, row, A, pi, s, memory.s[h + 1])
        for x in range(S):
            state.asked[row + x * A + pi[x]] += 1.0
    else:
        hot = int(unit(state.coins[2]) < memory.r[h])
        send(state, state.bits_earned, state.earned, row, A, pi, s, hot)
    i = state.released[0]
    if i == state.ends.size or t != state.ends[i]:
        return False
    state.released[0] += 1
    estimate(state, private)
    return True


def start(setup: Setup, seed: int, size: int) -> OneStepState:
    privatizer, S = setup.privatizer, setup.problem.S
    assert isinstance(privatizer, OneStep)
    only_actions(setup, "one_step")
    rows = setup.G * S * setup.problem.A
    return OneStepState(
        np.zeros((rows, S)),
        np.zeros((rows, 2)),
        np.zeros(rows),
        np.zeros(1, dtype=np.int64),
        privatizer.ends(setup.problem),
        Coins(seed_stream(seed, "privacy")).state(),
        np.zeros(COINS, dtype=np.uint64),
        np.zeros(S * S, dtype=np.uint64),
        np.zeros(2 * S, dtype=np.uint64),
        privatizer.transitions,
        privatizer.cold(),
        *privatizer.factors(setup.problem.H),
        privatizer.cell_sd(setup.problem.H),
    )


add_release(OneStep, OneStepState, release_one_step, start)
