"""Compiled twins of UCBVI's planning with bonus 1 and bonus 2 (baselines/ucbvi.py)."""

import math

from dpucbvi.baselines.ucbvi import HoeffdingConstants, UcbviBernsteinConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.steps import backup, cut_to_unit, greedy, spreads, visits
from dpucbvi.engine.state import Memory, Private
from dpucbvi.mdp import Floats


@inlined
def hoeffding_step(c: HoeffdingConstants, N: Floats, R: Floats, mean: Floats, Q: Floats) -> None:
    """Bonus 1 and Q of every pair of one step."""
    for row in range(Q.size):
        b = c.scale * (c.width * math.sqrt(1.0 / N[row]))
        target = cut_to_unit(R[row] / N[row]) + mean[row] + b
        Q[row] = target if (N[row] > 0.0) & (target < Q[row]) else Q[row]


def plan_ucbvi_ch(c: HoeffdingConstants, private: Private, memory: Memory) -> bool:
    """UCBVI with bonus 1 (baselines/ucbvi.py)."""
    N, R, Q, V, P, mean = private.N_sa, private.R, memory.Q, memory.V, memory.P, memory.mean
    changed = False
    for h in range(Q.shape[0] - 1, -1, -1):
        g = h % N.shape[0]
        backup(N[g], private.N_sas, g, V[h + 1], P, mean)
        hoeffding_step(c, N[g], R[g], mean, Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
    return changed


@inlined
def ucbvi_gaps(c: UcbviBernsteinConstants, N: Floats, gap: Floats) -> None:
    """min{100²H³S²AL²/N(s'), H²} for every s', from the counts of the next step."""
    A = N.size // gap.size
    for s in range(gap.size):
        N_next = visits(N, s, A)
        gap[s] = min(c.gap / N_next, c.gap_most) if N_next > 0.0 else c.gap_most


@inlined
def ucbvi_bernstein_step(
    c: UcbviBernsteinConstants,
    N: Floats,
    R: Floats,
    mean: Floats,
    spread: Floats,
    gap_mean: Floats,
    Q: Floats,
) -> None:
    """Bonus 2 and Q of every pair of one step."""
    for row in range(Q.size):
        b = c.scale * (
            math.sqrt(c.variance * spread[row] / N[row])
            + c.correction / N[row]
            + math.sqrt(c.next_value * gap_mean[row] / N[row])
        )
        target = cut_to_unit(R[row] / N[row]) + mean[row] + b
        Q[row] = target if (N[row] > 0.0) & (target < Q[row]) else Q[row]


def plan_ucbvi_bf(c: UcbviBernsteinConstants, private: Private, memory: Memory) -> bool:
    """UCBVI with bonus 2 (baselines/ucbvi.py)."""
    N, R, Q, V, gap = private.N_sa, private.R, memory.Q, memory.V, memory.gap
    P, mean, spread, gap_mean = memory.P, memory.mean, memory.spread, memory.gap_mean
    H, G = Q.shape[0], N.shape[0]
    changed = False
    gap[:] = 0.0  # [D2] at the last step
    for h in range(H - 1, -1, -1):
        g = h % G
        backup(N[g], private.N_sas, g, V[h + 1], P, mean)
        spreads(P, V[h + 1], gap, mean, spread, gap_mean)
        ucbvi_bernstein_step(c, N[g], R[g], mean, spread, gap_mean, Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
        ucbvi_gaps(c, N[g], gap)  # for step h-1
    return changed
