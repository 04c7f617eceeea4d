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

from dpucbvi.agents.plans import Counted, Values, backward, greedy
from dpucbvi.agents.register import AGENTS, JDP, Optimistic
from dpucbvi.elementary import log
from dpucbvi.protocol import Noise, Problem

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
    return noise.scale * math.sqrt(noise.terms**3) * log(SPLIT * cells / problem.beta)


def width(problem: Problem, noise: Noise) -> float:
    """E: printed, or the proven bound on the raw noise."""
    return noise.raw * noise.E if noise.printed is None else noise.printed * printed_width(problem, noise)


def confidence(N: float, c: PucbConstants) -> float:
    """(H+1) φ + ψ times the scale. Requires N > 0."""
    return c.scale * (c.root / math.sqrt(max(N - c.E, 1.0)) + c.first / N + c.second / (N * N))


def known(c: PucbConstants, N: float, R: float) -> tuple[float, float, float]:
    """N̂, r̂ and the bonus of a pair."""
    return N, R / N, confidence(N, c)


def value(c: PucbConstants, N: float, target: float, last: float, H: float, left: float) -> float:
    """The target where N̂ ≥ 2E, and H elsewhere and at most."""
    return target if (N >= 2.0 * c.E) & (N > 0.0) & (target < H) else H


def plan_pucb(c: PucbConstants, counts: Counted, values: Values, k: int) -> None:
    """PUCB on noisy counts as they are."""
    backward(known, value, greedy, c, counts, values)


@dataclass(frozen=True)
class PUCB(Optimistic):
    """PUCB of Vietri et al. (2020); JDP only.

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
    >>> run = dp.run(dp.riverswim(S=3, H=4), dp.PUCB(bonus_scale=0.01), dp.Central(epsilon=10), K=50, seed=0)
    >>> run.regret.shape, bool(run.regret[-1] >= 0)
    ((50,), True)
    """

    raw = True
    models = JDP
    plan = staticmethod(plan_pucb)

    def constants(self, problem: Problem, noise: Noise) -> PucbConstants:
        H, S, E = problem.H, problem.S, width(problem, noise)
        return PucbConstants(
            root=(H + 1.0) * math.sqrt(2.0 * log(SPLIT * problem.K / problem.beta)),
            first=3.0 * (1.0 + S * H) * E,
            second=2.0 * (1.0 + S * H) * E * E,
            E=E,
            scale=self.bonus_scale,
        )


AGENTS.add("pucb", PUCB)
