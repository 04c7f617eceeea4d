"""OneStep: every user reports one random step of hers by optimised unary encoding (LDP).

The step h is drawn uniformly and publicly, and one of two kinds of report:

    with probability `transitions`   which (s_h, s_{h+1})           S² bits, one of them hot
    else                             which (s_h, reward 0 or 1)     2S bits, one of them hot

the action is π_h(s), which is public; a reward in [0,1] is rounded to 0 or 1 at random, with its own mean. Each
bit is sent by itself: a hot one as 1 with probability ½, a cold one with q = 1/(e^ε + 1) (Wang et al., 2017).

Privacy, exactly ε: two users differ in which bit is hot, so in two bits, and the probabilities of a report in
these have a ratio of at most (½/q)·((1 - q)/½) = e^ε. Against a user who is not there (no hot bit) it is (1 +
e^ε)/2.

Estimates. (bit - q)/(½ - q) has mean 1 if hot and 0 if cold; times H/share it estimates a user's visits. Noise
of a cell with no visits: variance q(1-q)/(½-q)² (H/share)² for every report on its pair.

E bounds the noise of what is released, by Hoeffding; the counts lag between releases (as in one_question.py),
so that Assumption 3.1 is not claimed.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpucbvi.elementary import exp, expm1, log1p
from dpucbvi.privacy.accounting import MARGIN
from dpucbvi.privacy.certificate import Certificate, nothing_released
from dpucbvi.privacy.draws import generator, next_words, unit
from dpucbvi.privacy.exact import response, uniform_below
from dpucbvi.privacy.laplace import Words
from dpucbvi.privatizers.answers import Answers, ExactlyAnswered, Tallies, answered_noise, hoeffding, released
from dpucbvi.privatizers.arrays import PRIVATIZERS
from dpucbvi.privatizers.release_mode import SHARES, to_grid
from dpucbvi.protocol import Noise, Noisy, Problem, User

HOT = 0.5  # the chance that a hot bit is sent as 1
COINS = 3  # which step, which kind, the rounding of the reward; then one word for every bit

# --- the release ----------------------------------------------------------------------------------------------


class Reports(NamedTuple):
    """The tallies, and the coins that choose steps and bits."""

    tallies: Tallies
    generator: Words
    coins: Words  # scratch
    bits_moved: Words  # scratch
    bits_earned: Words  # scratch
    G: int
    S: int
    A: int
    transitions: float


def take(state: Reports, t: int, user: User, noisy: Noisy) -> bool:
    next_words(state.generator, state.coins)
    h = int(unit(state.coins[0]) * len(user.pi))
    row = (h % state.G) * state.S * state.A
    if unit(state.coins[1]) < state.transitions:
        send(state, state.bits_moved, state.tallies.moved, row, user, h, next_place(user, h))
        ask(state, row, user, h)
    else:
        rounded = int(unit(state.coins[2]) < reward(user, h))
        send(state, state.bits_earned, state.tallies.earned, row, user, h, rounded)
    return released(state.tallies, state.S, t, noisy)


def send(state: Reports, bits: Words, tally: np.ndarray, row: int, user: User, h: int, hot: int) -> None:
    """The user's bits for every (s, x), into the rows of the pairs (s, π_h(s)); row is that of (0, 0)."""
    next_words(state.generator, bits)
    width = tally.shape[1]
    for s in range(state.S):
        for x in range(width):
            chance = HOT if is_hot(user, h, s) and x == hot else state.tallies.q
            if unit(bits[s * width + x]) < chance:
                tally[row + s * state.A + user.pi[h, s], x] += 1


def exact_take(state: ExactlyAnswered, t: int, user: User, noisy: Noisy) -> bool:
    """`take` with exact coins."""
    reports, words = state.inner, state.words
    h = uniform_below(len(user.pi), words)
    row = (h % reports.G) * reports.S * reports.A
    if uniform_below(SHARES, words) < state.share:
        send_exactly(state, reports.tallies.moved, row, user, h, next_place(user, h))
        ask(reports, row, user, h)
    else:
        send_exactly(state, reports.tallies.earned, row, user, h, to_grid(reward(user, h), 1, words))
    return released(reports.tallies, reports.S, t, noisy)


