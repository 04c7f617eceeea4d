"""Users who answer at random: the server's tallies of their answers, and the estimates made of them.

There are two kinds of question, about the next state and about the reward, or one about both (symbols). An
answer x to one of n questions about a pair is tallied; where it is not the true one it has probability q, so
that a multiple of (tally of x) - q n has the mean of the number of users whose true answer is x. Simulated
coins have real probabilities (draws.py), exact ones do not need them (exact.py), and only the tallies are
integers.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.confidence import SHARE, bound_to_E
from dpucbvi.counts import CENTRE, counters, shape_of
from dpucbvi.elementary import log
from dpucbvi.errors import InputError, check_number, whole
from dpucbvi.privacy.certificate import check_budget
from dpucbvi.privacy.exact import LARGEST
from dpucbvi.privacy.words import Words
from dpucbvi.privatizers.arrays import Arrays
from dpucbvi.privatizers.batches import batch_ends, ended
from dpucbvi.privatizers.release_mode import SHARES, ExactAnswers, exact_budget
from dpucbvi.protocol import Floats, Ints, Noise, Noisy, Problem

MOST_SIMULATED = 36.0  # the true answer has the probability 1 - 2e^-36 then, and a float below 1 for it


class Tallies(NamedTuple):
    """The server's tallies by row (g, s, a), and what one answer adds to an estimate."""

    moved: np.ndarray  # [row, answer]: next states, or symbols
    earned: np.ndarray  # [row, answer]: rewards 0 and 1; no answers where symbols are asked for
    asked: np.ndarray  # [row]: questions about the next state
    N_hat: Floats  # [row] of the last release
    ends: Ints  # after which users there is a release
    released: Ints  # released[0]: how often
    q: float
    factor_moved: float
    factor_earned: float
    cell_sd: float

    def seek(self, users: int) -> None:
        self.released[0] = np.searchsorted(self.ends, users, side="right")


def released(tallies: Tallies, cells: int, t: int, noisy: Noisy) -> bool:
    """Whether counts are released after user t; if so, the cells and centred R̂(s,a) from the tallies."""
    if not ended(t, tallies.ends, tallies.released):
        return False
    rows = tallies.asked.size
    for row in range(rows):
        tallies.N_hat[row] = 0.0
        for cell in range(cells):
            value = tallies.factor_moved * (tallies.moved[row, cell] - tallies.q * tallies.asked[row])
            noisy.counts[(1 + cell) * rows + row] = value
            tallies.N_hat[row] += value
        if tallies.earned.shape[1] > 0:
            difference = CENTRE * (tallies.earned[row, 1] - tallies.earned[row, 0])
            noisy.counts[(1 + cells) * rows + row] = tallies.factor_earned * difference
        noisy.sd[row] = tallies.cell_sd * math.sqrt(tallies.asked[row])
    return True


def check_simulated(epsilon: float) -> None:
    """Raise InputError for a budget that simulated coins do not have."""
    if not 1.0 / LARGEST <= epsilon <= MOST_SIMULATED:
        raise InputError(
            f"epsilon: {epsilon:g} is not accepted; simulated answers take 2^-30 to {MOST_SIMULATED:g}, "
            "above which their coins are certain (exact ones are not)"
        )


def hoeffding(problem: Problem, G: int, families: str) -> float:
    """A bound on all counters at once whose sums have K - 1 steps of width 1 (Hoeffding and Doob)."""
    failure = problem.beta / SHARE / counters(*shape_of(problem, G, families))
    return math.sqrt((problem.K - 1) * log(2.0 / failure) / 2.0)


def answered_noise(problem: Problem, factor: float, sd: float, cell: float, row: float, reward: float) -> Noise:
    """The noise of answers, each of which adds `sd` to a cell; E is made of these bounds, and not proven."""
    E = factor * bound_to_E(problem.S, True, cell, row, reward)
    most = sd * math.sqrt(problem.K - 1)
    return Noise(sd, E, problem.K, factor=factor, cell=cell, sd=most, proven=False)


class Answers(Arrays, ExactAnswers):
    """A privatizer whose users answer one question each, pure ε-LDP.

    `transitions`: the share of questions about the next state. `first` and `growth`: counts are released after
    e users, e <- e + max(first, ⌊(growth - 1) e⌋).
    """

    epsilon: float
    transitions: float
    first: int
    growth: float
    confidence_scale: float

    model = "LDP"
    families = "tuned"
    one_action = True
    name: str

    def __post_init__(self) -> None:
        check_budget(self.epsilon, "replace_one", self.families, self.confidence_scale)
        if not self.exact:
            check_simulated(self.epsilon)
        check_number("transitions", self.transitions, lambda share: 0.0 < share < 1.0, "a number in (0, 1)")
        whole("first", self.first, 1)
        check_number("growth", self.growth, lambda growth: growth >= 1.0, "a number >= 1")
        self.check_mode()

    def ends(self, problem: Problem) -> Ints:
        """After which users new counts are released."""
        return batch_ends(problem.K - 1, self.first, self.growth)

    def tallies(
        self, problem: Problem, G: int, answers: tuple[int, int], q: float, factors: tuple[float, float]
    ) -> Tallies:
        """Empty ones, for so many answers to either kind of question."""
        dtype = np.int64 if self.exact else np.float64
        rows = G * problem.S * problem.A
        moved, earned = (np.zeros((rows, d), dtype) for d in answers)
        sd = factors[0] * math.sqrt(q * (1.0 - q))
        ends, count = self.ends(problem), np.zeros(1, np.int64)
        return Tallies(moved, earned, np.zeros(rows, dtype), np.zeros(rows), ends, count, q, *factors, sd)

    def exactly(self, tallied: Any, seed: np.random.SeedSequence) -> "ExactlyAnswered":
        """The state with exact coins in the place of seeded ones."""
        budget = exact_budget(self.epsilon)
        words, share = Words._make(self.words.start(seed)), round(self.share * SHARES)
        return ExactlyAnswered(tallied, words, budget.numerator, budget.denominator, share)


class ExactlyAnswered(NamedTuple):
    """A state with exact coins: words, ε = n/m, and the share of the first kind of question in 1/SHARES."""

    inner: Any
    words: Words
    n: int
    m: int
    share: int
