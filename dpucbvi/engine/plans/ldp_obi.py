"""Compiled twins of LDP-OBI's planning (baselines/ldp_obi.py)."""

import math

from dpucbvi.baselines.ldp_obi import LdpObiConstants
from dpucbvi.engine.compiled import inlined
from dpucbvi.engine.plans.steps import backup, greedy
from dpucbvi.engine.state import EPISODE, Memory, Private
from dpucbvi.mdp import Floats


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
    c: LdpObiConstants, ell: float, left: float, N: Floats, R: Floats, D_p: Floats, mean: Floats, Q: Floats
) -> None:
    """β^r + (H-h+1) β^p and Q of every pair of one step."""
    for row in range(Q.size):
        D_r = max(N[row] + c.reward_shift, 1.0)
        beta_r = math.sqrt(2.0 * ell / D_r) + c.reward_width / D_r
        beta_p = math.sqrt(c.transition * ell / D_p[row]) + c.transition_width / D_p[row]
        Q[row] = R[row] / D_r + mean[row] + c.scale * (beta_r + left * beta_p)


def plan_ldp_obi(c: LdpObiConstants, private: Private, memory: Memory) -> bool:
    """LDP-OBI on noisy counts as they are."""
    N, R, Q, V, P = private.N_sa, private.R, memory.Q, memory.V, memory.P
    mean, D_p = memory.mean, memory.spread
    H = Q.shape[0]
    ell = c.log_first + 3.0 * math.log(memory.tally[EPISODE])
    changed = False
    for h in range(H - 1, -1, -1):
        g, left = h % N.shape[0], float(H - h)
        row_denominators(private.N_sas, g, c.transition_shift, D_p)
        backup(D_p, private.N_sas, g, V[h + 1], P, mean)
        ldp_obi_step(c, ell, left, N[g], R[g], D_p, mean, Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
        for s in range(V.shape[1]):
            V[h, s] = min(V[h, s], left)
    return changed
