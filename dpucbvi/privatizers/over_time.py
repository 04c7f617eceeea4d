"""Counts that are released again and again while users come: what the mechanisms on streams have in common.

Each writes the running sums of T items as A = B·C, A the lower triangle of ones: noise z goes on C x, and what
is released at t is (A x)_t + (B z)_t, the running sums plus a noise that depends on no data. An item's column
of C says how much of the budget it costs, a row of B how large the noise of a release is:

    Laplace     ε = Σ_f L Δ_f/b_f,    L = the largest ℓ1 norm of a column of C
    Gaussian    μ² = Σ_f C² Δ_f²/σ_f²,  C = the largest ℓ2 norm of a column

Releasing after every `every` users only makes the items sums of so many users, of whom one changes: the budget
is the same and T is smaller. Between two releases the counts lag by at most `every` - 1 users, who add to E as
noise does. Adaptive data (a user's actions depend on earlier releases): for Laplace, shifting z by the column
of C times the change of the item is a shear, which leaves all earlier releases and the law of z but for e^ε;
for Gaussian, Denisov et al. (2022), Theorem 2.1.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpucbvi.confidence import (
    SHARE,
    Bounds,
    bound_to_E,
    gaussian_bound,
    laplace_sum_bound,
    subgaussian_bound,
)
from dpucbvi.counts import FAMILIES, counters, statistics
from dpucbvi.errors import whole
from dpucbvi.privatizers.accounting import gaussian_mu
from dpucbvi.privatizers.certificate import (
    NOTHING,
    Certificate,
    Scales,
    check_budget,
    check_delta,
    gaussian_certificate,
    gaussian_scales,
    laplace_certificate,
    laplace_scales,
    nothing_released,
)
from dpucbvi.privatizers.gaussian import GaussianStream
from dpucbvi.privatizers.laplace import LaplaceStream
from dpucbvi.privatizers.release_mode import (
    PLAIN,
    ExactNoise,
    Published,
    ReleaseMode,
    Samplers,
    exact_gaussian,
    exact_laplace,
)
from dpucbvi.privatizers.sensitivity import check_clip, largest_square
from dpucbvi.privatizers.tree import Draws
from dpucbvi.protocol import Floats, Noise, Problem, Release, Shape, User

LAPLACE_VARIANCE = 2.0


class NoiseProcess(Protocol):
    """The noise of one release after another."""

    def next(self) -> np.ndarray:
        """(B z)_t for every counter."""
        ...

    def variance(self) -> float:
        """Σ_j B_tj², of the last release."""
        ...


class RunningCounts:
    """Running sums of the users' statistics, released with noise after every so many users.

    With a `grid` they are integers, rewards in units of 1/grid, and so must the noise be.
    """

    def __init__(
        self,
        noise: NoiseProcess,
        unit_sd: float,
        shape: Shape,
        families: str,
        every: int = 1,
        clip: int | None = None,
        grid: int | None = None,
    ):
        self.sum: np.ndarray = np.zeros(counters(*shape), np.float64 if grid is None else np.int64)
        self.t = 0
        self._noise, self._unit_sd, self._shape = noise, unit_sd, shape
        self._families, self._every, self._clip, self._grid = FAMILIES[families], every, clip, grid

    def release(self, user: User) -> np.ndarray | None:
        if self._families.centred or self._clip is not None or self._grid is not None:
            self.sum += self._statistics(user)
        else:
            self.sum += user.sigma
        self.t += 1
        if self.t % self._every:
            return None
        released = self.sum.copy()
        released[self._families.offset(*self._shape) :] += self._noise.next()
        return released

    def _statistics(self, user: User) -> np.ndarray:
        shape = self._shape[:3]
        return statistics(user.trajectory, *shape, self._families, self._clip, self._grid, user.moves)

    @property
    def sd(self) -> Floats:
        return np.full(self._shape[:3], self._unit_sd * math.sqrt(self._noise.variance()))


def by_counter(scales: Scales, families: str, G: int, S: int, A: int, D: int | None = None) -> Floats:
    """The scale of every released counter, in the order of counts.as_counts."""
    n = G * S * A
    every = np.repeat([scales.N, scales.M, scales.R], [n, n * (S if D is None else D), n])
    return every[FAMILIES[families].offset(G, S, A) :]


def visits(H: int, G: int, clip: int | None = None) -> int:
    """How often one user's visits may count in one cell."""
    return 1 if G > 1 else clip or H


