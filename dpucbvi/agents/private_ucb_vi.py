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
from typing import Any, NamedTuple

from dpucbvi.agents.plans import Counted, Values, backward, greedy
from dpucbvi.agents.register import AGENTS, ANY, Optimistic
from dpucbvi.elementary import log
from dpucbvi.protocol import Noise, Problem


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
        noise.scale * math.sqrt(8.0 * noise.terms * log(6.0 * SAT / problem.beta)),
        noise.scale * math.sqrt(8.0 * noise.terms * log(6.0 * problem.S * SAT / problem.beta)),
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
    ell = log(4.0 * S * problem.A * problem.T / problem.beta)
    return PrivateUcbViConstants(
        root=(1.0 + H) * math.sqrt(2.0 * ell),
        width=3.0 * E1 + H * (S * E2 + 2.0 * E1),
        E1=E1,
        scale=scale,
    )


def shifted(N: float, c: Any) -> float:
    """D = max(N̂ + E1, 1); `c` has `root`, `width`, E1 and `scale`, here as in Private-UCB-PO."""
    return max(N + c.E1, 1.0)


def bonus(D: float, c: Any) -> float:
    """b times the scale."""
    return c.scale * (c.root / math.sqrt(D) + c.width / D)


def known(c: Any, N: float, R: float) -> tuple[float, float, float]:
    """D, r̃ and the bonus of a pair."""
    D = shifted(N, c)
    return D, R / D, bonus(D, c)


def value(c: Any, N: float, target: float, last: float, H: float, left: float) -> float:
    """The target cut to [0, H-h+1]."""
    target = target if target > 0.0 else 0.0
    return target if target < left else left


def plan_private_ucb_vi(c: PrivateUcbViConstants, counts: Counted, values: Values, k: int) -> None:
    """Private-UCB-VI on noisy counts as they are."""
    backward(known, value, greedy, c, counts, values)


@dataclass(frozen=True)
class PrivateUCBVI(Optimistic):
    """Private-UCB-VI of Chowdhury and Zhou (2022); JDP or LDP.

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
    >>> mdp, private = dp.riverswim(S=3, H=4), dp.Central(epsilon=10)
    >>> run = dp.run(mdp, dp.PrivateUCBVI(bonus_scale=0.01), private, K=50, seed=0)
    >>> run.regret.shape, bool(run.regret[-1] >= 0)
    ((50,), True)
    """

    raw = True
    models = ANY
    plan = staticmethod(plan_private_ucb_vi)

    def constants(self, problem: Problem, noise: Noise) -> PrivateUcbViConstants:
        return private_ucb_vi_constants(problem, *widths(problem, noise), self.bonus_scale)


AGENTS.add("private_ucb_vi", PrivateUCBVI)
