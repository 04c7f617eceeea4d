"""OneQuestion: the server asks every user one question, she answers by randomised response (LDP).

The server names, publicly, one pair (g,s,a) among those that the policy may visit, and one of two kinds of
question:

    with probability `transitions`   "where did you go after your first visit of (s,a)?"   S+1 answers
    else                             "what did you earn there?"                             3 answers: 0, 1, no
    visit

A reward in [0,1] is first rounded to 0 or 1 at random, with its own mean; "no visit" is an answer too. Of d
answers the user gives the true one with probability p = e^ε/(e^ε + d - 1) and each other one with q = 1/(e^ε +
d - 1).

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

import numpy as np

from dpucbvi.confidence import SHARE, bound_to_E
from dpucbvi.counts import CENTRE, counters, on_grid
from dpucbvi.errors import InputError, check_number, whole
from dpucbvi.mdp import Trajectory
from dpucbvi.privatizers.batches import batch_ends, shown_pairs
from dpucbvi.privatizers.certificate import Certificate, check_budget, nothing_released
from dpucbvi.privatizers.coins import Coins, answer_odds, randomised_response, unit
from dpucbvi.privatizers.exact import ExactCoins
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.release_mode import (
    GRIDS,
    PLAIN,
    SHARES,
    ExactAnswers,
    Samplers,
    exact_share,
)
from dpucbvi.protocol import Floats, Ints, Noise, Problem, User

WORDS = 5  # of a user: which pair, which kind, the rounding of the reward, whether she is truthful, what else


@dataclass(frozen=True)
class OneQuestion(ExactAnswers):
    """One answer per user, pure ε-LDP.

    `transitions`: the share of questions about the next state. `want`, `first`, `growth`: see above.
    `noise="exact"` is for publication (release_mode.py).
    """

    epsilon: float
    transitions: float = 0.8
    want: int = 1000
    first: int = 100
    growth: float = 1.03
    confidence_scale: float = 1.0

    model = "LDP"
    families = "tuned"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, "replace_one", self.families, self.confidence_scale)
        check_number("transitions", self.transitions, lambda share: 0.0 < share < 1.0, "a number in (0, 1)")
        whole("want", self.want, 0)
        whole("first", self.first, 1)
        check_number("growth", self.growth, lambda growth: growth >= 1.0, "a number >= 1")
        self.check_mode()

    def ends(self, problem: Problem) -> Ints:
        """After which users new counts are released."""
        return batch_ends(problem.K - 1, self.first, self.growth)

    def factors(self, S: int) -> tuple[float, float]:
        """1/((p - q) share) of the two kinds: what one answer adds to an estimate."""
        (p, q), (p_r, q_r) = answer_odds(self.budget, S + 1), answer_odds(self.budget, 3)
        return 1.0 / ((p - q) * self.share), 1.0 / ((p_r - q_r) * (1.0 - self.share))

    def cell_sd(self, S: int) -> float:
        """The standard deviation that one user asked where adds to a cell of her pair."""
        _, q = answer_odds(self.budget, S + 1)
        return self.factors(S)[0] * math.sqrt(q * (1.0 - q))

    def noise_of(self, problem: Problem, G: int) -> Noise:
        n, S = problem.K - 1, problem.S
        a, b = self.factors(S)
        failure = problem.beta / SHARE / counters(G, S, problem.A)
        spread = math.sqrt(n * math.log(2.0 / failure) / 2.0)  # Hoeffding and Doob, for steps of width 1
        cell, reward = (a + 1.0) * spread, (b + 1.0) * spread + self.rounding(n)  # answers, and true counts
        E = self.confidence_scale * bound_to_E(S, True, cell, cell, reward)
        sd = self.cell_sd(S) * math.sqrt(n)
        factor = self.confidence_scale
        return Noise(self.cell_sd(S), E, problem.K, factor=factor, cell=cell, sd=sd, proven=False)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        if problem.K == 1:  # else users answer, whether or not counts are ever released
            return nothing_released(self.model)
        return Certificate(self.model, self.budget, self.budget, noise=self.kind)

    def release(
        self, problem: Problem, G: int, seed: np.random.SeedSequence, samplers: Samplers = PLAIN
    ) -> "Answers":
        if self.exact:
            return ExactlyAnswered(self, problem, G, self.coins(seed, samplers))
        return SimulatedAnswers(self, problem, G, Coins(seed))


class Answers:
    """Both sides: the server's tallies of answers, and the user who gives one."""

    def __init__(self, privatizer: OneQuestion, problem: Problem, G: int, dtype: type):
        self._privatizer = privatizer
        self._shape, self._ends = (G, problem.S, problem.A), set(privatizer.ends(problem).tolist())
        self.t = 0
        self.where: np.ndarray = np.zeros((*self._shape, problem.S + 1), dtype)  # answers by pair
        self.earned: np.ndarray = np.zeros((*self._shape, 3), dtype)
        self.N_hat = np.zeros(self._shape)  # of the last release

    def release(self, user: User) -> Floats | None:
        self.ask(user)
        self.t += 1
        return self.estimates() if self.t in self._ends else None

    def ask(self, user: User) -> None:
        """One question, and its answer into the tallies."""
        raise NotImplementedError

    def pairs(self, pi: np.ndarray) -> np.ndarray:
        """The pairs that may be asked about: those the policy may visit, few counts first."""
        if pi.ndim != 2:
            raise InputError("privatizer: one_question takes policies that choose one action per state")
        shown = shown_pairs(pi, *self._shape)
        few = shown & (self.N_hat < self._privatizer.want)
        return few if few.any() else shown

    def estimates(self) -> Floats:
        """The noisy counts: N̂(s,a,s') and R̂(s,a) with rewards centred; N̂(s,a) is their sum, elsewhere."""
        S = self._shape[1]
        (_, q), (a, b) = answer_odds(self._privatizer.budget, S + 1), self._privatizer.factors(S)
        N_sas = a * (self.where[..., :S] - q * self.where.sum(axis=-1)[..., None])
        R = b * (CENTRE * (self.earned[..., 1] - self.earned[..., 0]))
        self.N_hat = np.zeros(self._shape)
        for s_next in range(S):
            self.N_hat += N_sas[..., s_next]
        return np.concatenate([np.zeros(R.size), np.moveaxis(N_sas, -1, 0).ravel(), R.ravel()])

    @property
    def sd(self) -> Floats:
        S = self._shape[1]
        return self._privatizer.cell_sd(S) * np.sqrt(self.where.sum(axis=-1))


