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

from dpucbvi.agents.own import episodes
from dpucbvi.agents.private_ucb_vi import widths
from dpucbvi.agents.register import AGENTS, LDP, Optimistic
from dpucbvi.counts import PrivateCounts
from dpucbvi.protocol import Algorithm, Counts, Noise, Plan, Problem, expectation

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
        log_first=math.log(4.0 * math.pi**2 * S * A * H / (3.0 * problem.beta)),
        transition=14.0 * S,
        reward_width=(ALPHA + 1.0) * E1 + E1,
        transition_width=S * E2 + (ALPHA + 1.0) * c3,
        reward_shift=ALPHA * E1,
        transition_shift=ALPHA * c3,
        scale=scale,
    )


def ldp_obi(problem: Problem, private: PrivateCounts, c: LdpObiConstants) -> Algorithm:
    """LDP-OBI on noisy counts."""
    H, S, A = problem.H, problem.S, problem.A
    k = 0

    def plan(counts: Counts) -> Plan:
        nonlocal k
        k += 1
        ell = log_term(k, c)
        Q = np.zeros((H, S, A))
        V = np.zeros((H + 1, S))
        for h in reversed(range(H)):
            g = h % counts.G
            for s, a in np.ndindex(S, A):
                D_r = max(counts.N_sa[g, s, a] + c.reward_shift, 1.0)
                D_p = max(sum(counts.N_sas[g, s, a]) + c.transition_shift, 1.0)
                mean = counts.R[g, s, a] / D_r + expectation(counts.N_sas[g, s, a] / D_p, V[h + 1])
                Q[h, s, a] = mean + bonus(D_r, D_p, ell, float(H - h), c)
            V[h] = np.minimum(Q[h].max(axis=-1), float(H - h))
        return Plan(Q.argmax(axis=-1), Q, V)

    return episodes(problem.K, private, plan)


def log_term(k: int, c: LdpObiConstants) -> float:
    """ℓ = ln(4π²SAH k³/(3β)) in episode k."""
    return c.log_first + 3.0 * math.log(k)


def bonus(D_r: float, D_p: float, ell: float, steps_left: float, c: LdpObiConstants) -> float:
    """β^r + (H-h+1) β^p times the scale."""
    beta_r = math.sqrt(2.0 * ell / D_r) + c.reward_width / D_r
    beta_p = math.sqrt(c.transition * ell / D_p) + c.transition_width / D_p
    return c.scale * (beta_r + steps_left * beta_p)


@dataclass(frozen=True)
class LDPOBI(Optimistic):
    """LDP-OBI of Garcelon et al. (2021); LDP only."""

    raw = True
    models = LDP

    def constants(self, problem: Problem, noise: Noise) -> LdpObiConstants:
        return ldp_obi_constants(problem, *widths(problem, noise), self.bonus_scale)

    def algorithm(self, problem: Problem, private: PrivateCounts, constants: LdpObiConstants) -> Algorithm:
        return ldp_obi(problem, private, constants)


AGENTS.add("ldp_obi", LDPOBI)
