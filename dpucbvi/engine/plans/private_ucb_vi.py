"""Compiled twin of Private-UCB-VI's planning (agents/private_ucb_vi.py)."""

from typing import NamedTuple

import numpy as np

from dpucbvi.agents import PrivateUCBVI, private_ucb_vi
from dpucbvi.agents.private_ucb_vi import PrivateUcbViConstants, RawCountConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.steps import backup, greedy
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_plan
from dpucbvi.protocol import Floats

bonus = inlined(private_ucb_vi.bonus)
shifted = inlined(private_ucb_vi.shifted)


class Scratch(NamedTuple):
    P: Floats  # P̃ = N̂(s,a,s')/D [s', row]
    mean: Floats  # Σ P̃ V_{h+1} [row]
    D: Floats  # [row]


def scratch(S: int, A: int, D: int) -> Scratch:
    return Scratch(np.zeros((D, S * A)), np.zeros(S * A), np.zeros(S * A))


@inlined
def denominators(c: RawCountConstants, N: Floats, D: Floats) -> None:
    """D of every pair of one step."""
    for row in range(D.size):
        D[row] = shifted(N[row], c)


@inlined
def raw_count_step(c: RawCountConstants, D: Floats, R: Floats, mean: Floats, most: float, Q: Floats) -> None:
    """The bonus and Q, cut to [0, most], of every pair of one step."""
    for row in range(Q.size):
        target = R[row] / D[row] + mean[row] + bonus(D[row], c)
        target = target if target > 0.0 else 0.0
        Q[row] = target if target < most else most


def plan_private_ucb_vi(c: PrivateUcbViConstants, private: Private, memory: Memory, work: Scratch) -> bool:
    """Private-UCB-VI on noisy counts as they are."""
    N, R, Q, V = private.N_sa, private.R, memory.Q, memory.V
    H = Q.shape[0]
    changed = False
    for h in range(H - 1, -1, -1):
        g = h % N.shape[0]
        denominators(c, N[g], work.D)
        backup(work.D, private.N_sas, private.places.next, g, V[h + 1], work.P, work.mean)
        raw_count_step(c, work.D, R[g], work.mean, float(H - h), Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
    return changed


add_plan(PrivateUCBVI, PrivateUcbViConstants, plan_private_ucb_vi, scratch)
