"""Compiled twin of Algorithm 1's lines 4-15 (algorithm1.py)."""

import math

from dpucbvi.bonus import VARIANCE, BernsteinConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.steps import backup, cut_to_unit, greedy, spreads, visits
from dpucbvi.engine.state import Memory, Private
from dpucbvi.mdp import Floats


@inlined
def next_value_gaps(c: BernsteinConstants, N: Floats, gap: Floats) -> None:
    """min{...} of line 7 for every s', from the counts Ñ of the next step."""
    A = N.size // gap.size
    for s in range(gap.size):
        N_next = visits(N, s, A)
        gap[s] = c.gap_most
        if N_next > 0.0:
            gap[s] = min(c.gap_1 / N_next + c.gap_2 / (N_next * N_next), c.gap_most)


@inlined
def bernstein_step(
    c: BernsteinConstants, N: Floats, R: Floats, mean: Floats, spread: Floats, gap_mean: Floats, Q: Floats
) -> None:
    """[Alg.1 L7-L10] The bonus and Q̃ of every pair of one step; Q̃ ≤ H from the start."""
    for row in range(Q.size):
        b = c.scale * (  # [Alg.1 L7]
            math.sqrt(c.reward / N[row])
            + c.privacy / N[row]
            + c.next_value * math.sqrt(gap_mean[row] / N[row])
            + VARIANCE * math.sqrt(spread[row] * c.iota / N[row])
        )
        target = cut_to_unit(R[row] / N[row]) + mean[row] + b
        Q[row] = target if (N[row] > 0.0) & (target < Q[row]) else Q[row]  # [Alg.1 L9]


def plan_dp_ucbvi(c: BernsteinConstants, private: Private, memory: Memory) -> bool:
    """[Alg.1 L4-L15]"""
    N, R, Q, V, gap = private.N_sa, private.R, memory.Q, memory.V, memory.gap
    P, mean, spread, gap_mean = memory.P, memory.mean, memory.spread, memory.gap_mean
    H, G = Q.shape[0], N.shape[0]
    changed = False
    gap[:] = 0.0  # [D2] at the last step
    for h in range(H - 1, -1, -1):  # [Alg.1 L5]
        g = h % G
        backup(N[g], private.N_sas, g, V[h + 1], P, mean)  # [Alg.1 L6]
        spreads(P, V[h + 1], gap, mean, spread, gap_mean)
        bernstein_step(c, N[g], R[g], mean, spread, gap_mean, Q[h])  # [Alg.1 L7-L10]
        changed |= greedy(Q[h], V[h], memory.pi[h])  # [Alg.1 L11-L14]
        next_value_gaps(c, N[g], gap)  # for step h-1
    return changed
