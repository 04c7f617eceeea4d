"""Private-UCB-VI (Chowdhury & Zhou, AAAI 2022, Algorithm 2): UCBVI-CH on raw private counts.

With noisy counts N̂, R̂ used as they are (no projection: P̃ need not be a distribution) and widths
|N̂(s,a) - N(s,a)|, |R̂ - R| ≤ E1, |N̂(s,a,s') - N(s,a,s')| ≤ E2, all with probability 1 - β:

    D = max(N̂(s,a) + E1, 1),   r̃ = R̂/D,   P̃ = N̂(s,a,s')/D
    b = √(2ℓ/D) + 3 E1/D   +   H √(2ℓ/D) + H (S E2 + 2 E1)/D,        ℓ = ln(4SAT/β)
    Q_h = r̃ + Σ P̃ V_{h+1} + b cut to [0, H-h+1],   V_h = max_a Q_h      (no minimum with the last episode's Q)

Widths as printed, for a noise of n Laplace terms of scale B: E1 = B √(8n ln(6SAT/β)), E2 = B √(8n ln(6S²AT/β));
Central has B = 3HL/ε and n = L (the paper's (3H/ε) √(8 log³K ln(...))), Local B = 3H/ε and n = K. Widths and
constants were reconstructed from papers that reuse this construction [D10]. `scale` multiplies b, 1 as printed.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from dpucbvi.agents.own import episodes
from dpucbvi.agents.register import AGENTS, ANY, Optimistic
from dpucbvi.counts import PrivateCounts
from dpucbvi.protocol import Algorithm, Counts, Floats, Noise, Plan, Problem, expectation


class PrivateUcbViConstants(NamedTuple):
    """b = `root`/√D + `width`/D."""

    root: float  # (1 + H) √(2ℓ)
    width: float  # 3 E1 + H (S E2 + 2 E1)
    E1: float
    scale: float


def printed_widths(problem: Problem, noise: Noise) -> tuple[float, float]:
    """E1 and E2 as printed."""
    SAT = problem.S * problem.A * problem.T
    return (
        noise.scale * math.sqrt(8.0 * noise.terms * math.log(6.0 * SAT / problem.beta)),
        noise.scale * math.sqrt(8.0 * noise.terms * math.log(6.0 * problem.S * SAT / problem.beta)),
    )


def widths(problem: Problem, noise: Noise) -> tuple[float, float]:
    """E1 and E2: printed, or the proven bound on the raw noise."""
    if noise.printed is None:
        return noise.raw * noise.E, noise.raw * noise.E
    E1, E2 = printed_widths(problem, noise)
    return noise.printed * E1, noise.printed * E2


def private_ucb_vi_constants(
    problem: Problem, E1: float, E2: float, scale: float = 1.0
) -> PrivateUcbViConstants:
    H, S = problem.H, problem.S
    ell = math.log(4.0 * S * problem.A * problem.T / problem.beta)
    return PrivateUcbViConstants(
        root=(1.0 + H) * math.sqrt(2.0 * ell),
        width=3.0 * E1 + H * (S * E2 + 2.0 * E1),
        E1=E1,
        scale=scale,
    )


class RawCountConstants(Protocol):
    """What the bonus b = `root`/√D + `width`/D needs, here and in Private-UCB-PO."""

    @property
    def root(self) -> float: ...
    @property
    def width(self) -> float: ...
    @property
    def E1(self) -> float: ...
    @property
    def scale(self) -> float: ...


def shifted(N: float, c: RawCountConstants) -> float:
    """D = max(N̂ + E1, 1)."""
    return max(N + c.E1, 1.0)


def bonus(D: float, c: RawCountConstants) -> float:
    """b times the scale."""
    return c.scale * (c.root / math.sqrt(D) + c.width / D)


def optimistic_q(counts: Counts, h: int, V_next: Floats, H: int, c: RawCountConstants) -> Floats:
    """Q_h(s,a) = r̃ + Σ P̃ V_{h+1} + b cut to [0, H-h+1], for all pairs."""
    g = h % counts.G
    Q = np.zeros(counts.N_sa.shape[1:])
    for s, a in np.ndindex(*Q.shape):
        D = shifted(counts.N_sa[g, s, a], c)
        target = counts.R[g, s, a] / D + expectation(counts.N_sas[g, s, a] / D, V_next) + bonus(D, c)
        Q[s, a] = min(max(target, 0.0), float(H - h))
    return Q


def private_ucb_vi(problem: Problem, private: PrivateCounts, c: PrivateUcbViConstants) -> Algorithm:
    """Private-UCB-VI on noisy counts."""
    H, S, A = problem.H, problem.S, problem.A

    def plan(counts: Counts) -> Plan:
        Q = np.zeros((H, S, A))
        V = np.zeros((H + 1, S))
        for h in reversed(range(H)):
            Q[h] = optimistic_q(counts, h, V[h + 1], H, c)
            V[h] = Q[h].max(axis=-1)
        return Plan(Q.argmax(axis=-1), Q, V)

    return episodes(problem.K, private, plan)


@dataclass(frozen=True)
class PrivateUCBVI(Optimistic):
    """Private-UCB-VI of Chowdhury and Zhou (2022)."""

    raw = True
    models = ANY

    def constants(self, problem: Problem, noise: Noise) -> PrivateUcbViConstants:
        return private_ucb_vi_constants(problem, *widths(problem, noise), self.bonus_scale)

    def algorithm(
        self, problem: Problem, private: PrivateCounts, constants: PrivateUcbViConstants
    ) -> Algorithm:
        return private_ucb_vi(problem, private, constants)


AGENTS.add("private_ucb_vi", PrivateUCBVI)
