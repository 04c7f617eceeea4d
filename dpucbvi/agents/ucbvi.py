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

import numpy as np

from dpucbvi.agents.own import episodes
from dpucbvi.agents.register import AGENTS, NONE, Optimistic
from dpucbvi.algorithm1 import private_estimates
from dpucbvi.counts import PrivateCounts
from dpucbvi.protocol import Algorithm, Counts, Floats, Noise, Plan, Problem, expectation


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


UcbviConstants = HoeffdingConstants | UcbviBernsteinConstants


def hoeffding_constants(problem: Problem, scale: float = 1.0) -> HoeffdingConstants:
    return HoeffdingConstants(7.0 * problem.H * log_term(problem), scale)


class Numbers(NamedTuple):
    """The four numbers in which bonus 2 and the refined bonus differ."""

    spread: float  # of the variance and the next value
    correction: float  # over 3
    less: float
    gap: float


BONUS_2, REFINED = Numbers(8.0, 14.0, 0.0, 100.0), Numbers(4.0, 7.0, 1.0, 84.0)


def ucbvi_bernstein_constants(
    problem: Problem, scale: float = 1.0, without: str | None = None, numbers: Numbers = BONUS_2
) -> UcbviBernsteinConstants:
    """Those of bonus 2, or of the refined one; `without` is a term that is left out [D32]."""
    H, S, A, L = problem.H, problem.S, problem.A, log_term(problem)
    constants = UcbviBernsteinConstants(
        variance=numbers.spread * L,
        correction=numbers.correction * H * L / 3.0,
        less=numbers.less,
        next_value=numbers.spread,
        gap=numbers.gap**2 * H**3 * S**2 * A * L**2,
        gap_most=float(H**2),
        scale=scale,
    )
    return constants if without is None else constants._replace(**{without: 0.0})


def log_term(problem: Problem) -> float:
    """L = ln(5SAT/β)."""
    return math.log(5.0 * problem.S * problem.A * problem.T / problem.beta)


def ucbvi(problem: Problem, private: PrivateCounts, c: UcbviConstants) -> Algorithm:
    """UCBVI; which bonus is told by the constants."""
    H, S, A = problem.H, problem.S, problem.A
    Q = np.full((H, S, A), float(H))

    def plan(counts: Counts) -> Plan:
        V = np.zeros((H + 1, S))
        for h in reversed(range(H)):
            P_hat, r_hat = private_estimates(counts, h)
            gap_next = next_gaps(counts, h, H, c)
            for s, a in np.ndindex(S, A):
                N = counts.N_sa[h % counts.G, s, a]
                if N > 0.0:
                    b = bonus(N, P_hat[s, a], V[h + 1], gap_next, c)
                    target = r_hat[s, a] + expectation(P_hat[s, a], V[h + 1]) + b
                    Q[h, s, a] = min(Q[h, s, a], H, target)
            V[h] = Q[h].max(axis=-1)
        return Plan(Q.argmax(axis=-1), Q.copy(), V)

    return episodes(problem.K, private, plan)


def next_gaps(counts: Counts, h: int, H: int, c: UcbviConstants) -> Floats:
    """min{100²H³S²AL²/N_{h+1}(s'), H²} for all s'; H² where unvisited, 0 after the last step [D2]."""
    S = counts.N_sa.shape[1]
    gaps = np.zeros(S)
    if h + 1 < H and isinstance(c, UcbviBernsteinConstants):
        for s in range(S):
            N_next = sum(counts.N_sa[(h + 1) % counts.G, s])
            gaps[s] = next_gap(N_next, c)
    return gaps


def next_gap(N_next: float, c: UcbviBernsteinConstants) -> float:
    """min{100²H³S²AL²/N_{h+1}(s'), H²}; H² where unvisited."""
    return min(c.gap / N_next, c.gap_most) if N_next > 0.0 else c.gap_most


def bonus(N: float, P: Floats, V_next: Floats, gap_next: Floats, c: UcbviConstants) -> float:
    """Bonus 1 or bonus 2 at one (h, s, a), times the scale. Requires N > 0."""
    if isinstance(c, HoeffdingConstants):
        return bonus_1(N, c)
    mean = expectation(P, V_next)
    variance = expectation(P, (V_next - mean) ** 2)
    return bonus_2(N, variance, expectation(P, gap_next), c)


def bonus_1(N: float, c: HoeffdingConstants) -> float:
    """7HL √(1/N), times the scale."""
    return c.scale * (c.width * math.sqrt(1.0 / N))


def bonus_2(N: float, variance: float, gap: float, c: UcbviBernsteinConstants) -> float:
    """The three terms of bonus 2, times the scale, from Var_{P̂}(V_{h+1}) and the mean of min{...} under P̂."""
    correction = c.correction / max(N - c.less, 1.0)
    return c.scale * (math.sqrt(c.variance * variance / N) + correction + math.sqrt(c.next_value * gap / N))


@dataclass(frozen=True)
class UCBVI(Optimistic):
    """UCBVI-BF of Azar et al. (2017), with bonus 2 (Bernstein-Freedman); not private."""

    raw = False
    models = NONE
    terms = ("variance", "correction", "next_value")

    def constants(self, problem: Problem, noise: Noise) -> UcbviBernsteinConstants:
        return ucbvi_bernstein_constants(problem, self.bonus_scale, self.bonus_without)

    def algorithm(
        self, problem: Problem, private: PrivateCounts, constants: UcbviBernsteinConstants
    ) -> Algorithm:
        return ucbvi(problem, private, constants)


@dataclass(frozen=True)
class UCBVICH(Optimistic):
    """UCBVI-CH of Azar et al. (2017), with bonus 1 (Chernoff-Hoeffding); not private."""

    raw = False
    models = NONE

    def constants(self, problem: Problem, noise: Noise) -> HoeffdingConstants:
        return hoeffding_constants(problem, self.bonus_scale)

    def algorithm(self, problem: Problem, private: PrivateCounts, constants: HoeffdingConstants) -> Algorithm:
        return ucbvi(problem, private, constants)


@dataclass(frozen=True)
class UCBVIRefined(UCBVI):
    """UCBVI-BF with the constants of Drago, Mussi & Metelli (2025); not private."""

    def constants(self, problem: Problem, noise: Noise) -> UcbviBernsteinConstants:
        return ucbvi_bernstein_constants(problem, self.bonus_scale, self.bonus_without, REFINED)


AGENTS.add("ucbvi_bf", UCBVI)
AGENTS.add("ucbvi_refined", UCBVIRefined)
AGENTS.add("ucbvi_ch", UCBVICH)
