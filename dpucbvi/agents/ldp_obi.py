"""LDP-OBI (Garcelon, Perchet, Pike-Burke & Pirotta, NeurIPS 2021): optimistic backward induction; LDP only.

Reconstructed from memory of its structure; the privacy terms were re-derived [D23]. With widths

    |R̂ - R| ≤ c1,  |N̂ - N| ≤ c2,  |Σ_{s'} N̂(s,a,s') - Σ_{s'} N(s,a,s')| ≤ c3,  |N̂(s,a,s') - N(s,a,s')| ≤ c4

and α > 1, in episode k:

    D^r = N̂(s,a) + α c2,   r̃ = R̂/D^r;      D^p = Σ_{s'} N̂(s,a,s') + α c3,   p̃ = N̂(s,a,s')/D^p
    β^r = √(2ℓ/D^r) + ((α+1) c2 + c1)/D^r,    β^p = √(14Sℓ/D^p) + (S c4 + (α+1) c3)/D^p
    Q_h = r̃ + Σ p̃ V_{h+1} + β^r + (H-h+1) β^p,   V_h = min{H-h+1, max_a Q_h},    ℓ = ln(4π²SAH k³/(3β))

Here c1 = c2 = E1, c4 = E2 are the widths of one counter and c3 = √S E1: a sum of S independent noises has at
most √S times the Chernoff bound of one. D^r and D^p are at least 1. `scale` multiplies β^r + (H-h+1) β^p.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpucbvi.agents.plans import Counted, Values, greedy, means, new_counts, transitions
from dpucbvi.agents.private_ucb_vi import widths
from dpucbvi.agents.register import AGENTS, LDP, Optimistic
from dpucbvi.elementary import log, quick_log
from dpucbvi.protocol import Floats, Noise, Problem

ALPHA = 2.0


class LdpObiConstants(NamedTuple):
    """β^r = √(2ℓ/D^r) + `reward_width`/D^r and β^p = √(`transition`·ℓ/D^p) + `transition_width`/D^p."""

    log_first: float  # ℓ at k = 1
    transition: float  # 14S
    reward_width: float  # (α+1) c2 + c1
    transition_width: float  # S c4 + (α+1) c3
    reward_shift: float  # α c2
    transition_shift: float  # α c3
    scale: float


def ldp_obi_constants(problem: Problem, E1: float, E2: float, scale: float = 1.0) -> LdpObiConstants:
    H, S, A = problem.H, problem.S, problem.A
    c3 = math.sqrt(S) * E1
    return LdpObiConstants(
        log_first=log(4.0 * math.pi * math.pi * S * A * H / (3.0 * problem.beta)),
        transition=14.0 * S,
        reward_width=(ALPHA + 1.0) * E1 + E1,
        transition_width=S * E2 + (ALPHA + 1.0) * c3,
        reward_shift=ALPHA * E1,
        transition_shift=ALPHA * c3,
        scale=scale,
    )


def log_term(k: int, c: LdpObiConstants) -> float:
    """ℓ = ln(4π²SAH k³/(3β)) in episode k."""
    return c.log_first + 3.0 * quick_log(k)


def betas(D_r: float, D_p: float, ell: float, c: LdpObiConstants) -> tuple[float, float]:
    """β^r and β^p."""
    return (
        math.sqrt(2.0 * ell / D_r) + c.reward_width / D_r,
        math.sqrt(c.transition * ell / D_p) + c.transition_width / D_p,
    )


def bonus(beta_r: float, beta_p: float, steps_left: float, c: LdpObiConstants) -> float:
    """β^r + (H-h+1) β^p times the scale."""
    return c.scale * (beta_r + steps_left * beta_p)


def row_denominators(N_sas: Floats, g: int, shift: float, D: Floats) -> None:
    """D^p = max(Σ_{s'} N̂(s,a,s') + shift, 1) of every pair of step g."""
    for row in range(D.size):
        D[row] = 0.0
    for s in range(N_sas.shape[0]):
        for row in range(D.size):
            D[row] += N_sas[s, g, row]
    for row in range(D.size):
        D[row] = max(D[row] + shift, 1.0)


def plan_ldp_obi(c: LdpObiConstants, counts: Counted, values: Values, k: int) -> None:
    """LDP-OBI on noisy counts as they are."""
    N, N_sas, R, after = counts
    Q, V, pi = values
    (H, pairs), G, ell = Q.shape, len(N), log_term(k, c)
    P, work = np.zeros((len(N_sas), pairs)), np.zeros((5, pairs))
    r, beta_r, beta_p, D_p, mean = work[0], work[1], work[2], work[3], work[4]
    for h in range(H - 1, -1, -1):
        g = h % G
        if new_counts(h, H, G):
            row_denominators(N_sas, g, c.transition_shift, D_p)
            transitions(D_p, N_sas, g, P)
            for row in range(pairs):
                D_r = max(N[g, row] + c.reward_shift, 1.0)
                r[row] = R[g, row] / D_r
                beta_r[row], beta_p[row] = betas(D_r, D_p[row], ell, c)
        means(P, after, g, V[h + 1], mean)
        for row in range(pairs):
            Q[h, row] = r[row] + mean[row] + bonus(beta_r[row], beta_p[row], float(H - h), c)
        greedy(Q[h], V[h], pi[h])
        for s in range(V.shape[1]):
            V[h, s] = min(V[h, s], float(H - h))


@dataclass(frozen=True)
class LDPOBI(Optimistic):
    """LDP-OBI of Garcelon et al. (2021); LDP only.

    Parameters
    ----------
    bonus_scale : float
        Multiplies the bonus; 1 in the algorithm's paper.
    pooled : bool
        Pool the counts of all steps, for an MDP whose P and r do not depend on h.
    bonus_without : str, optional
        A term of the bonus to leave out, to measure what it contributes [D32].

    Raises
    ------
    InputError
        If `bonus_scale` is not above 0, or there is no such term.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> run = dp.run(dp.riverswim(S=3, H=4), dp.LDPOBI(bonus_scale=0.01), dp.Local(epsilon=10), K=50, seed=0)
    >>> run.regret.shape, bool(run.regret[-1] >= 0)
    ((50,), True)
    """

    raw = True
    models = LDP
    plan = staticmethod(plan_ldp_obi)

    def constants(self, problem: Problem, noise: Noise) -> LdpObiConstants:
        return ldp_obi_constants(problem, *widths(problem, noise), self.bonus_scale)


AGENTS.add("ldp_obi", LDPOBI)
