"""Compiled twins of UCBVI's planning with bonus 1 and bonus 2 (agents/ucbvi.py)."""

from typing import NamedTuple

import numpy as np

from dpucbvi.agents import UCBVI, UCBVICH, UCBVIRefined, ucbvi
from dpucbvi.agents.ucbvi import HoeffdingConstants, UcbviBernsteinConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.dp_ucbvi import Scratch, scratch
from dpucbvi.engine.plans.steps import backup, cut_to_unit, greedy, spreads, visits
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_plan
from dpucbvi.protocol import Floats

bonus_1 = inlined(ucbvi.bonus_1)
bonus_2 = inlined(ucbvi.bonus_2)
next_gap = inlined(ucbvi.next_gap)


class HoeffdingScratch(NamedTuple):
    """What bonus 1 needs of one step."""

    P: Floats  # P̂ [s', row]
    mean: Floats  # Σ P̂ V_{h+1} [row]


def hoeffding_scratch(S: int, A: int, D: int) -> HoeffdingScratch:
    return HoeffdingScratch(np.zeros((D, S * A)), np.zeros(S * A))


@inlined
def hoeffding_step(c: HoeffdingConstants, N: Floats, R: Floats, mean: Floats, Q: Floats) -> None:
    """Bonus 1 and Q of every pair of one step."""
    for row in range(Q.size):
        target = cut_to_unit(R[row] / N[row]) + mean[row] + bonus_1(N[row], c)
        Q[row] = target if (N[row] > 0.0) & (target < Q[row]) else Q[row]


def plan_ucbvi_ch(c: HoeffdingConstants, private: Private, memory: Memory, work: HoeffdingScratch) -> bool:
    """UCBVI with bonus 1."""
    N, R, Q, V = private.N_sa, private.R, memory.Q, memory.V
    changed = False
    for h in range(Q.shape[0] - 1, -1, -1):
        g = h % N.shape[0]
        backup(N[g], private.N_sas, private.places.next, g, V[h + 1], work.P, work.mean)
        hoeffding_step(c, N[g], R[g], work.mean, Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
    return changed


@inlined
def next_gaps(c: UcbviBernsteinConstants, N: Floats, gap: Floats) -> None:
    """min{...} of bonus 2 for every s', from the counts of the next step."""
    A = N.size // gap.size
    for s in range(gap.size):
        gap[s] = next_gap(visits(N, s, A), c)


@inlined
def ucbvi_bernstein_step(c: UcbviBernsteinConstants, N: Floats, R: Floats, work: Scratch, Q: Floats) -> None:
    """Bonus 2 and Q of every pair of one step."""
    mean, variance, gap_mean = work.mean, work.variance, work.gap_mean
    for row in range(Q.size):
        b = bonus_2(N[row], variance[row], gap_mean[row], c)
        target = cut_to_unit(R[row] / N[row]) + mean[row] + b
        Q[row] = target if (N[row] > 0.0) & (target < Q[row]) else Q[row]


def plan_ucbvi_bf(c: UcbviBernsteinConstants, private: Private, memory: Memory, work: Scratch) -> bool:
    """UCBVI with bonus 2."""
    N, R, Q, V = private.N_sa, private.R, memory.Q, memory.V
    H, G = Q.shape[0], N.shape[0]
    changed = False
    work.gap[:] = 0.0  # [D2] at the last step
    for h in range(H - 1, -1, -1):
        g = h % G
        backup(N[g], private.N_sas, private.places.next, g, V[h + 1], work.P, work.mean)
        spreads(work.P, private.places.next, g, V[h + 1], work.gap, work.mean, work.variance, work.gap_mean)
        ucbvi_bernstein_step(c, N[g], R[g], work, Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
        next_gaps(c, N[g], work.gap)  # for step h-1
    return changed


add_plan(UCBVI, UcbviBernsteinConstants, plan_ucbvi_bf, scratch, lazy=True)
add_plan(UCBVIRefined, UcbviBernsteinConstants, plan_ucbvi_bf, scratch, lazy=True)
add_plan(UCBVICH, HoeffdingConstants, plan_ucbvi_ch, hoeffding_scratch, lazy=True)
