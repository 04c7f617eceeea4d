"""Compiled twin of OneQuestion (privatizers/one_question.py)."""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.counts import CENTRE
from dpucbvi.engine.coins import randomised_response, unit
from dpucbvi.engine.compiled import jit
from dpucbvi.engine.laplace import next_words
from dpucbvi.engine.releases.shared import only_actions, show
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_release
from dpucbvi.privatizers.coins import Coins, answer_odds
from dpucbvi.privatizers.laplace import Words, seed_stream
from dpucbvi.privatizers.one_question import WORDS, OneQuestion
from dpucbvi.protocol import Floats, Ints, Setup


class OneQuestionState(NamedTuple):
    """The server's tallies of answers, by row, and what one answer adds to an estimate."""

    where: Floats  # [row, S+1]
    earned: Floats  # [row, 3]
    asked: Floats  # [row]: where, in all
    N_hat: Floats  # [row] of the last release
    shown: Ints  # scratch
    released: Ints  # released[0]: how often
    ends: Ints
    generator: Words
    words: Words  # scratch
    transitions: float
    want: float
    p_where: float
    q_where: float
    p_earned: float
    factor_where: float
    factor_earned: float
    cell_sd: float


@jit
def question(state: OneQuestionState, u: float) -> int:
    """The row that is asked about: one of those shown, few counts first, each as likely."""
    shown, few = 0, 0
    for row in range(state.shown.size):
        shown += state.shown[row]
        few += state.shown[row] and state.N_hat[row] < state.want
    left = int(u * (few if few > 0 else shown))
    for row in range(state.shown.size):
        if state.shown[row] and (few == 0 or state.N_hat[row] < state.want):
            if left == 0:
                return row
            left -= 1
    return -1


@jit
def first_visit(memory: Memory, row: int, G: int, pairs: int, A: int) -> int:
    """The step of the first visit of the row; -1 if there is none."""
    for h in range(memory.a.size):
        if (h % G) * pairs + memory.s[h] * A + memory.a[h] == row:
            return h
    return -1


@jit
def estimate(state: OneQuestionState, private: Private) -> None:
    """N̂(s,a,s') and R̂(s,a) from the tallies."""
    S, rows = private.N_hat_sas.shape[0], state.asked.size
    for row in range(rows):
        state.N_hat[row] = 0.0
        for s in range(S):
            value = state.factor_where * (state.where[row, s] - state.q_where * state.asked[row])
            private.flat[(1 + s) * rows + row] = value
            state.N_hat[row] += value
        difference = CENTRE * (state.earned[row, 1] - state.earned[row, 0])
        private.flat[(1 + S) * rows + row] = state.factor_earned * difference
        private.sd[row] = state.cell_sd * math.sqrt(state.asked[row])


def release_one_question(state: OneQuestionState, t: int, memory: Memory, private: Private) -> bool:
    next_words(state.generator, state.words)
    state.shown[:] = 0
    show(memory.pi, private.N_sa, state.shown)
    row = question(state, unit(state.words[0]))
    (G, pairs), S = private.N_sa.shape, private.N_hat_sas.shape[0]
    h = first_visit(memory, row, G, pairs, pairs // S)
    u, v = unit(state.words[3]), unit(state.words[4])
    if unit(state.words[1]) < state.transitions:
        truth = S if h < 0 else memory.s[h + 1]
        state.where[row, randomised_response(truth, S + 1, state.p_where, u, v)] += 1.0
        state.asked[row] += 1.0
    else:
        truth = 2 if h < 0 else int(unit(state.words[2]) < memory.r[h])
        state.earned[row, randomised_response(truth, 3, state.p_earned, u, v)] += 1.0
    i = state.released[0]
    if i == state.ends.size or t != state.ends[i]:
        return False
    state.released[0] += 1
    estimate(state, private)
    return True


def start(setup: Setup, seed: int, size: int) -> OneQuestionState:
    privatizer, S = setup.privatizer, setup.problem.S
    assert isinstance(privatizer, OneQuestion)
    only_actions(setup, "one_question")
    rows = setup.G * S * setup.problem.A
    (p, q), (p_earned, _) = answer_odds(privatizer.epsilon, S + 1), answer_odds(privatizer.epsilon, 3)
    return OneQuestionState(
        np.zeros((rows, S + 1)),
        np.zeros((rows, 3)),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(rows, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        privatizer.ends(setup.problem),
        Coins(seed_stream(seed, "privacy")).state(),
        np.zeros(WORDS, dtype=np.uint64),
        privatizer.transitions,
        float(privatizer.want),
        p,
        q,
        p_earned,
        *privatizer.factors(S),
        privatizer.cell_sd(S),
    )


add_release(OneQuestion, OneQuestionState, release_one_question, start)
