"""Compiled twin of Private-UCB-PO's planning (agents/private_ucb_po.py); memory.pi has probabilities."""

from typing import NamedTuple

import numpy as np

from dpucbvi.agents import PrivateUCBPO, private_ucb_po
from dpucbvi.agents.private_ucb_po import PrivateUcbPoConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.private_ucb_vi import denominators, raw_count_step
from dpucbvi.engine.plans.steps import backup
from dpucbvi.engine.state import EPISODE, Memory, Private
from dpucbvi.engine.twins import add_plan
from dpucbvi.protocol import Floats

weight = inlined(private_ucb_po.weight)


class Scratch(NamedTuple):
    P: Floats  # P̃ = N̂(s,a,s')/D [s', row]
    mean: Floats  # Σ P̃ V_{h+1} [row]
    D: Floats  # [row]
    weights: Floats  # π(a|s) exp(η Q(s,a)) at one s [a]


def scratch(S: int, A: int, D: int) -> Scratch:
    return Scratch(np.zeros((D, S * A)), np.zeros(S * A), np.zeros(S * A), np.zeros(A))


@inlined
def reweight(Q: Floats, eta: float, pi: Floats, weights: Floats) -> bool:
    """π(a|s) ∝ π(a|s) exp(η Q(s,a)) at one step; has π changed?"""
    S, A = pi.shape
    changed = False
    for s in range(S):
        total = 0.0
        for a in range(A):
            weights[a] = weight(pi[s, a], Q[s * A + a], eta)
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


def plan_private_ucb_po(c: PrivateUcbPoConstants, private: Private, memory: Memory, work: Scratch) -> bool:
    """Private-UCB-PO on noisy counts as they are."""
    N, R, Q, V = private.N_sa, private.R, memory.Q, memory.V
    H = Q.shape[0]
    changed = False
    if memory.tally[EPISODE] == 1:
        Q[:] = 0.0  # equal values leave π¹ uniform
    for h in range(H - 1, -1, -1):
        g = h % N.shape[0]
        changed |= reweight(Q[h], c.eta, memory.pi[h], work.weights)
        denominators(c, N[g], work.D)
        backup(work.D, private.N_sas, private.places.next, g, V[h + 1], work.P, work.mean)
        raw_count_step(c, work.D, R[g], work.mean, float(H - h), Q[h])
        average(Q[h], memory.pi[h], V[h])
    return changed


add_plan(PrivateUCBPO, PrivateUcbPoConstants, plan_private_ucb_po, scratch, stochastic=True)
