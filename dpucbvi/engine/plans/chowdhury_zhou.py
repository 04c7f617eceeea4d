"""Compiled twins of Private-UCB-VI and Private-UCB-PO, which share their bonus on noisy counts."""

import math

from dpucbvi.baselines.private_ucb_po import PrivateUcbPoConstants
from dpucbvi.baselines.private_ucb_vi import PrivateUcbViConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.steps import backup, greedy
from dpucbvi.engine.state import EPISODE, Memory, Private
from dpucbvi.mdp import Floats


@inlined
def shifted(N: Floats, shift: float, D: Floats) -> None:
    """D = max(N̂ + shift, 1), the denominators of one step."""
    for row in range(D.size):
        D[row] = max(N[row] + shift, 1.0)


@inlined
def raw_count_step(
    c: PrivateUcbViConstants | PrivateUcbPoConstants, D: Floats, R: Floats, mean: Floats, most: float, Q: Floats
) -> None:
    """The bonus and Q, cut to [0, most], of every pair of one step."""
    for row in range(Q.size):
        target = R[row] / D[row] + mean[row] + c.scale * (c.root / math.sqrt(D[row]) + c.width / D[row])
        target = target if target > 0.0 else 0.0
        Q[row] = target if target < most else most


def plan_private_ucb_vi(c: PrivateUcbViConstants, private: Private, memory: Memory) -> bool:
    """Private-UCB-VI (baselines/private_ucb_vi.py)."""
    N, R, Q, V, P = private.N_sa, private.R, memory.Q, memory.V, memory.P
    mean, D = memory.mean, memory.spread
    H = Q.shape[0]
    changed = False
    for h in range(H - 1, -1, -1):
        g = h % N.shape[0]
        shifted(N[g], c.E1, D)
        backup(D, private.N_sas, g, V[h + 1], P, mean)
        raw_count_step(c, D, R[g], mean, float(H - h), Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
    return changed


@inlined
def reweight(Q: Floats, eta: float, pi: Floats, weights: Floats) -> bool:
    """π(a|s) ∝ π(a|s) exp(η Q(s,a)) at one step; has π changed?"""
    S, A = pi.shape
    changed = False
    for s in range(S):
        total = 0.0
        for a in range(A):
            weights[a] = pi[s, a] * math.exp(eta * Q[s * A + a])
            total += weights[a]
        for a in range(A):
            p = weights[a] / total
            changed |= p != pi[s, a]
            pi[s, a] = p
    return changed


@inlined
def average(Q: Floats, pi: Floats, V: Floats) -> None:
    """V(s) = Σ_a π(a|s) Q(s,a)."""
    S, A = pi.shape
    for s in range(S):
        V[s] = 0.0
        for a in range(A):
            V[s] += pi[s, a] * Q[s * A + a]


def plan_private_ucb_po(c: PrivateUcbPoConstants, private: Private, memory: Memory) -> bool:
    """Private-UCB-PO (baselines/private_ucb_po.py); memory.pi holds probabilities, [h, s, a]."""
    N, R, Q, V, P = private.N_sa, private.R, memory.Q, memory.V, memory.P
    mean, D = memory.mean, memory.spread
    H = Q.shape[0]
    changed = False
    if memory.tally[EPISODE] == 1:
        Q[:] = 0.0  # equal values leave π¹ uniform
    for h in range(H - 1, -1, -1):
        g = h % N.shape[0]
        changed |= reweight(Q[h], c.eta, memory.pi[h], mean)
        shifted(N[g], c.E1, D)
        backup(D, private.N_sas, g, V[h + 1], P, mean)
        raw_count_step(c, D, R[g], mean, float(H - h), Q[h])
        average(Q[h], memory.pi[h], V[h])
    return changed
