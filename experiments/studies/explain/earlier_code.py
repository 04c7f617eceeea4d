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
from typing import NamedTuple

import numpy as np

from dpucbvi.confidence import SHARE, Bounds, bound_to_E, laplace_sum_bound
from dpucbvi.counts import Counting, add_user, counters, counting
from dpucbvi.mechanisms import add_to
from dpucbvi.privacy.certificate import (
    Certificate,
    Scales,
    check_budget,
    laplace_certificate,
    nothing_released,
)
from dpucbvi.privacy.draws import Draws, fill, seeded
from dpucbvi.privatizers.arrays import Arrays
from dpucbvi.protocol import Floats, Noise, Noisy, Problem, User

LAPLACE_VARIANCE = 2.0


class SumsWithNoise(NamedTuple):
    """The true sums, and noises: of every counter, or those of N, of every s' and of R."""

    sum: Floats
    source: Draws
    new: Floats  # scratch
    total: Floats
    noise: Floats  # scratch
    counting: Counting
    unit_sd: float


def terms_at(k: int) -> int:
    """How many noises the k-th release has."""
    return int(math.log(k)) + 1 if k > 0 else 0


def take_redrawn(state: SumsWithNoise, t: int, user: User, noisy: Noisy) -> bool:
    """New noises on every counter."""
    add_user(state.counting, state.sum, user)
    state.total[:] = 0.0
    for _ in range(terms_at(t)):
        fill(state.source, state.new)
        add_to(state.total, state.new)
    noisy.counts[:] = state.sum + state.total
    noisy.sd[:] = state.unit_sd * math.sqrt(terms_at(t))
    return True


def take_shared(state: SumsWithNoise, t: int, user: User, noisy: Noisy) -> bool:
    """One more noise on N, on every s' and on R, for all pairs."""
    add_user(state.counting, state.sum, user)
    fill(state.source, state.new)
    pairs = state.noise.size // state.total.size
    for i in range(state.total.size):
        state.total[i] += state.new[i]
        state.noise[i * pairs : (i + 1) * pairs] = state.total[i]
    noisy.counts[:] = state.sum + state.noise
    noisy.sd[:] = state.unit_sd * math.sqrt(t)
    return True


@dataclass(frozen=True)
class LaplaceOne(Arrays):
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

    def start_with(self, problem: Problem, G: int, seed: np.random.SeedSequence, noises: int) -> SumsWithNoise:
        """The state of a release with so many noises at a time."""
        shape, sums = (G, problem.S, problem.A, problem.S), np.zeros(counters(G, problem.S, problem.A))
        tally = counting(shape, problem.H, self.families)
        source, unit_sd = seeded(seed, np.full(noises, self.b), False), self.b * math.sqrt(LAPLACE_VARIANCE)
        return SumsWithNoise(sums, source, np.zeros(noises), np.zeros(noises), sums.copy(), tally, unit_sd)


@dataclass(frozen=True)
class Redrawn(LaplaceOne):
    """Fresh noise in every release."""

    model = "JDP"
    take = staticmethod(take_redrawn)

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

    def start(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> SumsWithNoise:
        return self.start_with(problem, G, seed, counters(G, problem.S, problem.A))


@dataclass(frozen=True)
class Shared(LaplaceOne):
    """The same noise for all pairs (s,a)."""

    model = "LDP"
    take = staticmethod(take_shared)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        return self.noise_from(problem, problem.K - 1, problem.S + 2)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        if problem.K == 1:
            return nothing_released(self.model)
        return Certificate(self.model, math.inf, math.inf)

    def start(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> SumsWithNoise:
        return self.start_with(problem, G, seed, problem.S + 2)
