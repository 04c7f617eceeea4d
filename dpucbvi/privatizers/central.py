"""Central, the Privatizer of Section 5.1: the Binary Mechanism on every counter (joint differential privacy).

Every counter of the three families has a tree (tree.py) over the users 1..K-1, all advanced together, with
noise of its own in every node:

    b = 3ΔL/ε              node noise Lap(b), L = ⌈log2 K⌉ levels               [Sec.5.1 (1)]
    ε = 3 · L · Δ / b      families × levels × ℓ1 change                        [Lem.5.1]

E bounds every release of every tree at once: each has at most L noises, and the union is over all counters and
K-1 releases. The order that the paper prints for it is c (H/ε) log(HSAT/β)², without the constant c.
"""

from dataclasses import dataclass

import numpy as np

from dpucbvi.confidence import log_hsat, proven_E
from dpucbvi.counts import counters
from dpucbvi.privatizers.certificate import (
    FAMILIES,
    Certificate,
    check_laplace,
    laplace_certificate,
    sensitivity,
)
from dpucbvi.privatizers.laplace import LaplaceStream
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.tree import BinaryMechanism, levels
from dpucbvi.protocol import Noise, Problem


@dataclass(frozen=True)
class Central:
    """Noise for ε under the given sensitivity (`paper`: H per family, `replace_one`: 2H).

    `confidence_scale` multiplies E and is 1 in the paper; `printed_constant` takes the printed order of E with
    this constant in place of the proven E.
    """

    epsilon: float
    sensitivity: str = "paper"
    confidence_scale: float = 1.0
    printed_constant: float | None = None

    model = "JDP"

    def __post_init__(self) -> None:
        check_laplace(self.epsilon, self.sensitivity, self.confidence_scale, self.printed_constant)

    def scale(self, problem: Problem) -> float:
        """Node noise 3ΔL/ε: [Sec.5.1 (1)] with log K read as the tree's L = ⌈log2 K⌉ levels [D5]."""
        return FAMILIES * sensitivity(self.sensitivity, problem.H) * levels(problem.K) / self.epsilon

    def noise(self, problem: Problem, G: int) -> Noise:
        scale, terms, c = self.scale(problem), levels(problem.K), self.printed_constant
        if c is None:
            return Noise(scale, self.confidence_scale * proven_central(problem, G, scale), terms)
        E = self.confidence_scale * order_central(problem, self.epsilon, c)
        return Noise(scale, E, terms, self.confidence_scale * c)

    def certificate(self, problem: Problem) -> Certificate:
        """ε = 3 families × L levels × Δ / b."""
        return laplace_certificate(self.model, FAMILIES * levels(problem.K) * problem.H, self.scale(problem))

    def release(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> BinaryMechanism:
        size = counters(G, problem.S, problem.A)
        return BinaryMechanism(size, levels(problem.K), self.scale(problem), LaplaceStream(seed))


def proven_central(problem: Problem, G: int, scale: float) -> float:
    """[Lem.5.1] E = 4 × the bound on all releases of all trees with node noise Lap(scale)."""
    events = counters(G, problem.S, problem.A) * max(problem.K - 1, 1)
    return proven_E(problem, scale, levels(problem.K), events)


def order_central(problem: Problem, epsilon: float, constant: float) -> float:
    """[Sec.5.1 (2)] E = c (H/ε) log(HSAT/β)²."""
    return constant * problem.H / epsilon * log_hsat(problem) ** 2


PRIVATIZERS.add("central", Central)
