"""DP-UCBVI as an agent: Algorithm 1 as a plan that compiles.

algorithm1.py has the same algorithm line by line, and its bonus is in bonus.py. The reference engine runs that
text and the fast one this: two texts, compared bit for bit.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpucbvi.agents.plans import Counted, Values, backward_bernstein, greedy, means, next_gaps, transitions
from dpucbvi.agents.register import AGENTS, ANY, Optimistic
from dpucbvi.algorithm1 import dp_ucbvi
from dpucbvi.bonus import (
    BernsteinConstants,
    Bonus,
    BonusTerms,
    bernstein_bonus,
    bernstein_constants,
    count_terms,
    next_value_gap,
    variance_term,
)
from dpucbvi.counts import PrivateCounts
from dpucbvi.errors import InputError, check_flag, check_name
from dpucbvi.protocol import Algorithm, Floats, Ints, Noise, Problem, cut_to_unit

CAPS = ("H", "steps_left")


def fixed_terms(c: BernsteinConstants, N: float, gap_mean: float) -> tuple[float, float]:
    """The three terms of line 7 that do not depend on Ṽ, in two numbers."""
    reward, privacy, next_value = count_terms(N, gap_mean, c)
    return reward + privacy, next_value


def bernstein(c: BernsteinConstants, N: float, variance: float, known: float, next_value: float) -> float:
    """[Alg.1 L7] The bonus of a pair."""
    return c.scale * (known + next_value + variance_term(N, variance, c))


def plan_dp_ucbvi(c: BernsteinConstants, counts: Counted, values: Values, k: int) -> None:
    """[Alg.1 L4-L15]"""
    backward_bernstein(fixed_terms, bernstein, next_value_gap, c, counts, values)


def plan_with(bonus: Bonus) -> Callable[..., None]:
    """`plan_dp_ucbvi` with this bonus in the place of line 7."""

    def plan(c: BernsteinConstants, counts: Counted, values: Values, k: int) -> None:
        N, N_sas, R, after = counts
        Q, V, pi = values
        (H, pairs), S = Q.shape, V.shape[1]
        P, mean, p, gap = np.zeros((len(N_sas), pairs)), np.zeros(pairs), np.zeros(S), np.zeros(S)
        for h in range(H - 1, -1, -1):
            g = h % len(N)
            transitions(N[g], N_sas, g, P)
            means(P, after, g, V[h + 1], mean)
            for row in range(pairs):
                if N[g, row] > 0.0:
                    one_row(P, after, g, row, p)
                    b = bonus(N[g, row], p, V[h + 1], gap, c)
                    target = cut_to_unit(R[g, row] / N[g, row]) + mean[row] + b
                    Q[h, row] = target if target < Q[h, row] else Q[h, row]
            greedy(Q[h], V[h], pi[h])
            next_gaps(next_value_gap, c, N[g], gap)

    return plan


def finite_bonus(bonus: Bonus) -> Bonus:
    """A bonus of one's own that ends the run where it is not finite: NaN would count as "unknown"."""

    def checked(N: float, P: Floats, V_next: Floats, gap_next: Floats, c: BernsteinConstants) -> float:
        b = bonus(N, P, V_next, gap_next, c)
        if not abs(b) < math.inf:
            raise InputError("bonus: it is not finite")
        return b

    return checked


def one_row(P: Floats, after: Ints, g: int, row: int, p: Floats) -> None:
    """p(s') = P̃(s'|s,a) of one pair, for all S next states."""
    for s in range(p.size):
        p[s] = 0.0
    for d in range(len(P)):
        if after.ndim == 3:
            p[after[g, d, row]] += P[d, row]
        else:
            p[d] = P[d, row]


@dataclass(frozen=True)
class DPUCBVI(Optimistic):
    """Algorithm 1 of the paper, DP-UCBVI.

    Parameters
    ----------
    bonus_scale : float
        Multiplies the bonus; 1 in the algorithm's paper.
    pooled : bool
        Pool the counts of all steps, for an MDP whose P and r do not depend on h.
    bonus_without : str, optional
        A term of the bonus to leave out, to measure what it contributes [D32].
    bonus : callable
        Takes the place of line 7: a function bonus(N, P, V_next, gap_next, c) like `bonus.bernstein_bonus`,
        called where Ñ = N > 0; `c` has the constants of line 7.
    cap : str
        The first value of every Q and its upper limit: `H` as in the paper, or `steps_left`, H-h+1 at step h
        [D31].
    minimum : bool
        False takes the minimum of line 9 without the Q of the last episode [D32].
    anyway : bool
        Pool the counts even if P or r depends on h, to measure the damage.

    Raises
    ------
    InputError
        If a number is out of range, a name is unknown, or `bonus` is no function.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> run = dp.run(dp.riverswim(S=3, H=4), dp.DPUCBVI(bonus_scale=0.01), dp.Central(epsilon=10), K=50, seed=0)
    >>> run.regret.shape, bool(run.regret[-1] >= 0)
    ((50,), True)
    """

    bonus: Bonus = bernstein_bonus
    cap: str = "H"
    minimum: bool = True
    anyway: bool = False

    raw = False
    models = ANY
    lazy = True
    terms = BonusTerms._fields

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("minimum", self.minimum)
        check_flag("anyway", self.anyway)
        check_name("cap", self.cap, CAPS)

    def ceiling(self, H: int) -> Floats:
        return np.arange(H, 0, -1.0) if self.cap == "steps_left" else super().ceiling(H)

    @property
    def plan(self) -> Callable[..., None]:  # type: ignore[override]
        return plan_dp_ucbvi if self.bonus is bernstein_bonus else plan_with(finite_bonus(self.bonus))

    def constants(self, problem: Problem, noise: Noise) -> BernsteinConstants:
        return bernstein_constants(problem, noise.E, self.bonus_scale, self.bonus_without)

    def algorithm(self, problem: Problem, private: PrivateCounts, constants: BernsteinConstants) -> Algorithm:
        bonus = self.bonus if self.bonus is bernstein_bonus else finite_bonus(self.bonus)
        return dp_ucbvi(problem, private, constants, bonus, self.ceiling(problem.H), self.minimum)


AGENTS.add("dp_ucbvi", DPUCBVI)
