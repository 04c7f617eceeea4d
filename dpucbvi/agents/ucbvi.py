"""UCBVI (Azar, Osband & Munos, ICML 2017, Algorithms 1 and 2) with bonus 1 or bonus 2; not private.

    Q_h(s,a) = min{ Q_h of the last episode, H, r̂_h(s,a) + Σ_{s'} P̂_h(s'|s,a) V_{h+1}(s') + b },  H if N = 0

    bonus 1 (UCBVI-CH, Hoeffding)   b = 7 H L √(1/N)                                     [Alg.3]
    bonus 2 (UCBVI-BF, Bernstein)   b = √(8 L Var_{P̂}(V_{h+1})/N) + 14 H L/(3N)            [Alg.4]
                                      + √( 8 Σ_{s'} P̂(s') min{100² H³ S² A L²/N_{h+1}(s'), H²} / N )

    refined (Drago, Mussi & Metelli, 2025, arXiv 2502.17370)
                                    b = √(4 L Var_{P̂}(V_{h+1})/N) + 7 H L/(3 max{N-1, 1})
                                      + √( 4 Σ_{s'} P̂(s') min{84² H³ S² A L²/N_{h+1}(s'), H²} / N )

with L = ln(5SAT/β) and N = N_h(s,a); what the refined bonus was compared with: [D33]. The original knows the
rewards and pools the counts over h (its P does not depend on h); here rewards are estimated as DP-UCBVI does,
and pooling is a choice [D9]. `scale` multiplies the bonus, 1 in the paper.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from dpucbvi.agents.plans import Counted, Values, backward, backward_bernstein, greedy, least
from dpucbvi.agents.register import AGENTS, NONE, Optimistic
from dpucbvi.elementary import log
from dpucbvi.protocol import Noise, Problem, cut_to_unit


class HoeffdingConstants(NamedTuple):
    """Bonus 1 is `width`/√N."""

    width: float  # 7HL
    scale: float


class UcbviBernsteinConstants(NamedTuple):
    """Bonus 2's constants with everything that does not change during a run multiplied in."""

    variance: float  # 8L
    correction: float  # 14HL/3, over max{N - `less`, 1}
    less: float  # 0; refined: 1
    next_value: float  # 8
    gap: float  # 100²H³S²AL², over N_{h+1}(s')
    gap_most: float  # H²
    scale: float


def log_term(problem: Problem) -> float:
    """L = ln(5SAT/β)."""
    return log(5.0 * problem.S * problem.A * problem.T / problem.beta)


def next_gap(N_next: float, c: UcbviBernsteinConstants) -> float:
    """min{100²H³S²AL²/N_{h+1}(s'), H²}; H² where unvisited."""
    return min(c.gap / N_next, c.gap_most) if N_next > 0.0 else c.gap_most


def variance_term(N: float, variance: float, c: UcbviBernsteinConstants) -> float:
    """√(8 L Var/N), from Var_{P̂}(V_{h+1})."""
    return math.sqrt(c.variance * variance / N)


def count_terms(c: UcbviBernsteinConstants, N: float, gap: float) -> tuple[float, float]:
    """14HL/(3N) and √(8 gap/N), from the mean of min{...} under P̂."""
    return c.correction / max(N - c.less, 1.0), math.sqrt(c.next_value * gap / N)


def known_1(c: HoeffdingConstants, N: float, R: float) -> tuple[float, float, float]:
    """N, r̂ and bonus 1 of a pair: 7HL √(1/N), times the scale."""
    return N, cut_to_unit(R / N), c.scale * (c.width * math.sqrt(1.0 / N))


def plan_ucbvi_ch(c: HoeffdingConstants, counts: Counted, values: Values, k: int) -> None:
    """UCBVI with bonus 1."""
    backward(known_1, least, greedy, c, counts, values)


def bonus_2(
    c: UcbviBernsteinConstants, N: float, variance: float, correction: float, next_value: float
) -> float:
    """Bonus 2 of a pair, times the scale."""
    return c.scale * (variance_term(N, variance, c) + correction + next_value)


