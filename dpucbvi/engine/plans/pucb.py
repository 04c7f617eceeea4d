"""Compiled twin of PUCB's planning (agents/pucb.py)."""

from typing import NamedTuple

import numpy as np

from dpucbvi.agents import PUCB, pucb
from dpucbvi.agents.pucb import PucbConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.steps import backup, greedy
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import add_plan
from dpucbvi.protocol import Floats

confidence = inlined(pucb.confidence)


class Scratch(NamedTuple):
    P: Floats  # N̂(s,a,s')/N̂(s,a) [s', row]
    mean: Floats  # Σ P V_{h+1} [row]


def scratch(S: int, A: int, D: int) -> Scratch:
    return Scratch(np.zeros((D, S * A)), np.zeros(S * A))


@inlined
def pucb_step(c: PucbConstants, N: Floats, R: Floats, mean: Floats, most: float, Q: Floats) -> None:
    """(H+1) φ + ψ and Q of every pair of one step."""
    for row in range(Q.size):
        n = N[row]
        target = R[row] / n + mean[row] + confidence(n, c)
        Q[row] = target if (n >= 2.0 * c.E) & (n > 0.0) & (target < most) else most


def plan_pucb(c: PucbConstants, private: Private, memory: Memory, work: Scratch) -> bool:
    """PUCB on noisy counts as they are."""
    N, R, Q, V = private.N_sa, private.R, memory.Q, memory.V
    H = Q.shape[0]
    changed = False
    for h in range(H - 1, -1, -1):
        g = h % N.shape[0]
        backup(N[g], private.N_sas, private.places.next, g, V[h + 1], work.P, work.mean)
        pucb_step(c, N[g], R[g], work.mean, float(H), Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
    return changed


add_plan(PUCB, PucbConstants, plan_pucb, scratch)