def lag(every: int, most: int) -> float:
    """How far a count may run ahead of its last release, one user adding at most `most` to it."""
    return float((every - 1) * most)


@dataclass(frozen=True)
class LaplaceOverTime:
    """Laplace noise for a pure ε under the given sensitivity, `every` so many users.

    `families`: which counters are released (counts.FAMILIES). `confidence_scale` multiplies E and is 1 in the
    paper.
    """

    epsilon: float
    sensitivity: str = "replace_one"
    families: str = "tuned"
    every: int = 1
    confidence_scale: float = 1.0

    model = "JDP"
    sparse = True

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.sensitivity, self.families, self.confidence_scale)
        whole("every", self.every, 1)

    def levels(self, T: int) -> int:
        """L: how many noisy sums an item of T lies in."""
        raise NotImplementedError

    def terms(self, T: int) -> float:
        """The largest Σ_j B_tj² of T releases."""
        raise NotImplementedError

    def process(self, size: int, T: int, scale: float | Floats, stream: Draws) -> NoiseProcess:
        raise NotImplementedError

    def rounding(self, problem: Problem, G: int) -> float:
        """How far a sum of rewards may be off because they were rounded."""
        return 0.0

    def releases(self, problem: Problem) -> int:
        """T: how often the counts of users 1..K-1 are released."""
        return (problem.K - 1) // self.every

    def scales(self, problem: Problem) -> Scales:
        """b_f = L Δ_f/(share_f ε)."""
        L = self.levels(self.releases(problem))
        if L == 0:
            return NOTHING
        return laplace_scales(self.epsilon, self.families, self.sensitivity, problem.H, L)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        scales, n = self.scales(problem), self.terms(self.releases(problem))
        return Noise(
            scales.M,
            self.confidence_scale * self.proven_E(problem, G, scales),
            terms=math.ceil(n),
            factor=self.confidence_scale,
            cell=self.bounds(problem, G, scales).cell,
            sd=scales.M * math.sqrt(LAPLACE_VARIANCE * n),
        )

    def bounds(self, problem: Problem, G: int, scales: Scales) -> Bounds:
        """On all releases of all counters at once."""
        T, n, D = self.releases(problem), self.terms(self.releases(problem)), problem.next_states
        failure = problem.beta / SHARE / (counters(*problem.shape(G)) * max(T, 1))
        one = laplace_sum_bound(n, failure)
        row = scales.M * laplace_sum_bound(D * n, failure) if self._summed else scales.N * one
        behind = lag(self.every, visits(problem.H, G))
        reward = scales.R * one + behind + self.rounding(problem, G)
        return Bounds(scales.M * one + behind, row + behind, reward)

    def proven_E(self, problem: Problem, G: int, scales: Scales) -> float:
        return bound_to_E(problem.next_states, self._summed, *self.bounds(problem, G, scales))

    def certificate(self, problem: Problem, G: int) -> Certificate:
        L = self.levels(self.releases(problem))
        if L == 0:
            return nothing_released(self.model)
        return laplace_certificate(self.model, self.families, problem.H, L, self.scales(problem))

    def release(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Release:
        shape, scales = problem.shape(G), self.scales(problem)
        scale = by_counter(scales, self.families, *shape)
        noise = self.process(len(scale), self.releases(problem), scale, LaplaceStream(seed))
        return RunningCounts(noise, scales.M * math.sqrt(LAPLACE_VARIANCE), shape, self.families, self.every)

    @property
    def _summed(self) -> bool:
        return FAMILIES[self.families].summed


@dataclass(frozen=True)
class LaplaceTree(LaplaceOverTime, ReleaseMode):
    """One that has exact noise too: in the nodes of a tree, integers as what they hold."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_mode()

    def exact_noise(self, problem: Problem) -> ExactNoise:
        L = max(self.levels(self.releases(problem)), 1)
        return exact_laplace(self.epsilon, self.families, self.sensitivity, problem.H, L)

    def scales(self, problem: Problem) -> Scales:
        if not self.exact or self.releases(problem) == 0:
            return super().scales(problem)
        return self.exact_noise(problem).scales

    def rounding(self, problem: Problem, G: int) -> float:
        if not self.exact:
            return 0.0
        return self.exact_noise(problem).rounding((problem.K - 1) * visits(problem.H, G))

    def certificate(self, problem: Problem, G: int) -> Certificate:
        if not self.exact or self.releases(problem) == 0:
            return super().certificate(problem, G)
        return self.exact_noise(problem).certificate(self.model, self.words)

    def release(
        self, problem: Problem, G: int, seed: np.random.SeedSequence, samplers: Samplers = PLAIN
    ) -> Release:
        if not self.exact:
            return super().release(problem, G, seed)
        shape, noise = problem.shape(G), self.exact_noise(problem)
        draws = noise.draws(shape, self.words.start(seed), samplers)
        return Published(self.published(problem, shape, noise, draws), shape, noise.grid)

    def published(self, problem: Problem, shape: Shape, noise: ExactNoise, draws: Any) -> Any:
        """The release in integers: the sums, and noises of nodes that are added up as they are."""
        process = self.process(draws.size, self.releases(problem), 1, draws)
        unit_sd = noise.scales.M * math.sqrt(LAPLACE_VARIANCE)
        return RunningCounts(process, unit_sd, shape, self.families, self.every, grid=noise.grid)


@dataclass(frozen=True)
class GaussianOverTime:
    """Gaussian noise for (ε, δ) under the given sensitivity, `every` so many users.

    `clip`, for pooled counts: only a user's first so many visits of a pair count, so that her visits cannot all
    fall into one cell; the counts are then no longer those of Assumption 3.1, and no E is proven.
    """

    epsilon: float
    delta: float = 1e-6
    sensitivity: str = "replace_one"
    families: str = "tuned"
    every: int = 1
    clip: int | None = None
    confidence_scale: float = 1.0

    model = "JDP"
    sparse = True

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.sensitivity, self.families, self.confidence_scale)
        check_delta(self.delta)
        whole("every", self.every, 1)
        if self.clip is not None:
            whole("clip", self.clip, 1)

    def columns(self, T: int) -> float:
        """C: the largest ℓ2 norm of an item's column."""
        raise NotImplementedError

    def terms(self, T: int) -> float:
        """The largest Σ_j B_tj² of T releases."""
        raise NotImplementedError

    def process(self, size: int, T: int, scale: float | Floats, stream: Draws) -> NoiseProcess:
        raise NotImplementedError

    def tail(self, failure: float) -> float:
        """The z with P(|noise| > z standard deviations) ≤ `failure`."""
        return gaussian_bound(failure)

    def rounding(self, problem: Problem, G: int) -> float:
        """How far a sum of rewards may be off because they were rounded."""
        return 0.0

    def releases(self, problem: Problem) -> int:
        """T: how often the counts of users 1..K-1 are released."""
        return (problem.K - 1) // self.every

    def scales(self, problem: Problem, G: int) -> Scales:
        """σ_f = C Δ_f/(μ √share_f)."""
        T = self.releases(problem)
        if T == 0:
            return NOTHING
        mu, V = gaussian_mu(self.epsilon, self.delta), largest_square(problem.H, G, self.clip)
        return gaussian_scales(mu, self.families, self.sensitivity, V, self.columns(T))

    def noise_of(self, problem: Problem, G: int) -> Noise:
        check_clip(self.clip, problem.H, G)
        scales, n = self.scales(problem, G), self.terms(self.releases(problem))
        E = self.confidence_scale * self.proven_E(problem, G, scales)
        sd = scales.M * math.sqrt(n)
        cell, proven = self.bounds(problem, G, scales).cell, self.clip is None
        return Noise(scales.M, E, math.ceil(n), factor=self.confidence_scale, cell=cell, sd=sd, proven=proven)

    def bounds(self, problem: Problem, G: int, scales: Scales) -> Bounds:
        """On all releases of all counters at once."""
        T, D, summed = self.releases(problem), problem.next_states, FAMILIES[self.families].summed
        events = counters(*problem.shape(G)) * max(T, 1)
        z = self.tail(problem.beta / SHARE / events) * math.sqrt(self.terms(T))
        row = scales.M * math.sqrt(D) if summed else scales.N
        behind = lag(self.every, visits(problem.H, G, self.clip))
        reward = scales.R * z + behind + self.rounding(problem, G)
        return Bounds(scales.M * z + behind, row * z + behind, reward)

    def proven_E(self, problem: Problem, G: int, scales: Scales) -> float:
        return bound_to_E(problem.next_states, FAMILIES[self.families].summed, *self.bounds(problem, G, scales))

    def certificate(self, problem: Problem, G: int) -> Certificate:
        T = self.releases(problem)
        if T == 0:
            return nothing_released(self.model)
        V, scales = largest_square(problem.H, G, self.clip), self.scales(problem, G)
        return gaussian_certificate(self.model, self.families, V, self.columns(T), scales, self.delta)

    def release(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Release:
        shape, scales = problem.shape(G), self.scales(problem, G)
        scale = by_counter(scales, self.families, *shape)
        noise = self.process(len(scale), self.releases(problem), scale, GaussianStream(seed))
        return RunningCounts(noise, scales.M, shape, self.families, self.every, self.clip)


@dataclass(frozen=True)
class GaussianRelease(GaussianOverTime, ReleaseMode):
    """One that has exact noise too."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_mode()

    def squares(self, T: int) -> tuple[int, int]:
        """C² in units of 1/unit², and the unit: integers."""
        raise NotImplementedError

    def published(self, problem: Problem, shape: Shape, noise: ExactNoise, draws: Any) -> Any:
        """The release in integers."""
        raise NotImplementedError

    def exact_noise(self, problem: Problem, G: int) -> ExactNoise:
        V, (L, unit) = largest_square(problem.H, G, self.clip), self.squares(max(self.releases(problem), 1))
        return exact_gaussian(self.epsilon, self.delta, self.families, self.sensitivity, V, L, unit)

    def scales(self, problem: Problem, G: int) -> Scales:
        if not self.exact or self.releases(problem) == 0:
            return super().scales(problem, G)
        return self.exact_noise(problem, G).scales

    def tail(self, failure: float) -> float:
        return subgaussian_bound(failure) if self.exact else gaussian_bound(failure)

    def rounding(self, problem: Problem, G: int) -> float:
        if not self.exact:
            return 0.0
        most = visits(problem.H, G, self.clip)
        return self.exact_noise(problem, G).rounding((problem.K - 1) * most)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        if not self.exact or self.releases(problem) == 0:
            return super().certificate(problem, G)
        return self.exact_noise(problem, G).certificate(self.model, self.words)

    def release(
        self, problem: Problem, G: int, seed: np.random.SeedSequence, samplers: Samplers = PLAIN
    ) -> Release:
        if not self.exact:
            return super().release(problem, G, seed)
        shape, noise = problem.shape(G), self.exact_noise(problem, G)
        draws = noise.draws(shape, self.words.start(seed), samplers)
        return Published(self.published(problem, shape, noise, draws), shape, noise.grid)
