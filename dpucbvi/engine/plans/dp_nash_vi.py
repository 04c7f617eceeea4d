"""Compiled twin of DP-Nash-VI's planning for one player (agents/dp_nash_vi.py)."""

from typing import NamedTuple

import numpy as np

from dpucbvi.agents import DPNashVI, dp_nash_vi
from dpucbvi.agents.dp_nash_vi import DpNashViConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.steps import backup, cut_to_unit, greedy
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_plan
from dpucbvi.protocol import Floats, Ints

gamma_sum = inlined(dp_nash_vi.gamma_sum)


class Scratch(NamedTuple):
    """What γ + Γ needs of one step, and the lower values."""

    P: Floats  # P̃ [s', row]
    mean: Floats  # Σ P̃ V̄_{h+1} [row]
    mean_low: Floats  # Σ P̃ V̲_{h+1} [row]
    gap: Floats  # Σ P̃ (V̄ - V̲) [row]
    middle: Floats  # Σ P̃ (V̄ + V̲)/2 [row]
    variance: Floats  # Var_{P̃}((V̄ + V̲)/2) [row]
    Q_low: Floats  # Q̲_h [row]
    V_low: Floats  # V̲_{h+1}, then V̲_h [s]


def scratch(S: int, A: int, D: int) -> Scratch:
    mean, mean_low, gap, middle, variance, Q_low = np.zeros((6, S * A))
    return Scratch(np.zeros((D, S * A)), mean, mean_low, gap, middle, variance, Q_low, np.zeros(S))


@inlined
def lower_backup(work: Scratch, after: Ints, g: int, V_up: Floats) -> None:
    """Σ_{s'} P̃ V̲, Σ_{s'} P̃ (V̄ - V̲) and Σ_{s'} P̃ (V̄ + V̲)/2, for all pairs."""
    P, V_low, mean_low, gap, middle = work.P, work.V_low, work.mean_low, work.gap, work.middle
    D, rows = P.shape
    mean_low[:] = 0.0
    gap[:] = 0.0
    middle[:] = 0.0
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


@inlined
def middle_variance(work: Scratch, after: Ints, g: int, V_up: Floats) -> None:
    """Var_{P̃}((V̄ + V̲)/2) for all pairs."""
    P, V_low, middle, variance = work.P, work.V_low, work.middle, work.variance
    D, rows = P.shape
    variance[:] = 0.0
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


@inlined
def nash_step(c: DpNashViConstants, N: Floats, R: Floats, most: float, work: Scratch, Q: Floats) -> None:
    """γ + Γ, Q̄ and Q̲ of every pair of one step."""
    for row in range(Q.size):
        b = gamma_sum(N[row], work.variance[row], work.gap[row], c)
        r = cut_to_unit(R[row] / N[row])
        up, low = r + work.mean[row] + b, r + work.mean_low[row] - b
        Q[row] = up if (N[row] > 0.0) & (up < most) else most
        work.Q_low[row] = low if (N[row] > 0.0) & (low > 0.0) else 0.0


def plan_dp_nash_vi(c: DpNashViConstants, private: Private, memory: Memory, work: Scratch) -> bool:
    """Upper and lower values by backward induction."""
    N, R, Q, V, pi = private.N_sa, private.R, memory.Q, memory.V, memory.pi
    H, S = pi.shape
    A = Q.shape[1] // S
    changed = False
    work.V_low[:] = 0.0
    for h in range(H - 1, -1, -1):
        g = h % N.shape[0]
        backup(N[g], private.N_sas, private.places.next, g, V[h + 1], work.P, work.mean)
        lower_backup(work, private.places.next, g, V[h + 1])
        middle_variance(work, private.places.next, g, V[h + 1])
        nash_step(c, N[g], R[g], float(H), work, Q[h])
        changed |= greedy(Q[h], V[h], pi[h])
        for s in range(S):
            work.V_low[s] = work.Q_low[s * A + pi[h, s]]
    return changed


add_plan(DPNashVI, DpNashViConstants, plan_dp_nash_vi, scratch)
