"""DP-Nash-VI with one player (Qiao & Wang, 2024, arXiv:2404.07559): upper and lower values, DP-UCBVI's counts.

What DP-UCBVI's fourth bonus term guesses by 1000² (how far V̄_{h+1} is above V*), a lower value V̲ measures:

    γ = (C1/H) Σ_{s'} P̃ (V̄_{h+1} - V̲_{h+1})
    Γ = C2 √( Var_{P̃}((V̄_{h+1} + V̲_{h+1})/2) ι/Ñ ) + C2 H S E ι/Ñ + C2 H² S ι/Ñ
    Q̄_h = min{ r̃ + Σ P̃ V̄_{h+1} + γ + Γ, H },   Q̲_h = max{ r̃ + Σ P̃ V̲_{h+1} - γ - Γ, 0 }
    π_h(s) = argmax_a Q̄_h,   V̄_h(s) = Q̄_h(s, π_h(s)),   V̲_h(s) = Q̲_h(s, π_h(s))

with Ñ, P̃, r̃, E of Algorithm 1 and ι = log(30HSAT/β); Q̄ = H and Q̲ = 0 where Ñ = 0. C1 and C2 are not printed:
the values below are ours [D25]. `scale` multiplies γ + Γ.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpucbvi.agents.own import episodes
from dpucbvi.agents.register import AGENTS, ANY, Optimistic
from dpucbvi.algorithm1 import private_estimates
from dpucbvi.bonus import log_iota
from dpucbvi.counts import PrivateCounts
from dpucbvi.protocol import Algorithm, Counts, Floats, Noise, Plan, Problem, expectation

C1 = 1.0
C2 = 2.0  # the constant of DP-UCBVI's variance term


class DpNashViConstants(NamedTuple):
    """γ + Γ = `gap`·Σ P̃ (V̄ - V̲) + `variance`·√(Var ι/Ñ) + `rest`/Ñ."""

    gap: float  # C1/H
    variance: float  # C2
    iota: float
    rest: float  # C2 HSEι + C2 H²Sι
    scale: float


def dp_nash_vi_constants(problem: Problem, E: float, scale: float = 1.0) -> DpNashViConstants:
    H, S, iota = problem.H, problem.S, log_iota(problem)
    return DpNashViConstants(
        gap=C1 / H,
        variance=C2,
        iota=iota,
        rest=C2 * H * S * E * iota + C2 * H * H * S * iota,
        scale=scale,
    )


def dp_nash_vi(problem: Problem, private: PrivateCounts, c: DpNashViConstants) -> Algorithm:
    """DP-Nash-VI for one player on private counts; the plan's Q and V are the upper ones."""
    H, S, A = problem.H, problem.S, problem.A

    def plan(counts: Counts) -> Plan:
        Q_up, Q_low = np.full((H, S, A), float(H)), np.zeros((H, S, A))
        V_up, V_low = np.zeros((H + 1, S)), np.zeros((H + 1, S))
        pi = np.zeros((H, S), dtype=np.int64)
        for h in reversed(range(H)):
            P_tilde, r_tilde = private_estimates(counts, h)
            for s, a in np.ndindex(S, A):
                N, P, r = counts.N_sa[h % counts.G, s, a], P_tilde[s, a], float(r_tilde[s, a])
                if N > 0.0:
                    b = bonus(N, P, V_up[h + 1], V_low[h + 1], c)
                    upper = r + expectation(P, V_up[h + 1]) + b
                    lower = r + expectation(P, V_low[h + 1]) - b
                    Q_up[h, s, a], Q_low[h, s, a] = min(upper, float(H)), max(lower, 0.0)
            pi[h] = Q_up[h].argmax(axis=-1)
            V_up[h] = Q_up[h].max(axis=-1)
            V_low[h] = Q_low[h, np.arange(S), pi[h]]
        return Plan(pi, Q_up, V_up)

    return episodes(problem.K, private, plan)


def bonus(N: float, P: Floats, V_up: Floats, V_low: Floats, c: DpNashViConstants) -> float:
    """γ + Γ at one (h, s, a), times the scale. Requires N > 0."""
    middle = (V_up + V_low) / 2.0
    mean = expectation(P, middle)
    variance = expectation(P, (middle - mean) ** 2)
    gap = expectation(P, V_up - V_low)
    return gamma_sum(N, variance, gap, c)


def gamma_sum(N: float, variance: float, gap: float, c: DpNashViConstants) -> float:
    """γ + Γ times the scale, from Var_{P̃}((V̄ + V̲)/2) and Σ P̃ (V̄ - V̲)."""
    return c.scale * (c.gap * gap + c.variance * math.sqrt(variance * c.iota / N) + c.rest / N)


@dataclass(frozen=True)
class DPNashVI(Optimistic):
    """DP-Nash-VI of Qiao and Wang (2024) with one player."""

    raw = False
    models = ANY

    def constants(self, problem: Problem, noise: Noise) -> DpNashViConstants:
        return dp_nash_vi_constants(problem, noise.E, self.bonus_scale)

    def algorithm(self, problem: Problem, private: PrivateCounts, constants: DpNashViConstants) -> Algorithm:
        return dp_nash_vi(problem, private, constants)


AGENTS.add("dp_nash_vi", DPNashVI)
