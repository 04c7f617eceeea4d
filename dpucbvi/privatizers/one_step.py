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

import numpy as np

from dpucbvi.confidence import SHARE, bound_to_E
from dpucbvi.counts import CENTRE, counters, on_grid
from dpucbvi.errors import InputError, check_number, whole
from dpucbvi.privatizers.accounting import MARGIN
from dpucbvi.privatizers.batches import batch_ends
from dpucbvi.privatizers.certificate import Certificate, check_budget, nothing_released
from dpucbvi.privatizers.coins import Coins, unit
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

HOT = 0.5  # the chance that a hot bit is sent as 1
COINS = 3  # which step, which kind, the rounding of the reward; then one word for every bit


@dataclass(frozen=True)
class OneStep(ExactAnswers):
    """The bits of one random step per user, pure ε-LDP.

    `transitions`: the share of reports on the next state; `first` and `growth`: when counts are released, after
    e users, e <- e + max(first, ⌊(growth - 1) e⌋). `noise="exact"` is for publication (release_mode.py).
    """

    epsilon: float
    transitions: float = 0.75
    first: int = 100
    growth: float = 1.03
    confidence_scale: float = 1.0

    model = "LDP"
    families = "tuned"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, "replace_one", self.families, self.confidence_scale)
        check_number("transitions", self.transitions, lambda share: 0.0 < share < 1.0, "a number in (0, 1)")
        whole("first", self.first, 1)
        check_number("growth", self.growth, lambda growth: growth >= 1.0, "a number >= 1")
        self.check_mode()

    def ends(self, problem: Problem) -> Ints:
        """After which users new counts are released."""
        return batch_ends(problem.K - 1, self.first, self.growth)

    def cold(self) -> float:
        """q: the chance that a cold bit is sent as 1."""
        away = math.exp(-self.budget)
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
        n, S, (a, b) = problem.K - 1, problem.S, self.factors(problem.H)
        failure = problem.beta / SHARE / counters(G, S, problem.A)
        spread = math.sqrt(n * math.log(2.0 / failure) / 2.0)  # Hoeffding and Doob, for steps of width 1
        most = 1.0 if G > 1 else float(problem.H)  # what a user truly adds to a count
        cell, row, reward = (a + most) * spread, (S * a + most) * spread, (b + most) * spread
        reward += self.rounding(n * int(most))
        E = self.confidence_scale * bound_to_E(S, True, cell, row, reward)
        sd = self.cell_sd(problem.H) * math.sqrt(n)
        scale, factor = self.cell_sd(problem.H), self.confidence_scale
        return Noise(scale, E, problem.K, factor=factor, cell=cell, sd=sd, proven=False)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        if problem.K == 1:  # else users report, whether or not counts are ever released
            return nothing_released(self.model)
        # ln((1 + e^ε)/2), written so that no ε overflows
        apart = self.budget + math.log1p(math.expm1(-self.budget) / 2.0)
        if self.exact:
            apart = min(apart * (1.0 + MARGIN), self.budget)  # for its roundings
        return Certificate(self.model, apart, self.budget, noise=self.kind)

    def release(
        self, problem: Problem, G: int, seed: np.random.SeedSequence, samplers: Samplers = PLAIN
    ) -> "Reports":
        if self.exact:
            return ExactReports(self, problem, G, self.coins(seed, samplers))
        return SimulatedReports(self, problem, G, Coins(seed))


class Reports:
    """Both sides: the server's tallies of bits, and the user who sends hers."""

    def __init__(self, privatizer: OneStep, problem: Problem, G: int, dtype: type):
        self._privatizer, self._H = privatizer, problem.H
        self._shape, self._ends = (G, problem.S, problem.A), set(privatizer.ends(problem).tolist())
        self.t = 0
        self.moved: np.ndarray = np.zeros((*self._shape, problem.S), dtype)  # bits sent as 1, by cell
        self.earned: np.ndarray = np.zeros((*self._shape, 2), dtype)
        self.asked: np.ndarray = np.zeros(self._shape, dtype)  # reports on the next state, by pair

    def release(self, user: User) -> Floats | None:
        if user.pi.ndim != 2:
            raise InputError("privatizer: one_step takes policies that choose one action per state")
        (G, S, _), (s, _, r) = self._shape, user.trajectory
        h, moves, paid = self.choose(r)
        rows = (h % G, np.arange(S), user.pi[h])
        if moves:
            self.moved[rows] += self.bits((s[h], s[h + 1]), S)
            self.asked[rows] += 1
        else:
            self.earned[rows] += self.bits((s[h], paid), 2)
        self.t += 1
        return self.estimates() if self.t in self._ends else None

    def choose(self, r: Floats) -> tuple[int, bool, int]:
        """The public coins, which step and whether its next state is reported; and its reward as a bit."""
        raise NotImplementedError

    def bits(self, hot: tuple[int, int], width: int) -> np.ndarray:
        """The user's side: one bit for every (s, x), one of them hot."""
        raise NotImplementedError

    def estimates(self) -> Floats:
        """The noisy counts: N̂(s,a,s') and R̂(s,a) with rewards centred; N̂(s,a) is their sum, elsewhere."""
        q, (a, b) = self._privatizer.cold(), self._privatizer.factors(self._H)
        N_sas = a * (self.moved - q * self.asked[..., None])
        R = b * (CENTRE * (self.earned[..., 1] - self.earned[..., 0]))
        return np.concatenate([np.zeros(R.size), np.moveaxis(N_sas, -1, 0).ravel(), R.ravel()])

    @property
    def sd(self) -> Floats:
        return self._privatizer.cell_sd(self._H) * np.sqrt(self.asked)


class SimulatedReports(Reports):
    """With seeded coins of real probabilities."""

    def __init__(self, privatizer: OneStep, problem: Problem, G: int, coins: Coins):
        super().__init__(privatizer, problem, G, np.float64)
        self._coins = coins

    def choose(self, r: Floats) -> tuple[int, bool, int]:
        step, kind, rounding = (unit(word) for word in self._coins.words(COINS))
        h = int(step * self._H)
        return h, kind < self._privatizer.transitions, int(rounding < r[h])

    def bits(self, hot: tuple[int, int], width: int) -> Floats:
        S, q = self._shape[1], self._privatizer.cold()
        chance = np.full((S, width), q)
        chance[hot] = HOT
        sent = [unit(word) for word in self._coins.words(S * width)]
        return (np.reshape(sent, (S, width)) < chance).astype(np.float64)


class ExactReports(Reports):
    """With exact coins: integers up to the tallies, of which estimates are made afterwards.

    A reward is first put on the public grid, j/g, and rounded to 1 with probability exactly j/g.
    """

    def __init__(self, privatizer: OneStep, problem: Problem, G: int, coins: ExactCoins):
        super().__init__(privatizer, problem, G, np.int64)
        self._coins, self._share = coins, exact_share(privatizer.transitions)

    def choose(self, r: Floats) -> tuple[int, bool, int]:
        h, moves = self._coins.below(self._H), self._coins.below(SHARES) < self._share
        return h, moves, int(self._coins.below(GRIDS[0]) < on_grid(r[h], GRIDS[0]))

    def bits(self, hot: tuple[int, int], width: int) -> Ints:
        S = self._shape[1]
        return self._coins.bits(int(hot[0]) * width + int(hot[1]), S * width).reshape(S, width)


PRIVATIZERS.add("one_step", OneStep)