def send_exactly(state: ExactlyAnswered, tally: np.ndarray, row: int, user: User, h: int, hot: int) -> None:
    """`send` with exact coins."""
    S, A, width = state.inner.S, state.inner.A, tally.shape[1]
    for s in range(S):
        for x in range(width):
            if is_hot(user, h, s) and x == hot:
                sent = uniform_below(2, state.words)
            else:
                sent = response(0, 2, state.n, state.m, state.words)
            tally[row + s * A + user.pi[h, s], x] += sent


def ask(state: Reports, row: int, user: User, h: int) -> None:
    """One report on the next state more for every pair (s, π_h(s))."""
    for s in range(state.S):
        state.tallies.asked[row + s * state.A + user.pi[h, s]] += 1


def is_hot(user: User, h: int, s: int) -> bool:
    """Whether she was in s at step h; nowhere, if she has not so many steps."""
    return h < user.a.size and user.s[h] == s


def next_place(user: User, h: int) -> int:
    return user.place[h] if h < user.a.size else 0


def reward(user: User, h: int) -> float:
    return user.r[h] if h < user.a.size else 0.0


# --- the privatizer -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OneStep(Answers):
    """Each user reports noisy bits of one random step; pure ε-LDP.

    Parameters
    ----------
    epsilon : float
        The budget of a user, under the neighbours that `sensitivity` names.
    transitions : float
        The share of reports on the next state; the others are on the reward.
    first : int
        New counts are released after e users, e <- e + max(first, ⌊(growth - 1) e⌋).
    growth : float
        See `first`.
    confidence_scale : float
        Multiplies E; 1 in the paper. It changes the agent's bonus, not the privacy.
    noise : str
        `simulation`: seeded floating point, which protects nobody. `exact`: integers for publication.
    words : type
        The source of random words for exact noise: the operating system, except in tests.

    Raises
    ------
    InputError
        If a setting is out of range, or settings do not fit together.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> private = dp.certify(dp.OneStep(epsilon=1), H=20, S=6, A=2, K=50_000)
    >>> private.model, private.replace_one.epsilon <= 1
    ('LDP', True)
    """

    epsilon: float
    transitions: float = 0.75
    first: int = 100
    growth: float = 1.03
    confidence_scale: float = 1.0

    take = staticmethod(take)
    exact_take = staticmethod(exact_take)
    name = "one_step"

    def cold(self) -> float:
        """q: the chance that a cold bit is sent as 1."""
        away = exp(-self.budget)
        return away / (1.0 + away)

    def factors(self, H: int) -> tuple[float, float]:
        """H/((½ - q) share) of the two kinds: what one bit adds to an estimate."""
        each = H / (HOT - self.cold())
        return each / self.share, each / (1.0 - self.share)

    def cell_sd(self, H: int) -> float:
        """The standard deviation that one report adds to each cold cell of its pair."""
        q = self.cold()
        return self.factors(H)[0] * math.sqrt(q * (1.0 - q))

    def noise_of(self, problem: Problem, G: int) -> Noise:
        (a, b), sd = self.factors(problem.H), self.cell_sd(problem.H)
        spread = hoeffding(problem, G, self.families)
        most = 1.0 if G > 1 else float(problem.H)  # what a user truly adds to a count
        cell, row, earned = (a + most) * spread, (problem.S * a + most) * spread, (b + most) * spread
        return answered_noise(problem, self.confidence_scale, sd, cell, row, earned)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        if problem.K == 1:  # else users report, whether or not counts are ever released
            return nothing_released(self.model)
        # ln((1 + e^ε)/2), written so that no ε overflows
        apart = self.budget + log1p(expm1(-self.budget) / 2.0)
        if self.exact:
            apart = min(apart * (1.0 + MARGIN), self.budget)  # for its roundings
        return Certificate(self.model, apart, self.budget, noise=self.kind)

    def start(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Reports | ExactlyAnswered:
        S, A = problem.S, problem.A
        tallies = self.tallies(problem, G, (S, 2), self.cold(), self.factors(problem.H))
        coins, moved, earned = (np.zeros(n, np.uint64) for n in (COINS, S * S, 2 * S))
        reports = Reports(tallies, generator(seed), coins, moved, earned, G, S, A, self.transitions)
        return self.exactly(reports, seed) if self.exact else reports


PRIVATIZERS.add("one_step", OneStep)
