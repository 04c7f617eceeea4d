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

from dpucbvi.agents.plans import Counted, Values, greedy, means, new_counts, rewards, transitions
from dpucbvi.agents.register import AGENTS, ANY, Optimistic
from dpucbvi.bonus import log_iota
from dpucbvi.protocol import Floats, Ints, Noise, Problem

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


def gamma_sum(N: float, variance: float, gap: float, c: DpNashViConstants) -> float:
    """γ + Γ times the scale, from Var_{P̃}((V̄ + V̲)/2) and Σ P̃ (V̄ - V̲)."""
    return c.scale * (c.gap * gap + c.variance * math.sqrt(variance * c.iota / N) + c.rest / N)


class Scratch(NamedTuple):
    """What γ + Γ needs of one step, and the lower values."""

    P: Floats  # P̃ [s', row]
    r: Floats  # r̃ [row]
    mean: Floats  # Σ P̃ V̄_{h+1} [row]
    mean_low: Floats  # Σ P̃ V̲_{h+1} [row]
    gap: Floats  # Σ P̃ (V̄ - V̲) [row]
    middle: Floats  # Σ P̃ (V̄ + V̲)/2 [row]
    variance: Floats  # Var_{P̃}((V̄ + V̲)/2) [row]
    Q_low: Floats  # Q̲_h [row]
    V_low: Floats  # V̲_{h+1}, then V̲_h [s]


def lower_backup(work: Scratch, after: Ints, g: int, V_up: Floats) -> None:
    """Σ_{s'} P̃ V̲, Σ_{s'} P̃ (V̄ - V̲) and Σ_{s'} P̃ (V̄ + V̲)/2, for all pairs."""
    P, V_low, mean_low, gap, middle = work.P, work.V_low, work.mean_low, work.gap, work.middle
    D, rows = P.shape
    for row in range(rows):
        mean_low[row] = gap[row] = middle[row] = 0.0
    for d in range(D):
        if after.ndim == 3:  # known when compiled: the other branch is left out
            for row in range(rows):
                up, low = V_up[after[g, d, row]], V_low[after[g, d, row]]
                mean_low[row] += P[d, row] * low
                gap[row] += P[d, row] * (up - low)
                middle[row] += P[d, row] * ((up + low) / 2.0)
        else:
            low, apart, centre = V_low[d], V_up[d] - V_low[d], (V_up[d] + V_low[d]) / 2.0
            for row in range(rows):
                mean_low[row] += P[d, row] * low
                gap[row] += P[d, row] * apart
                middle[row] += P[d, row] * centre


def middle_variance(work: Scratch, after: Ints, g: int, V_up: Floats) -> None:
    """Var_{P̃}((V̄ + V̲)/2) for all pairs."""
    P, V_low, middle, variance = work.P, work.V_low, work.middle, work.variance
    D, rows = P.shape
    for row in range(rows):
        variance[row] = 0.0
    for d in range(D):
        if after.ndim == 3:
            for row in range(rows):
                s = after[g, d, row]
                centre = (V_up[s] + V_low[s]) / 2.0
                variance[row] += P[d, row] * ((centre - middle[row]) * (centre - middle[row]))
        else:
            centre = (V_up[d] + V_low[d]) / 2.0
            for row in range(rows):
                variance[row] += P[d, row] * ((centre - middle[row]) * (centre - middle[row]))


def nash_step(c: DpNashViConstants, N: Floats, most: float, work: Scratch, Q: Floats) -> None:
    """γ + Γ, Q̄ and Q̲ of every pair of one step."""
    for row in range(Q.size):
        b = gamma_sum(N[row], work.variance[row], work.gap[row], c)
        up, low = work.r[row] + work.mean[row] + b, work.r[row] + work.mean_low[row] - b
        Q[row] = up if (N[row] > 0.0) & (up < most) else most
        work.Q_low[row] = low if (N[row] > 0.0) & (low > 0.0) else 0.0


def plan_dp_nash_vi(c: DpNashViConstants, counts: Counted, values: Values, k: int) -> None:
    """Upper and lower values by backward induction; Q and V are the upper ones."""
    N, N_sas, R, after = counts
    Q, V, pi = values
    (H, pairs), S = Q.shape, V.shape[1]
    A, G = pairs // S, len(N)
    rows = np.zeros((7, pairs))
    vectors = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6]
    work = Scratch(np.zeros((len(N_sas), pairs)), *vectors, np.zeros(S))
    for h in range(H - 1, -1, -1):
        g = h % G
        if new_counts(h, H, G):
            transitions(N[g], N_sas, g, work.P)
            rewards(N[g], R[g], work.r)
        means(work.P, after, g, V[h + 1], work.mean)
        lower_backup(work, after, g, V[h + 1])
        middle_variance(work, after, g, V[h + 1])
        nash_step(c, N[g], float(H), work, Q[h])
        greedy(Q[h], V[h], pi[h])
        for s in range(S):
            work.V_low[s] = work.Q_low[s * A + pi[h, s]]


@dataclass(frozen=True)
class DPNashVI(Optimistic):
    """DP-Nash-VI of Qiao and Wang (2024) with one player."""

    raw = False
    models = ANY
    plan = staticmethod(plan_dp_nash_vi)

    def constants(self, problem: Problem, noise: Noise) -> DpNashViConstants:
        return dp_nash_vi_constants(problem, noise.E, self.bonus_scale)


AGENTS.add("dp_nash_vi", DPNashVI)