class SimulatedAnswers(Answers):
    """With seeded coins of real probabilities."""

    def __init__(self, privatizer: OneQuestion, problem: Problem, G: int, coins: Coins):
        super().__init__(privatizer, problem, G, np.float64)
        self._coins = coins

    def ask(self, user: User) -> None:
        words = self._coins.words(WORDS)
        pair = question(self.pairs(user.pi), unit(words[0]))
        if unit(words[1]) < self._privatizer.transitions:
            answers, kind = self.where, where_to(user.trajectory, pair, *self._shape)
        else:
            answers, kind = self.earned, earned(user.trajectory, pair, self._shape[0], unit(words[2]))
        d = answers.shape[-1]
        p, _ = answer_odds(self._privatizer.epsilon, d)
        answers[pair][randomised_response(kind, d, p, unit(words[3]), unit(words[4]))] += 1.0


class ExactlyAnswered(Answers):
    """With exact coins: integers up to the tallies, of which estimates are made afterwards.

    A reward is first put on the public grid, j/g, and rounded to 1 with probability exactly j/g.
    """

    def __init__(self, privatizer: OneQuestion, problem: Problem, G: int, coins: ExactCoins):
        super().__init__(privatizer, problem, G, np.int64)
        self._coins, self._share = coins, exact_share(privatizer.transitions)

    def ask(self, user: User) -> None:
        coins, candidates = self._coins, np.argwhere(self.pairs(user.pi))
        g, s, a = candidates[coins.below(len(candidates))].tolist()
        if coins.below(SHARES) < self._share:
            answers, truth = self.where, where_to(user.trajectory, (g, s, a), *self._shape)
        else:
            answers, truth = self.earned, self.paid(user.trajectory, (g, s, a))
        answers[g, s, a, coins.response(truth, answers.shape[-1])] += 1

    def paid(self, trajectory: Trajectory, pair: tuple[int, int, int]) -> int:
        """As `earned`, from exact coins."""
        h = first_visit(trajectory, pair, self._shape[0])
        return 2 if h is None else int(self._coins.below(GRIDS[0]) < on_grid(trajectory.r[h], GRIDS[0]))


def question(pairs: np.ndarray, u: float) -> tuple[int, int, int]:
    """One of the pairs, each as likely."""
    candidates = np.argwhere(pairs)
    g, s, a = candidates[int(u * len(candidates))]
    return int(g), int(s), int(a)


def first_visit(trajectory: Trajectory, pair: tuple[int, int, int], G: int) -> int | None:
    """The step of the first visit of the pair."""
    for h, (s, a) in enumerate(zip(trajectory.s, trajectory.a, strict=False)):
        if (h % G, s, a) == pair:
            return h
    return None


def where_to(trajectory: Trajectory, pair: tuple[int, int, int], G: int, S: int, A: int) -> int:
    """The true answer to the first kind: the next state, or S for no visit."""
    h = first_visit(trajectory, pair, G)
    return S if h is None else int(trajectory.s[h + 1])


def earned(trajectory: Trajectory, pair: tuple[int, int, int], G: int, u: float) -> int:
    """The true answer to the second kind: the reward rounded to 0 or 1, or 2 for no visit."""
    h = first_visit(trajectory, pair, G)
    return 2 if h is None else int(u < trajectory.r[h])


PRIVATIZERS.add("one_question", OneQuestion)
