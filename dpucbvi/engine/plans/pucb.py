"""Compiled twins of PUCB's planning (baselines/pucb.py)."""

import math

from dpucbvi.baselines.pucb import PucbConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.steps import backup, greedy
from dpucbvi.engine.state import Memory, Private
from dpucbvi.mdp import Floats


@inlined
def pucb_step(c: PucbConstants, N: Floats, R: Floats, mean: Floats, most: float, Q: Floats) -> None:
    """(H+1) φ + ψ and Q of every pair of one step."""
    for row in range(Q.size):
        n = N[row]
        b = c.scale * (c.root / math.sqrt(max(n - c.E, 1.0)) + c.first / n + c.second / (n * n))
        target = R[row] / n + mean[row] + b
        Q[row] = target if (n >= 2.0 * c.E) & (n > 0.0) & (target < most) else most


def plan_pucb(c: PucbConstants, private: Private, memory: Memory) -> bool:
    """PUCB on noisy counts as they are."""
    N, R, Q, V, P, mean = private.N_sa, private.R, memory.Q, memory.V, memory.P, memory.mean
    H = Q.shape[0]
    changed = False
    for h in range(H - 1, -1, -1):
        g = h % N.shape[0]
        backup(N[g], private.N_sas, g, V[h + 1], P, mean)
        pucb_step(c, N[g], R[g], mean, float(H), Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
    return changed
