"""PUCB (Vietri, Balle, Krishnamurthy & Wu, ICML 2020, full version): UBEV on raw private counts; JDP only.

With noisy counts N̂, R̂ and a width |N̂ - N|, |R̂ - R| ≤ E for all counters, K episodes and β' = β/4:

    φ = √( 2 ln(K/β') / max(N̂(s,a) - E, 1) )                          what a finite sample hides
    ψ = (1 + SH) (3E/N̂(s,a) + 2E²/N̂(s,a)²)                            what the noise hides
    Q_h = min{ H, (R̂ + Σ_{s'} N̂(s,a,s') V_{h+1}(s'))/N̂(s,a) + (H+1) φ + ψ }   if N̂(s,a) ≥ 2E, else H
    V_h = max_a Q_h                             (no lower cut, no minimum with the last episode's Q)

E as printed, for counters with L noises of scale B (the levels of a tree): E = B L^{3/2} ln((2SAH + S²AH)/β'),
which with B = 3HL/ε is the paper's (3H/ε) log(K)^{5/2} ln(...). `scale` multiplies (H+1) φ + ψ, 1 as printed.
Where N̂ ≤ 0 the quotient is not defined and Q = H; N̂ ≥ 2E > 0 excludes it whenever there is noise [D22].
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpucbvi.agents.own import episodes
from dpucbvi.agents.register import AGENTS, JDP, Optimistic
from dpucbvi.counts import PrivateCounts
from dpucbvi.protocol import Algorithm, Counts, Noise, Plan, Problem, expectation

SPLIT = 4.0  # β' = β/4


class PucbConstants(NamedTuple):
    """(H+1) φ + ψ = `root`/√max(N̂ - E, 1) + `first`/N̂ + `second`/N̂²."""

    root: float  # (H+1) √(2 ln(K/β'))
    first: float  # 3 (1+SH) E
    second: float  # 2 (1+SH) E²
    E: float
    scale: float


def printed_width(problem: Problem, noise: Noise) -> float:
    """E = B L^{3/2} ln((2SAH + S²AH)/β')."""
    cells = problem.S * problem.A * problem.H * (2 + problem.S)
    return noise.scale * noise.terms**1.5 * math.log(SPLIT * cells / problem.beta)


def pucb_constants(problem: Problem, E: float, scale: float = 1.0) -> PucbConstants:
    H, S = problem.H, problem.S
    return PucbConstants(
        root=(H + 1.0) * math.sqrt(2.0 * math.log(SPLIT * problem.K / problem.beta)),
        first=3.0 * (1.0 + S * H) * E,
        second=2.0 * (1.0 + S * H) * E * E,
        E=E,
        scale=scale,
    )


def width(problem: Problem, noise: Noise) -> float:
    """E: printed, or the proven bound on the raw noise."""
    return noise.raw * noise.E if noise.printed is None else noise.printed * printed_width(problem, noise)


def pucb(problem: Problem, private: PrivateCounts, c: PucbConstants) -> Algorithm:
    """PUCB on noisy counts."""
    H, S, A = problem.H, problem.S, problem.A

    def plan(counts: Counts) -> Plan:
        Q = np.full((H, S, A), float(H))
        V = np.zeros((H + 1, S))
        for h in reversed(range(H)):
            g = h % counts.G
            for s, a in np.ndindex(S, A):
                N = counts.N_sa[g, s, a]
                if N >= 2.0 * c.E and N > 0.0:
                    mean = counts.R[g, s, a] / N + expectation(counts.N_sas[g, s, a] / N, V[h + 1])
                    Q[h, s, a] = min(mean + confidence(N, c), H)
            V[h] = Q[h].max(axis=-1)
        return Plan(Q.argmax(axis=-1), Q, V)

    return episodes(problem.K, private, plan)


def confidence(N: float, c: PucbConstants) -> float:
    """(H+1) φ + ψ times the scale. Requires N > 0."""
    return c.scale * (c.root / math.sqrt(max(N - c.E, 1.0)) + c.first / N + c.second / (N * N))


@dataclass(frozen=True)
class PUCB(Optimistic):
    """PUCB of Vietri et al. (2020); JDP only."""

    raw = True
    models = JDP

    def constants(self, problem: Problem, noise: Noise) -> PucbConstants:
        return pucb_constants(problem, width(problem, noise), self.bonus_scale)

    def algorithm(self, problem: Problem, private: PrivateCounts, constants: PucbConstants) -> Algorithm:
        return pucb(problem, private, constants)


AGENTS.add("pucb", PUCB)
