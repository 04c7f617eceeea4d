"""OneQuestion: the server asks every user one question, she answers by randomised response (LDP).

The server names, publicly, one pair (g,s,a) among those that the policy may visit, and one of two kinds of
question:

    with probability `transitions`   "where did you go after your first visit of (s,a)?"   S+1 answers
    else                             "what did you earn there?"                             3 answers: 0, 1, no
    visit

With `symbols` there is one kind, "where did you go after your first visit of (s,a), and what did you
earn there?", with 2S+1 answers. A reward in [0,1] is first rounded to 0 or 1 at random, with its own mean; "no
visit" is an answer too. Of d answers the user gives the true one with probability p = e^ε/(e^ε + d - 1) and
each other one with q = 1/(e^ε + d - 1).

Privacy, exactly ε: question and kind do not depend on the user, there is one answer, and any two true answers
give it with probabilities in a ratio of at most p/q = e^ε. A user who is not there counts as one without a
visit.

Estimates. With n users asked where and n(x) of them answering x, (n(x) - q n)/(p - q) has the mean of the
number whose true answer is x; divided by the share of the kind it estimates that number among all users asked
about the pair. A first visit is a stopping time, so in a stationary MDP (or with counts per step) the answer is
a sample of P(·|s,a). The noise of a cell with no true answers has variance n q(1 - q)/((p - q) share)².

These are counts of users asked, at most one each, not the visits N of Assumption 3.1: no E is proven for them.
`noise_of` gives Hoeffding's bound on the estimates. New counts are released, and the server plans, after e
users, e <- e + max(first, ⌊(growth - 1) e⌋). Pairs with fewer than `want` counts so far are asked about first.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.confidence import SHARE, bound_to_E
from dpucbvi.counts import CENTRE, FAMILIES, counters, shape_of
from dpucbvi.elementary import log
from dpucbvi.errors import InputError, check_flag, check_number, whole
from dpucbvi.privacy.accounting import round_down_to
from dpucbvi.privacy.certificate import RELEASE, SIMULATION, Certificate, check_budget, nothing_released
from dpucbvi.privacy.draws import answer_odds, generator, next_words, randomised_response, unit
from dpucbvi.privacy.exact import LARGEST, response, uniform_below
from dpucbvi.privacy.laplace import Words as Words64
from dpucbvi.privacy.words import Stream, Words
from dpucbvi.privatizers.arrays import PRIVATIZERS, Arrays, ReleaseMode, to_grid
from dpucbvi.privatizers.batches import batch_ends, check_growth, ended, show
from dpucbvi.protocol import Floats, Ints, Noise, Noisy, Problem, User

MOST_SIMULATED = 36.0  # the true answer has the probability 1 - 2e^-36 then, and a float below 1 for it
SHARES = 2**30  # in which the exact coin between the two kinds of question counts
WORDS = 5  # of a user: which pair, which kind, the rounding of the reward, whether she is truthful, what else

# --- the release ----------------------------------------------------------------------------------------------


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


class Questions(NamedTuple):
    """The tallies, and the coins that choose questions and answers."""

    tallies: Tallies
    generator: Words64
    words: Words64  # scratch
    shown: Ints  # scratch
    G: int
    S: int
    A: int
    cells: int  # S, or 2S if symbols are asked for
    transitions: float
    want: float
    p_moved: float
    p_earned: float


class ExactlyAnswered(NamedTuple):
    """A state with exact coins: words, ε = n/m, and the share of the first kind of question in 1/SHARES."""

    inner: Questions
    words: Words
    n: int
    m: int
    share: int


def take(state: Questions, t: int, user: User, noisy: Noisy) -> bool:
    next_words(state.generator, state.words)
    n = may_ask(state, user.pi)
    row = question(state, int(unit(state.words[0]) * n))
    h = first_visit(user, row, state.G, state.S, state.A)
    u, v = unit(state.words[3]), unit(state.words[4])
    if unit(state.words[1]) < state.transitions:
        truth = state.cells if h < 0 else user.place[h]
        state.tallies.moved[row, randomised_response(truth, state.cells + 1, state.p_moved, u, v)] += 1
        state.tallies.asked[row] += 1
    else:
        truth = 2 if h < 0 else int(unit(state.words[2]) < user.r[h])
        state.tallies.earned[row, randomised_response(truth, 3, state.p_earned, u, v)] += 1
    return released(state.tallies, state.cells, t, noisy)


def exact_take(state: ExactlyAnswered, t: int, user: User, noisy: Noisy) -> bool:
    """`take` with exact coins."""
    asked, words = state.inner, state.words
    row = question(asked, uniform_below(may_ask(asked, user.pi), words))
    h = first_visit(user, row, asked.G, asked.S, asked.A)
    if uniform_below(SHARES, words) < state.share:
        asked.tallies.moved[row, answer(user, h, asked.cells, state.n, state.m, words)] += 1
        asked.tallies.asked[row] += 1
    else:
        asked.tallies.earned[row, answer(user, h, 0, state.n, state.m, words)] += 1
    return released(asked.tallies, asked.cells, t, noisy)


def answer(user: User, h: int, cells: int, n: int, m: int, words: Stream) -> int:
    """The exact answer about step h, or "no visit" if h < 0: one of the cells, or, if none, what was earned."""
    if cells > 0:
        return response(cells if h < 0 else user.place[h], cells + 1, n, m, words)
    return response(2 if h < 0 else to_grid(user.r[h], 1, words), 3, n, m, words)


def may_ask(state: Questions, pi: np.ndarray) -> int:
    """Mark the rows that may be asked about, those the policy may visit, few counts first; returns how many."""
    state.shown[:] = 0
    show(pi, state.G, state.A, state.shown)
    shown, few = 0, 0
    for row in range(state.shown.size):
        shown += state.shown[row]
        few += state.shown[row] and state.tallies.N_hat[row] < state.want
    if few == 0:
        return shown
    for row in range(state.shown.size):
        if state.tallies.N_hat[row] >= state.want:
            state.shown[row] = 0
    return few


def question(state: Questions, i: int) -> int:
    """The i-th of the rows that may be asked about."""
    for row in range(state.shown.size):
        i -= state.shown[row]
        if i < 0:
            return row
    return -1


def first_visit(user: User, row: int, G: int, S: int, A: int) -> int:
    """The step of the first visit of the row; -1 if there is none."""
    for h in range(user.a.size):
        if (h % G) * S * A + user.s[h] * A + user.a[h] == row:
            return h
    return -1


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


# --- how large its noise is ---------------------------------------------------------------------------------


def check_simulated(epsilon: float) -> None:
    """Raise InputError for a budget that simulated coins do not have."""
    if not 1.0 / LARGEST <= epsilon <= MOST_SIMULATED:
        raise InputError(
            f"epsilon: {epsilon:g} is not accepted; simulated answers take 2^-30 to {MOST_SIMULATED:g}, "
            "above which their coins are certain (exact ones are not)"
        )


def answered_noise(privatizer: Any, problem: Problem, G: int, sd: float, cell: float, reward: float) -> Noise:
    """The noise of answers, each of which adds `sd` to a cell, at most `cell`, or at most `reward` to a reward.

    E is not proven. It is made of a bound on all counters at once whose sums have K - 1 steps of width 1, by
    Hoeffding and Doob, for answers and true counts.
    """
    failure = problem.beta / SHARE / counters(*shape_of(problem, G, privatizer.families))
    spread = math.sqrt((problem.K - 1) * log(2.0 / failure) / 2.0)
    cell, reward, factor = (cell + 1.0) * spread, (reward + 1.0) * spread, privatizer.confidence_scale
    E = factor * bound_to_E(problem.S, True, cell, cell, reward)
    most = sd * math.sqrt(problem.K - 1)
    return Noise(sd, E, problem.K, factor=factor, cell=cell, sd=most, proven=False)


def exact_budget(epsilon: float) -> Fraction:
    """ε of random answers, rounded down to what the coins take."""
    if not 1.0 / LARGEST <= epsilon <= LARGEST:
        raise InputError(f"epsilon: {epsilon:g} is not accepted; exact answers take 2^-30 to 2^30")
    return round_down_to(Fraction(float(epsilon)), LARGEST)


# --- the privatizer -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OneQuestion(Arrays, ReleaseMode):
    """Each user answers one question about one pair, at random; pure ε-LDP.

    Parameters
    ----------
    epsilon : float
        The budget of a user, under the neighbours that `sensitivity` names.
    transitions : float
        The share of questions about the next state; `symbols` does not use it.
    want : int
        Pairs with fewer answers are asked about first.
    first : int
        New counts are released after e users, e <- e + max(first, ⌊(growth - 1) e⌋).
    growth : float
        See `first`.
    confidence_scale : float
        Multiplies E; 1 in the paper. It changes the agent's bonus, not the privacy.
    symbols : bool
        Ask for the next state and the rounded reward as one symbol.
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
    >>> private = dp.certify(dp.OneQuestion(epsilon=1), H=20, S=6, A=2, K=50_000)
    >>> private.model, private.replace_one.epsilon <= 1
    ('LDP', True)
    """

    epsilon: float
    transitions: float = 0.8
    want: int = 1000
    first: int = 100
    growth: float = 1.03
    confidence_scale: float = 1.0
    symbols: bool = False

    take = staticmethod(take)
    exact_take = staticmethod(exact_take)
    model = "LDP"
    one_action = True
    name = "one_question"

    def __post_init__(self) -> None:
        check_flag("symbols", self.symbols)
        check_budget(self.epsilon, "replace_one", self.families, self.confidence_scale)
        if not self.exact:
            check_simulated(self.epsilon)
        check_number("transitions", self.transitions, lambda share: 0.0 < share < 1.0, "a number in (0, 1)")
        check_growth(self)
        self.check_mode()
        whole("want", self.want, 0)

    @property
    def families(self) -> str:  # type: ignore[override]
        return "symbols" if self.symbols else "tuned"

    @property
    def budget(self) -> float:
        """ε, or the fraction just below it that exact coins take; a float has that exactly."""
        return float(exact_budget(self.epsilon)) if self.exact else self.epsilon

    @property
    def share(self) -> float:
        """Of questions about the next state; exact coins take multiples of 1/SHARES."""
        if self.symbols or not self.exact:
            return 1.0 if self.symbols else self.transitions
        units = round(Fraction(float(self.transitions)) * SHARES)
        if not 0 < units < SHARES:
            raise InputError(
                f"transitions: {self.transitions:g} is not accepted; exact coins take 2^-30 to 1 - 2^-30"
            )
        return units / SHARES

    def ends(self, problem: Problem) -> Ints:
        """After which users new counts are released."""
        return batch_ends(problem.K - 1, self.first, self.growth)

    def answers(self, S: int) -> tuple[int, int]:
        """How many answers the two kinds of question have; none for a kind that is not asked."""
        return FAMILIES[self.families].cells(S) + 1, 0 if self.symbols else 3

    def factors(self, S: int) -> tuple[float, float]:
        """1/((p - q) share) of the two kinds: what one answer adds to an estimate."""
        (p, q), (p_r, q_r) = answer_odds(self.budget, self.answers(S)[0]), answer_odds(self.budget, 3)
        return 1.0 / ((p - q) * self.share), 0.0 if self.symbols else 1.0 / ((p_r - q_r) * (1.0 - self.share))

    def cell_sd(self, S: int) -> float:
        """The standard deviation that one user asked where adds to a cell of her pair."""
        _, q = answer_odds(self.budget, self.answers(S)[0])
        return self.factors(S)[0] * math.sqrt(q * (1.0 - q))

    def noise_of(self, problem: Problem, G: int) -> Noise:
        cell, reward = self.factors(problem.S)
        return answered_noise(self, problem, G, self.cell_sd(problem.S), cell, cell if self.symbols else reward)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        if problem.K == 1:  # else users answer, whether or not counts are ever released
            return nothing_released(self.model)
        kind = RELEASE if self.exact and not self.words.seeded else SIMULATION
        return Certificate(self.model, self.budget, self.budget, noise=kind)

    def start(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Questions | ExactlyAnswered:
        S, A, answers = problem.S, problem.A, self.answers(problem.S)
        (p, q), (p_earned, _) = answer_odds(self.budget, answers[0]), answer_odds(self.budget, 3)
        rows, dtype = G * S * A, np.int64 if self.exact else np.float64
        moved, earned = (np.zeros((rows, d), dtype) for d in answers)
        ends, count = self.ends(problem), np.zeros(1, np.int64)
        estimates = (q, *self.factors(S), self.cell_sd(S))
        tallies = Tallies(moved, earned, np.zeros(rows, dtype), np.zeros(rows), ends, count, *estimates)
        words, shown, sizes = np.zeros(WORDS, np.uint64), np.zeros(rows, np.int64), (G, S, A, answers[0] - 1)
        state = Questions(
            tallies, generator(seed), words, shown, *sizes, self.share, float(self.want), p, p_earned
        )
        if not self.exact:
            return state
        budget, coins = exact_budget(self.epsilon), Words._make(self.words(seed))
        return ExactlyAnswered(state, coins, budget.numerator, budget.denominator, round(self.share * SHARES))


PRIVATIZERS.add("one_question", OneQuestion)
