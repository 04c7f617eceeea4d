"""Local, the Privatizer of Section 5.2: every user perturbs her own statistics (local differential privacy).

    b = 3Δ/ε          a user adds Lap(b) to each of her statistics, the server sums       [Sec.5.2 (1)]
    ε = 3 · Δ / b     families × ℓ1 change, for each user by herself                      [Lem.5.6]

E bounds all partial sums of K-1 users' noise at once: with n = K-1 noises e^{λZ_k} is a submartingale in k, so
by Doob the bound on the last sum covers all k, and the union is over the counters only. The order that the
paper prints for it is c (H/ε) √(K log(HSAT/β)), without the constant c.
"""

import math
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
from dpucbvi.protocol import Floats, Noise, Problem


@dataclass(frozen=True)
class Local:
    """Noise for ε under the given sensitivity (`paper`: H per family, `replace_one`: 2H).

    `confidence_scale` multiplies E and is 1 in the paper; `printed_constant` takes the printed order of E with
    this constant in place of the proven E.
    """

    epsilon: float
    sensitivity: str = "paper"
    confidence_scale: float = 1.0
    printed_constant: float | None = None

    model = "LDP"

    def __post_init__(self) -> None:
        check_laplace(self.epsilon, self.sensitivity, self.confidence_scale, self.printed_constant)

    def scale(self, problem: Problem) -> float:
        """User noise 3Δ/ε [Sec.5.2 (1)]."""
        return FAMILIES * sensitivity(self.sensitivity, problem.H) / self.epsilon

    def noise(self, problem: Problem, G: int) -> Noise:
        scale, c = self.scale(problem), self.printed_constant
        if c is None:
            return Noise(scale, self.confidence_scale * proven_local(problem, G, scale), problem.K)
        E = self.confidence_scale * order_local(problem, self.epsilon, c)
        return Noise(scale, E, problem.K, self.confidence_scale * c)

    def certificate(self, problem: Problem) -> Certificate:
        """ε = 3 families × Δ / b."""
        return laplace_certificate(self.model, FAMILIES * problem.H, self.scale(problem))

    def release(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> "BothSides":
        return BothSides(
            counters(G, problem.S, problem.A), LocalRandomizer(self.scale(problem), LaplaceStream(seed))
        )


class LocalRandomizer:
    """The user's side: sees one trajectory's statistics, keeps nothing."""

    def __init__(self, scale: float, stream: LaplaceStream):
        self.scale = scale
        self._stream = stream

    def perturb(self, sigma: Floats) -> Floats:
        """σ̃ = σ + Lap(3Δ/ε) in every coordinate [Sec.5.2 (1), (3)]."""
        return sigma + self.scale * self._stream.draw(len(sigma))


class LocalServer:
    """The server's side: sums what the users send [Sec.5.2 (2), (3)]."""

    def __init__(self, size: int):
        self.sum = np.zeros(size)

    def receive(self, sigma_tilde: Floats) -> Floats:
        self.sum += sigma_tilde
        return self.sum.copy()


class BothSides:
    """A user's statistics go to her randomizer, and only what it returns to the server."""

    def __init__(self, size: int, randomizer: LocalRandomizer):
        self._user, self._server = randomizer, LocalServer(size)

    def release(self, sigma: Floats) -> Floats:
        return self._server.receive(self._user.perturb(sigma))


def proven_local(problem: Problem, G: int, scale: float) -> float:
    """[Lem.5.6] E = 4 × the bound on all partial sums of K-1 users' noise Lap(scale)."""
    return proven_E(problem, scale, problem.K - 1, counters(G, problem.S, problem.A))


def order_local(problem: Problem, epsilon: float, constant: float) -> float:
    """[Sec.5.2 (2)] E = c (H/ε) √(K log(HSAT/β))."""
    return constant * problem.H / epsilon * math.sqrt(problem.K * log_hsat(problem))


PRIVATIZERS.add("local", Local)
