"""LocalWindows: every user answers one question about a window of steps; windows decide how far to pool (LDP).

The windows and the tests between them are those of windows.py. The server names, publicly, a window w and a
pair (s,a) that the policy may visit there, and asks

    "where did you go after your first visit of (s,a) within w, and what did you earn there?"

The answer is one of 2S symbols or "no visit", given by randomised response as in one_question.py, which has the
proof and the estimate: exactly ε, because question and policy are made of public coins and earlier answers.

Which window: one of the present level, the first that is not split for all pairs; after `pooled` users, every
other one is asked about a level below it, level by level in turn (windows.finer_level). Within a level, rows
with fewer than `want` counts so far are asked about first. What is known of a window is added to the window
around it if that raises n²/(v + n/4).

A first visit is a stopping time: an answer is a sample of P(·|s,a) at some step of the window. No E of
Assumption 3.1 is proven. New counts are released after e users, e <- e + max(first, ⌊(growth - 1) e⌋).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpucbvi.errors import whole
from dpucbvi.privacy.certificate import Certificate, check_budget, nothing_released
from dpucbvi.privacy.draws import answer_odds, generator, next_words, randomised_response, unit
from dpucbvi.privacy.laplace import Words
from dpucbvi.privatizers.arrays import PRIVATIZERS, Arrays
from dpucbvi.privatizers.batches import batch_ends, ended
from dpucbvi.privatizers.one_question import answered_noise, check_simulated
from dpucbvi.privatizers.windows import (
    Levels,
    check_rule,
    check_steps,
    finer_level,
    hand_on,
    in_order,
    keep_row,
    no_levels,
)
from dpucbvi.protocol import Floats, Ints, Noise, Noisy, Problem, User

WORDS = 3  # of a user: which row, whether she is truthful, what else


class WindowQuestions(NamedTuple):
    """The tallies by window and pair, and the coins that choose questions and answers."""

    answers: Floats  # [window, answer, pair]
    asked: Floats  # [window, pair]
    levels: Levels
    present: Ints  # present[0]: the first level that is not split for all pairs
    closed: Ints
    ends: Ints
    generator: Words
    words: Words  # scratch
    open_rows: Ints  # scratch
    A: int
    pooled: int  # users
    want: float
    p: float
    q: float


def take(state: WindowQuestions, t: int, user: User, noisy: Noisy) -> bool:
    next_words(state.generator, state.words)
    level = state.present[0]  # 0 before anything is known
    if t > state.pooled and t % 2 == 0:
        level = finer_level(state.levels.tree, level, t // 2)
    window, pair = question(state, user.pi, level)
    cells = state.levels.Y.shape[1]
    h = first_visit(state, user, window, pair)
    truth = cells if h < 0 else user.place[h]
    u, v = unit(state.words[1]), unit(state.words[2])
    state.answers[window, randomised_response(truth, cells + 1, state.p, u, v), pair] += 1
    state.asked[window, pair] += 1
    if not ended(t, state.ends, state.closed):
        return False
    estimate(state)
    state.present[0] = hand_on(state.levels, noisy)
    return True


def question(state: WindowQuestions, pi: Ints, level: int) -> tuple[int, int]:
    """A window of the level and a pair that the policy may visit there, few counts first."""
    tree, pairs, S = state.levels.tree, state.asked.shape[1], pi.shape[1]
    begin, end = tree.start[level], tree.start[level + 1]
    state.open_rows[:] = 0
    shown = few = 0
    for window in range(begin, end):
        for h in range(tree.first[window], tree.last[window]):
            for s in range(S):
                pair = s * state.A + pi[h, s]
                if state.open_rows[window * pairs + pair] == 0:
                    wanted = in_order(state.levels.Y[window, :, pair]) < state.want
                    state.open_rows[window * pairs + pair] = 2 if wanted else 1
                    shown, few = shown + 1, few + int(wanted)
    i, least = int(unit(state.words[0]) * (few if few > 0 else shown)), 2 if few > 0 else 1
    for row in range(begin * pairs, end * pairs):
        i -= int(state.open_rows[row] >= least)
        if i < 0:
            return row // pairs, row % pairs
    return -1, -1


def first_visit(state: WindowQuestions, user: User, window: int, pair: int) -> int:
    """The step of the first visit of the pair within the window; -1 if there is none."""
    tree = state.levels.tree
    for h in range(tree.first[window], min(tree.last[window], user.a.size)):
        if user.s[h] * state.A + user.a[h] == pair:
            return h
    return -1


def estimate(state: WindowQuestions) -> None:
    """Counts and noise of every window from the tallies, fine to coarse."""
    Y, variance, tree, _ = state.levels
    factor = 1.0 / (state.p - state.q)
    for window in range(tree.first.size):
        for pair in range(state.asked.shape[1]):
            n = state.asked[window, pair]
            for d in range(Y.shape[1]):
                Y[window, d, pair] = factor * (state.answers[window, d, pair] - state.q * n)
            variance[window, pair] = factor**2 * state.q * (1.0 - state.q) * n
    for window in range(tree.first.size - 1, 0, -1):
        for pair in range(state.asked.shape[1]):
            keep_row(state.levels, tree.parent[window], pair, Y[window, :, pair], variance[window, pair])


# --- the privatizer -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LocalWindows(Arrays):
    """One answer per user about a window of steps; pure ε-LDP.

    Parameters
    ----------
    epsilon : float
        The budget of a user, under the neighbours that `sensitivity` names.
    first : int
        New counts are released after e users, e <- e + max(first, ⌊(growth - 1) e⌋).
    growth : float
        See `first`.
    pooled : int
        The first ⌈pooled/ε⌉ users are asked about all steps together.
    want : int
        Pairs with fewer answers in a window are asked about first.
    zero : float
        The tests set cells below this many standard deviations to 0.
    power : float
        A window is tested once its count is this many standard deviations of the noise of a cell.
    z : float
        A window differs from the one around it if a cell is off by this many standard deviations.
    tolerance : float
        Differences of probabilities up to this do not count for `z`.
    theta : float
        A whole level is split if more than this share of its tests find a difference.
    confidence_scale : float
        Multiplies E; 1 in the paper. It changes the agent's bonus, not the privacy.

    Raises
    ------
    InputError
        If a setting is out of range, or settings do not fit together.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> private = dp.certify(dp.LocalWindows(epsilon=1), H=20, S=6, A=2, K=50_000)
    >>> private.model, private.replace_one.epsilon <= 1
    ('LDP', True)
    """

    epsilon: float
    first: int = 100
    growth: float = 1.03
    pooled: int = 4500
    want: int = 1000
    zero: float = 3.0
    power: float = 5.0
    z: float = 4.0
    tolerance: float = 0.15
    theta: float = 0.1
    confidence_scale: float = 1.0

    take = staticmethod(take)
    model = "LDP"
    families = "symbols"
    one_action = True
    name = "local_windows"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, "replace_one", self.families, self.confidence_scale)
        check_simulated(self.epsilon)
        check_rule(self)
        whole("want", self.want, 0)

    def ends(self, problem: Problem) -> Ints:
        """After which users new counts are released."""
        return batch_ends(problem.K - 1, self.first, self.growth)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        """Hoeffding's bound, as if all users were asked about the same row."""
        check_steps(problem, G)
        p, q = answer_odds(self.epsilon, 2 * problem.S + 1)
        factor = 1.0 / (p - q)
        return answered_noise(self, problem, G, math.sqrt(q * (1.0 - q)) / (p - q), factor, factor)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        check_steps(problem, G)
        if problem.K == 1:
            return nothing_released(self.model)
        return Certificate(self.model, self.epsilon, self.epsilon)

    def start(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> WindowQuestions:
        D, levels = 2 * problem.S, no_levels(self, problem, 2 * problem.S, 1.0)
        n, pairs = levels.variance.shape
        return WindowQuestions(
            np.zeros((n, D + 1, pairs)),
            np.zeros((n, pairs)),
            levels,
            np.zeros(1, np.int64),
            np.zeros(1, np.int64),
            self.ends(problem),
            generator(seed),
            np.zeros(WORDS, np.uint64),
            np.zeros(n * pairs, np.int64),
            problem.A,
            self.pooled,
            float(self.want),
            *answer_odds(self.epsilon, D + 1),
        )


PRIVATIZERS.add("local_windows", LocalWindows)
