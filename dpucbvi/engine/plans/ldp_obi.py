"""Compiled twin of LDP-OBI's planning (agents/ldp_obi.py)."""

from typing import NamedTuple

import numpy as np

from dpucbvi.agents import LDPOBI, ldp_obi
from dpucbvi.agents.ldp_obi import LdpObiConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.steps import backup, greedy
from dpucbvi.engine.state import EPISODE, Memory, Private
from dpucbvi.engine.twins import add_plan
from dpucbvi.protocol import Floats

bonus = inlined(ldp_obi.bonus)
log_term = inlined(ldp_obi.log_term)


class Scratch(NamedTuple):
    P: Floats  # p̃ = N̂(s,a,s')/D^p [s', row]
    mean: Floats  # Σ p̃ V_{h+1} [row]
    D_p: Floats  # D^p [row]


def scratch(S: int, A: int, D: int) -> Scratch:
    return Scratch(np.zeros((D, S * A)), np.zeros(S * A), np.zeros(S * A))


@inlined
def row_denominators(N_sas: Floats, g: int, shift: float, D: Floats) -> None:
    """D^p = max(Σ_{s'} N̂(s,a,s') + shift, 1) of every pair of step g."""
    D[:] = 0.0
    for s in range(N_sas.shape[0]):
        for row in range(D.size):
            D[row] += N_sas[s, g, row]
    for row in range(D.size):
        D[row] = max(D[row] + shift, 1.0)


@inlined
def ldp_obi_step(
    c: LdpObiConstants, ell: float, left: float, N: Floats, R: Floats, work: Scratch, Q: Floats
) -> None:
    """β^r + (H-h+1) β^p and Q of every pair of one step."""
    mean, D_p = work.mean, work.D_p
    for row in range(Q.size):
        D_r = max(N[row] + c.reward_shift, 1.0)
        Q[row] = R[row] / D_r + mean[row] + bonus(D_r, D_p[row], ell, left, c)


def plan_ldp_obi(c: LdpObiConstants, private: Private, memory: Memory, work: Scratch) -> bool:
    """LDP-OBI on noisy counts as they are."""
    N, R, Q, V = private.N_sa, private.R, memory.Q, memory.V
    H = Q.shape[0]
    ell = log_term(memory.tally[EPISODE], c)
    changed = False
    for h in range(H - 1, -1, -1):
        g, left = h % N.shape[0], float(H - h)
        row_denominators(private.N_sas, g, c.transition_shift, work.D_p)
        backup(work.D_p, private.N_sas, private.places.next, g, V[h + 1], work.P, work.mean)
        ldp_obi_step(c, ell, left, N[g], R[g], work, Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
        for s in range(V.shape[1]):
            V[h, s] = min(V[h, s], left)
    return changed


add_plan(LDPOBI, LdpObiConstants, plan_ldp_obi, scratch)