def plan_ucbvi_bf(c: UcbviBernsteinConstants, counts: Counted, values: Values, k: int) -> None:
    """UCBVI with bonus 2."""
    backward_bernstein(count_terms, bonus_2, next_gap, c, counts, values)


@dataclass(frozen=True)
class UCBVI(Optimistic):
    """UCBVI-BF of Azar et al. (2017), with bonus 2 (Bernstein-Freedman); not private.

    Parameters
    ----------
    bonus_scale : float
        Multiplies the bonus; 1 in the algorithm's paper.
    pooled : bool
        Pool the counts of all steps, for an MDP whose P and r do not depend on h.
    bonus_without : str, optional
        A term of the bonus to leave out, to measure what it contributes [D32].

    Raises
    ------
    InputError
        If `bonus_scale` is not above 0, or there is no such term.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> run = dp.run(dp.riverswim(S=3, H=4), dp.UCBVI(bonus_scale=0.01), K=50, seed=0)
    >>> run.regret.shape, bool(run.regret[-1] >= 0)
    ((50,), True)
    """

    raw = False
    models = NONE
    lazy = True
    plan = staticmethod(plan_ucbvi_bf)
    terms = ("variance", "correction", "next_value")
    # Of the variance and the next value; of the correction, over 3; taken off N there; of the gap.
    spread, correction, less, gap = 8.0, 14.0, 0.0, 100.0

    def constants(self, problem: Problem, noise: Noise) -> UcbviBernsteinConstants:
        H, S, A, L = problem.H, problem.S, problem.A, log_term(problem)
        constants = UcbviBernsteinConstants(
            variance=self.spread * L,
            correction=self.correction * H * L / 3.0,
            less=self.less,
            next_value=self.spread,
            gap=self.gap**2 * H**3 * S**2 * A * L * L,
            gap_most=float(H**2),
            scale=self.bonus_scale,
        )
        return constants if self.bonus_without is None else constants._replace(**{self.bonus_without: 0.0})


@dataclass(frozen=True)
class UCBVICH(Optimistic):
    """UCBVI-CH of Azar et al. (2017), with bonus 1 (Chernoff-Hoeffding); not private.

    Parameters
    ----------
    bonus_scale : float
        Multiplies the bonus; 1 in the algorithm's paper.
    pooled : bool
        Pool the counts of all steps, for an MDP whose P and r do not depend on h.
    bonus_without : str, optional
        A term of the bonus to leave out, to measure what it contributes [D32].

    Raises
    ------
    InputError
        If `bonus_scale` is not above 0, or there is no such term.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> run = dp.run(dp.riverswim(S=3, H=4), dp.UCBVICH(bonus_scale=0.01), K=50, seed=0)
    >>> run.regret.shape, bool(run.regret[-1] >= 0)
    ((50,), True)
    """

    raw = False
    models = NONE
    lazy = True
    plan = staticmethod(plan_ucbvi_ch)

    def constants(self, problem: Problem, noise: Noise) -> HoeffdingConstants:
        return HoeffdingConstants(7.0 * problem.H * log_term(problem), self.bonus_scale)


@dataclass(frozen=True)
class UCBVIRefined(UCBVI):
    """UCBVI-BF with the constants of Drago, Mussi & Metelli (2025); not private.

    Parameters
    ----------
    bonus_scale : float
        Multiplies the bonus; 1 in the algorithm's paper.
    pooled : bool
        Pool the counts of all steps, for an MDP whose P and r do not depend on h.
    bonus_without : str, optional
        A term of the bonus to leave out, to measure what it contributes [D32].

    Raises
    ------
    InputError
        If `bonus_scale` is not above 0, or there is no such term.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> run = dp.run(dp.riverswim(S=3, H=4), dp.UCBVIRefined(bonus_scale=0.01), K=50, seed=0)
    >>> run.regret.shape, bool(run.regret[-1] >= 0)
    ((50,), True)
    """

    spread, correction, less, gap = 4.0, 7.0, 1.0, 84.0


AGENTS.add("ucbvi_bf", UCBVI)
AGENTS.add("ucbvi_refined", UCBVIRefined)
AGENTS.add("ucbvi_ch", UCBVICH)
