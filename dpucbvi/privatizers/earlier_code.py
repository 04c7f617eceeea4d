"""Two habits of published code, which are not private: to explain the printed figure, never to be used.

The public code of Chowdhury and Zhou (AAAI 2022), the paper before this one (PrivateTabularRL, src/agent.py,
commit f4d8a66 of 2021), adds noise Lap(1/ε) without the 3 families, without H and without a tree:

    Redrawn   ⌊ln k⌋ + 1 fresh noises on every counter in every release k
    Shared    a noise per user for N, one for R and one for every s', summed up; all (s,a) have the same ones

`Redrawn` releases each user's data K-1 times, each time with new noise, which certifies 3H(K-1)ε by
composition. `Shared` certifies nothing: the difference of two pairs' counters has no noise at all.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpucbvi.confidence import SHARE, Bounds, bound_to_E, laplace_sum_bound
from dpucbvi.counts import counters
from dpucbvi.privatizers.certificate import (
    Certificate,
    Scales,
    check_budget,
    laplace_certificate,
    nothing_released,
)
from dpucbvi.privatizers.laplace import LaplaceStream
from dpucbvi.privatizers.over_time import LAPLACE_VARIANCE
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.protocol import Floats, Noise, Problem, User


@dataclass(frozen=True)
class LaplaceOne:
    """Noise Lap(1/ε), for whatever ε is; `confidence_scale` multiplies E, which is proven for this noise."""

    epsilon: float
    confidence_scale: float = 1.0

    families = "paper"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, "paper", self.families, self.confidence_scale)

    @property
    def b(self) -> float:
        return 1.0 / self.epsilon

    def noise_from(self, problem: Problem, terms: int, events: int) -> Noise:
        """E and the rest if every counter has so many noises and the union is over so many events."""
        bound = self.b * laplace_sum_bound(terms, problem.beta / SHARE / events)
        E = self.confidence_scale * bound_to_E(problem.S, False, *Bounds(bound, bound, bound))
        sd = self.b * math.sqrt(LAPLACE_VARIANCE * terms)
        return Noise(self.b, E, max(terms, 1), factor=self.confidence_scale, cell=bound, sd=sd)


@dataclass(frozen=True)
class Redrawn(LaplaceOne):
    """Fresh noise in every release."""

    model = "JDP"

    def noise_of(self, problem: Problem, G: int) -> Noise:
        events = counters(G, problem.S, problem.A) * max(problem.K - 1, 1)
        return self.noise_from(problem, terms_at(problem.K - 1), events)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        """K-1 releases, each with ε' = 3H/b: a sum of noises hides at least as much as one of them."""
        if problem.K == 1:
            return nothing_released(self.model)
        return laplace_certificate(
            self.model, self.families, problem.H, problem.K - 1, Scales(self.b, self.b, self.b)
        )

    def release(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> "RedrawnCounts":
        return RedrawnCounts((G, problem.S, problem.A), self.b, LaplaceStream(seed))


@dataclass(frozen=True)
class Shared(LaplaceOne):
    """The same noise for all pairs (s,a)."""

    model = "LDP"

    def noise_of(self, problem: Problem, G: int) -> Noise:
        return self.noise_from(problem, problem.K - 1, problem.S + 2)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        if problem.K == 1:
            return nothing_released(self.model)
        return Certificate(self.model, math.inf, math.inf)

    def release(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> "SharedCounts":
        return SharedCounts((G, problem.S, problem.A), self.b, LaplaceStream(seed))


def terms_at(k: int) -> int:
    """How many noises the k-th release has."""
    return int(math.log(k)) + 1 if k > 0 else 0


class RedrawnCounts:
    """The true sums, and new noise on them each time."""

    def __init__(self, shape: tuple[int, int, int], b: float, stream: LaplaceStream):
        self.sum, self.t = np.zeros(counters(*shape)), 0
        self._shape, self._b, self._stream = shape, b, stream

    def release(self, user: User) -> Floats:
        self.sum += user.sigma
        self.t += 1
        noise = np.zeros(len(self.sum))
        for _ in range(terms_at(self.t)):
            noise += self._b * self._stream.draw(len(self.sum))
        return self.sum + noise

    @property
    def sd(self) -> Floats:
        return np.full(self._shape, self._b * math.sqrt(LAPLACE_VARIANCE) * math.sqrt(terms_at(self.t)))


class SharedCounts:
    """The true sums, and S + 2 running sums of noises: that of N, of every s' and of R, for all pairs."""

    def __init__(self, shape: tuple[int, int, int], b: float, stream: LaplaceStream):
        G, S, A = self._shape = shape
        self.sum, self.noise, self.t = np.zeros(counters(*shape)), np.zeros(S + 2), 0
        self._pairs, self._b, self._stream = G * S * A, b, stream

    def release(self, user: User) -> Floats:
        self.sum += user.sigma
        self.t += 1
        self.noise += self._b * self._stream.draw(len(self.noise))
        return self.sum + np.repeat(self.noise, self._pairs)

    @property
    def sd(self) -> Floats:
        return np.full(self._shape, self._b * math.sqrt(LAPLACE_VARIANCE) * math.sqrt(self.t))


PRIVATIZERS.add("redrawn", Redrawn)
PRIVATIZERS.add("shared", Shared)
