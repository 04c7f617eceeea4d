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

from dpucbvi.agents.own import episodes
from dpucbvi.agents.private_ucb_vi import optimistic_q, widths
from dpucbvi.agents.register import AGENTS, ANY, Optimistic
from dpucbvi.counts import PrivateCounts
from dpucbvi.protocol import Algorithm, Counts, Floats, Noise, Plan, Problem, expectation


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
        root=math.sqrt(2.0 * math.log(4.0 * SAT / problem.beta))
        + H * math.sqrt(4.0 * S * math.log(6.0 * SAT / problem.beta)),
        width=3.0 * E1 + H * (S * E2 + 2.0 * E1),
        E1=E1,
        scale=scale,
        eta=math.sqrt(2.0 * math.log(A) / (H * H * K)),
    )


def private_ucb_po(problem: Problem, private: PrivateCounts, c: PrivateUcbPoConstants) -> Algorithm:
    """Private-UCB-PO on noisy counts; its policies are probabilities π[h, s, a]."""
    H, S, A = problem.H, problem.S, problem.A
    pi = np.full((H, S, A), 1.0 / A)
    Q = np.zeros((H, S, A))  # of the last episode: equal values leave π¹ uniform

    def plan(counts: Counts) -> Plan:
        V = np.zeros((H + 1, S))
        for h in reversed(range(H)):
            for s in range(S):
                pi[h, s] = reweighted(pi[h, s], Q[h, s], c.eta)
            Q[h] = optimistic_q(counts, h, V[h + 1], H, c)
            for s in range(S):
                V[h, s] = expectation(pi[h, s], Q[h, s])
        return Plan(pi.copy(), Q.copy(), V)

    return episodes(problem.K, private, plan)


def weight(p: float, Q: float, eta: float) -> float:
    """π(a|s) exp(η Q(s,a)), not normalised."""
    return p * math.exp(eta * Q)


def reweighted(p: Floats, Q: Floats, eta: float) -> Floats:
    """p(a) exp(η Q(a)), normalised; added in order so that the compiled twin gives the same bits."""
    weights = np.zeros(len(p))
    total = 0.0
    for a in range(len(p)):
        weights[a] = weight(p[a], Q[a], eta)
        total += weights[a]
    return weights / total


@dataclass(frozen=True)
class PrivateUCBPO(Optimistic):
    """Private-UCB-PO of Chowdhury and Zhou (2022)."""

    raw = True
    models = ANY

    def constants(self, problem: Problem, noise: Noise) -> PrivateUcbPoConstants:
        return private_ucb_po_constants(problem, *widths(problem, noise), self.bonus_scale)

    def algorithm(
        self, problem: Problem, private: PrivateCounts, constants: PrivateUcbPoConstants
    ) -> Algorithm:
        return private_ucb_po(problem, private, constants)


AGENTS.add("private_ucb_po", PrivateUCBPO)
