"""Compiled twins of DP-Nash-VI's planning for one player (baselines/dp_nash_vi.py)."""

import math

from dpucbvi.baselines.dp_nash_vi import DpNashViConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.steps import backup, cut_to_unit, greedy
from dpucbvi.engine.state import Memory, Private
from dpucbvi.mdp import Floats


@inlined
def lower_backup(P: Floats, V_up: Floats, V_low: Floats, mean_low: Floats, gap: Floats, middle: Floats) -> None:
    """Σ_{s'} P̃ V̲, Σ_{s'} P̃ (V̄ - V̲) and Σ_{s'} P̃ (V̄ + V̲)/2, for all pairs."""
    S, rows = P.shape
    mean_low[:] = 0.0
    gap[:] = 0.0
    middle[:] = 0.0
    for s in range(S):
        low, apart, centre = V_low[s], V_up[s] - V_low[s], (V_up[s] + V_low[s]) / 2.0
        for row in range(rows):
            mean_low[row] += P[s, row] * low
            gap[row] += P[s, row] * apart
            middle[row] += P[s, row] * centre


@inlined
def middle_spread(P: Floats, V_up: Floats, V_low: Floats, middle: Floats, spread: Floats) -> None:
    """Var_{P̃}((V̄ + V̲)/2) for all pairs."""
    S, rows = P.shape
    spread[:] = 0.0
    for s in range(S):
        centre = (V_up[s] + V_low[s]) / 2.0
        for row in range(rows):
            spread[row] += P[s, row] * ((centre - middle[row]) * (centre - middle[row]))


@inlined
def nash_step(
    c: DpNashViConstants, N: Floats, R: Floats, mean: Floats, most: float, memory: Memory, Q: Floats
) -> None:
    """γ + Γ, Q̄ and Q̲ of every pair of one step; Q̲ takes the place of Σ P̃ V̲."""
    mean_low, gap, spread = memory.gap_mean, memory.apart, memory.spread
    for row in range(Q.size):
        b = c.scale * (
            c.gap * gap[row] + c.variance * math.sqrt(spread[row] * c.iota / N[row]) + c.rest / N[row]
        )
        r = cut_to_unit(R[row] / N[row])
        up, low = r + mean[row] + b, r + mean_low[row] - b
        Q[row] = up if (N[row] > 0.0) & (up < most) else most
        mean_low[row] = low if (N[row] > 0.0) & (low > 0.0) else 0.0


def plan_dp_nash_vi(c: DpNashViConstants, private: Private, memory: Memory) -> bool:
    """Upper and lower values by backward induction."""
    N, R, Q, V, P, pi = private.N_sa, private.R, memory.Q, memory.V, memory.P, memory.pi
    mean, spread, V_low, Q_low = memory.mean, memory.spread, memory.gap, memory.gap_mean
    H, S = pi.shape
    A = Q.shape[1] // S
    changed = False
    V_low[:] = 0.0
    for h in range(H - 1, -1, -1):
        g = h % N.shape[0]
        backup(N[g], private.N_sas, g, V[h + 1], P, mean)
        lower_backup(P, V[h + 1], V_low, Q_low, memory.apart, memory.middle)
        middle_spread(P, V[h + 1], V_low, memory.middle, spread)
        nash_step(c, N[g], R[g], mean, float(H), memory, Q[h])
        changed |= greedy(Q[h], V[h], pi[h])
        for s in range(S):
            V_low[s] = Q_low[s * A + pi[h, s]]
    return changed
