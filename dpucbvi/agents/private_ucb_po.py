"""Private-UCB-PO (Chowdhury & Zhou, AAAI 2022, Algorithm 1): policy optimisation on raw private counts.

The policy is stochastic and moves by exponential weights. With D, r̃, P̃, E1, E2 of Private-UCB-VI:

    π¹ uniform,   η = √(2 ln A / (H²K))
    b = √(2 ln(4SAT/β)/D) + 3 E1/D   +   H √(4S ln(6SAT/β)/D) + H (S E2 + 2 E1)/D
    Q_h = r̃ + Σ P̃ V_{h+1} + b cut to [0, H-h+1],   V_h(s) = Σ_a π_h(a|s) Q_h(s,a)      evaluate π^k
    π^{k+1}_h(a|s) ∝ π^k_h(a|s) exp(η Q_h(s,a))                                        improve it

P̃ is bounded in ℓ1 here, for V depends on the data through π: hence the S in the root, and √S more regret than
Private-UCB-VI. Reconstructed [D24]. `scale` multiplies b, 1 as printed; η stays as it is.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpucbvi.agents.plans import Counted, Values, backward
from dpucbvi.agents.private_ucb_vi import known, value, widths
from dpucbvi.agents.register import AGENTS, ANY, Optimistic
from dpucbvi.elementary import log, quick_exp
from dpucbvi.protocol import Floats, Noise, Problem


class PrivateUcbPoConstants(NamedTuple):
    """b = `root`/√D + `width`/D, and the step of the weights."""

    root: float  # √(2 ln(4SAT/β)) + H √(4S ln(6SAT/β))
    width: float  # 3 E1 + H (S E2 + 2 E1)
    E1: float
    scale: float
    eta: float


def private_ucb_po_constants(
    problem: Problem, E1: float, E2: float, scale: float = 1.0
) -> PrivateUcbPoConstants:
    H, S, A, K = problem.H, problem.S, problem.A, problem.K
    SAT = S * A * problem.T
    return PrivateUcbPoConstants(
        root=math.sqrt(2.0 * log(4.0 * SAT / problem.beta))
        + H * math.sqrt(4.0 * S * log(6.0 * SAT / problem.beta)),
        width=3.0 * E1 + H * (S * E2 + 2.0 * E1),
        E1=E1,
        scale=scale,
        eta=math.sqrt(2.0 * log(A) / (H * H * K)),
    )


def reweight(Q: Floats, eta: float, pi: Floats, weights: Floats) -> None:
    """π(a|s) ∝ π(a|s) exp(η Q(s,a)) at one step."""
    S, A = pi.shape
    for s in range(S):
        total = 0.0
        for a in range(A):
            weights[a] = pi[s, a] * quick_exp(eta * Q[s * A + a])
            total += weights[a]
        for a in range(A):
            pi[s, a] = weights[a] / total


def average(Q: Floats, V: Floats, pi: Floats) -> None:
    """V(s) = Σ_a π(a|s) Q(s,a)."""
    S, A = pi.shape
    for s in range(S):
        V[s] = 0.0
        for a in range(A):
            V[s] += pi[s, a] * Q[s * A + a]


def plan_private_ucb_po(c: PrivateUcbPoConstants, counts: Counted, values: Values, k: int) -> None:
    """Private-UCB-PO on noisy counts as they are; its policies are probabilities π[h, s, a]."""
    Q, _, pi = values
    if k == 1:
        Q[:] = 0.0  # equal values leave π¹ uniform
    weights = np.zeros(pi.shape[2])
    for h in range(len(Q)):
        reweight(Q[h], c.eta, pi[h], weights)
    backward(known, value, average, c, counts, values)


@dataclass(frozen=True)
class PrivateUCBPO(Optimistic):
    """Private-UCB-PO of Chowdhury and Zhou (2022); JDP or LDP.

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
    >>> run = dp.run(mdp, dp.PrivateUCBPO(bonus_scale=0.01), private, K=50, seed=0)
    >>> run.regret.shape, bool(run.regret[-1] >= 0)
    ((50,), True)
    """

    raw = True
    models = ANY
    stochastic = True
    plan = staticmethod(plan_private_ucb_po)

    def constants(self, problem: Problem, noise: Noise) -> PrivateUcbPoConstants:
        return private_ucb_po_constants(problem, *widths(problem, noise), self.bonus_scale)


AGENTS.add("private_ucb_po", PrivateUCBPO)
