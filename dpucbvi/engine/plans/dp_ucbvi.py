"""Compiled twin of Algorithm 1's lines 4-15 (algorithm1.py)."""

from typing import NamedTuple

import numpy as np

from dpucbvi import bonus
from dpucbvi.agents import DPUCBVI
from dpucbvi.bonus import BernsteinConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.steps import backup, cut_to_unit, greedy, spreads, visits
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_plan
from dpucbvi.protocol import Floats

next_value_gap = inlined(bonus.next_value_gap)
terms_of = inlined(bonus.terms_of)
scaled_sum = inlined(bonus.scaled_sum)


class Scratch(NamedTuple):
    """What line 7 needs of one step."""

    P: Floats  # P̃ [s', row]
    mean: Floats  # Σ P̃ Ṽ_{h+1} [row]
    variance: Floats  # Var_{P̃} Ṽ_{h+1} [row]
    gap: Floats  # min{...} of line 7 [s']
    gap_mean: Floats  # Σ P̃ min{...} [row]


def scratch(S: int, A: int, D: int) -> Scratch:
    return Scratch(np.zeros((D, S * A)), np.zeros(S * A), np.zeros(S * A), np.zeros(S), np.zeros(S * A))


@inlined
def next_value_gaps(c: BernsteinConstants, N: Floats, gap: Floats) -> None:
    """min{...} of line 7 for every s', from the counts Ñ of the next step."""
    A = N.size // gap.size
    for s in range(gap.size):
        gap[s] = next_value_gap(visits(N, s, A), c)


@inlined
def bernstein_step(c: BernsteinConstants, N: Floats, R: Floats, work: Scratch, Q: Floats) -> None:
    """[Alg.1 L7-L10] The bonus and Q̃ of every pair of one step; Q̃ ≤ H from the start."""
    mean, variance, gap_mean = work.mean, work.variance, work.gap_mean
    for row in range(Q.size):
        b = scaled_sum(terms_of(N[row], variance[row], gap_mean[row], c), c)  # [Alg.1 L7]
        target = cut_to_unit(R[row] / N[row]) + mean[row] + b
        Q[row] = target if (N[row] > 0.0) & (target < Q[row]) else Q[row]  # [Alg.1 L9]


def plan_dp_ucbvi(c: BernsteinConstants, private: Private, memory: Memory, work: Scratch) -> bool:
    """[Alg.1 L4-L15]"""
    N, R, Q, V = private.N_sa, private.R, memory.Q, memory.V
    H, G = Q.shape[0], N.shape[0]
    changed = False
    work.gap[:] = 0.0  # [D2] at the last step
    for h in range(H - 1, -1, -1):  # [Alg.1 L5]
        g = h % G
        backup(N[g], private.N_sas, private.places.next, g, V[h + 1], work.P, work.mean)  # [Alg.1 L6]
        spreads(work.P, private.places.next, g, V[h + 1], work.gap, work.mean, work.variance, work.gap_mean)
        bernstein_step(c, N[g], R[g], work, Q[h])  # [Alg.1 L7-L10]
        changed |= greedy(Q[h], V[h], memory.pi[h])  # [Alg.1 L11-L14]
        next_value_gaps(c, N[g], work.gap)  # for step h-1
    return changed


add_plan(DPUCBVI, BernsteinConstants, plan_dp_ucbvi, scratch, lazy=True)
