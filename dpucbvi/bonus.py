"""The exploration bonus of Algorithm 1, line 7, term by term, with the paper's constants by name.

    b = 2 √(Var_{P̃}(Ṽ_{h+1}) ι / Ñ)                                                variance
      + √(2ι / Ñ)                                                                 reward
      + 20 H S E ι / Ñ                                                            privacy
      + 4 √ι √( Σ_{s'} P̃(s') min{ 1000² H³ S A ι²        / Ñ_{h+1}(s')
                                 + 1000² H⁴ S⁴ A² E² ι⁴ / Ñ_{h+1}(s')²
                                 + 1000² H⁶ S⁴ A² ι⁴    / Ñ_{h+1}(s')², H² } / Ñ )    next value

with Ñ = Ñ_h(s,a), Ñ_{h+1}(s') = Σ_a Ñ_{h+1}(s',a) and ι = log(30HSAT/β). `scale` multiplies the whole
bonus and is 1 in the paper; `without` leaves one term out, which the paper never does [D32]. The functions of
single numbers (`next_value_gap`, `variance_term`, `count_terms`) are the formulas themselves: the reference
calls them, and the engine compiles them.

Where the formula is undefined (paper/DEVIATIONS.md): Ñ = 0 makes the bonus infinite [D1];
Ñ_{h+1}(s') = 0 makes the minimum H²; at h = H there is no Ñ_{H+1}, and since V_{H+1} = 0 has no error
to make up for, the fourth term is 0 [D2].
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from dpucbvi.elementary import log, power
from dpucbvi.protocol import Floats, Problem, expectation

VARIANCE = 2.0
REWARD = 2.0
PRIVACY = 20.0
NEXT_VALUE = 4.0
REGRET = 1000.0  # the constant of the regret bound [Lem.C.9], squared inside the minimum
IOTA = 30.0


class BernsteinConstants(NamedTuple):
    """Line 7's constants with everything that does not change during a run multiplied in."""

    iota: float
    variance: float  # 2
    reward: float  # 2ι
    privacy: float  # 20HSEι
    next_value: float  # 4√ι
    gap_1: float  # over Ñ_{h+1}(s')
    gap_2: float  # over Ñ_{h+1}(s')²
    gap_most: float  # H²
    scale: float


class BonusTerms(NamedTuple):
    """The four summands of line 7, unscaled."""

    variance: float
    reward: float
    privacy: float
    next_value: float


def log_iota(problem: Problem) -> float:
    """ι = log(30HSAT/β), natural logarithm [Alg.1 L2]."""
    return log(IOTA * problem.H * problem.S * problem.A * problem.T / problem.beta)


def bernstein_constants(
    problem: Problem, E: float, scale: float = 1.0, without: str | None = None
) -> BernsteinConstants:
    """The constants of line 7 for one run; `without` is a term of BonusTerms that is left out [D32]."""
    H, S, A, iota = problem.H, problem.S, problem.A, log_iota(problem)
    gap_2 = REGRET**2 * H**4 * S**4 * A**2 * power(E, 2) * power(iota, 4)
    gap_2 += REGRET**2 * H**6 * S**4 * A**2 * power(iota, 4)
    constants = BernsteinConstants(
        iota=iota,
        variance=VARIANCE,
        reward=REWARD * iota,
        privacy=PRIVACY * H * S * E * iota,
        next_value=NEXT_VALUE * math.sqrt(iota),
        gap_1=REGRET**2 * H**3 * S * A * power(iota, 2),
        gap_2=gap_2,
        gap_most=float(H**2),
        scale=scale,
    )
    return constants if without is None else constants._replace(**{without: 0.0})


def next_value_gap(N_next: float, c: BernsteinConstants) -> float:
    """min{...} of line 7: a bound on (Ṽ_{h+1}(s') - V*_{h+1}(s'))² from Ñ_{h+1}(s')."""
    if N_next <= 0.0:
        return c.gap_most
    return min(c.gap_1 / N_next + c.gap_2 / (N_next * N_next), c.gap_most)


def variance_term(N: float, variance: float, c: BernsteinConstants) -> float:
    """The first term of line 7, from Var_{P̃}(Ṽ_{h+1})."""
    return c.variance * math.sqrt(variance * c.iota / N)


def count_terms(N: float, gap: float, c: BernsteinConstants) -> tuple[float, float, float]:
    """The other three, which depend on counts alone: reward, privacy, and from the mean of min{...} under P̃."""
    return math.sqrt(c.reward / N), c.privacy / N, c.next_value * math.sqrt(gap / N)


def scaled_sum(term: BonusTerms, c: BernsteinConstants) -> float:
    """b of line 7 times the scale."""
    return c.scale * (term.reward + term.privacy + term.next_value + term.variance)


def bernstein_terms(N: float, P: Floats, V_next: Floats, gap_next: Floats, c: BernsteinConstants) -> BonusTerms:
    """The four terms of line 7 at one (h, s, a). Requires Ñ > 0."""
    mean = expectation(P, V_next)
    variance = expectation(P, (V_next - mean) ** 2)
    return BonusTerms(variance_term(N, variance, c), *count_terms(N, expectation(P, gap_next), c))


def bernstein_bonus(N: float, P: Floats, V_next: Floats, gap_next: Floats, c: BernsteinConstants) -> float:
    """b_h(s,a) of line 7 times the scale. Requires Ñ > 0."""
    return scaled_sum(bernstein_terms(N, P, V_next, gap_next, c), c)


Bonus = Callable[[float, Floats, Floats, Floats, BernsteinConstants], float]  # the form of bernstein_bonus
