"""What all privatizers have in common that add noise to sums of the users' statistics.

Which law the noise has follows from δ (privacy/law.py): Laplace for a pure ε, Gaussian for (ε, δ). A privatizer
says how often it releases, what that spends on an item, and how much noise a release has; scales, E and the
certificate follow. E bounds all releases of all counters at once.

Sums that are released again and again while users come are `OverTime`: a mechanism of mechanisms/ on every
counter. Releasing after every `every` users only makes the items sums of so many users, of whom one changes:
the budget is the same and T is smaller. Between two releases the counts lag by at most `every` - 1 users, who
add to E as noise does. Adaptive data (a user's actions depend on earlier releases): for Laplace, shifting z by
the column of C times the change of the item is a shear, which leaves all earlier releases and the law of z but
for e^ε; for Gaussian, Denisov et al. (2022), Theorem 2.1.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.confidence import SHARE, Bounds, bound_to_E
from dpucbvi.counts import FAMILIES, Counting, Families, add_user, counters, counting
from dpucbvi.errors import InputError, check_number, whole
from dpucbvi.mechanisms import Next
from dpucbvi.privacy.certificate import NOTHING, Certificate, Scales, check_budget, nothing_released, positive
from dpucbvi.privacy.draws import seeded
from dpucbvi.privacy.law import ONCE, ExactNoise, Gaussian, Laplace, Law, Reach, Spent, reach
from dpucbvi.privacy.sensitivity import check_clip
from dpucbvi.privatizers.arrays import AddedNoise, Take
from dpucbvi.protocol import Floats, Ints, Noise, Noisy, Problem, Release, User


class NoisySums(AddedNoise):
    """Noise for ε, or for (ε, δ), under the given sensitivity.

    `families`: which counters are released (counts.FAMILIES). `confidence_scale` multiplies E and is 1 in the
    paper. `clip`, for pooled counts and Gaussian noise: how many visits of a pair count per user, so that
    her visits cannot all fall into one cell; the counts are then no longer those of Assumption 3.1, and no
    E is proven. `every`: users between two releases.
    """

    epsilon: float
    sensitivity: str
    families: str
    confidence_scale: float
    delta: float = 0.0
    every: int = 1
    clip: int | None = None

    model = "JDP"
    sparse = True

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.sensitivity, self.families, self.confidence_scale)
        whole("every", self.every, 1)
        if self.clip is not None:
            whole("clip", self.clip, 1)
            if self.delta == 0.0:
                raise InputError("clip: has no effect on the scale of Laplace noise; it is for delta > 0")
        self.check_mode()

    # --- what a privatizer says -------------------------------------------------------------------------------

    def ends(self, problem: Problem) -> Ints:
        """After which of the users 1..K-1 there is a release."""
        return np.arange(self.every, problem.K, self.every)

    def releases(self, problem: Problem) -> int:
        """T: how often."""
        return (problem.K - 1) // self.every

    def spent(self, T: int) -> Spent:
        """What T releases spend on an item."""
        return ONCE

    def terms(self, T: int) -> float:
        """The largest Σ_j B_tj² of T releases: the number of noises in a release, if all weights are 1."""
        return float(T)

    def events(self, problem: Problem) -> int:
        """How many bounds on one counter E rests on."""
        return max(self.releases(problem), 1)

    # --- what follows -----------------------------------------------------------------------------------------

    @property
    def law(self) -> Law:
        if self.delta == 0.0:
            return Laplace(self.epsilon, self.exact)
        return Gaussian(self.epsilon, self.delta, self.exact)

    def reach(self, problem: Problem, G: int) -> Reach:
        return reach(self.families, self.sensitivity, problem, G, self.clip)

    def scales(self, problem: Problem, G: int = 1) -> Scales:
        """b_f or σ_f; G matters for Gaussian noise only, which is largest at G = 1."""
        if self.exact:
            return self.exact_noise(problem, G).scales
        return self.law.scales(self.reach(problem, G), self.spent(self.releases(problem)))

    def exact_noise(self, problem: Problem, G: int = 1) -> ExactNoise:
        return self.law.exact_noise(self.reach(problem, G), self.spent(max(self.releases(problem), 1)))

    def noise_of(self, problem: Problem, G: int) -> Noise:
        check_clip(self.clip, problem.H, G)
        scales, n, factor = self.scales(problem, G), self.terms(self.releases(problem)), self.confidence_scale
        E = factor * self.proven_E(problem, G, scales)
        cell, sd = self.bounds(problem, G, scales).cell, scales.M * math.sqrt(self.law.variance * n)
        return Noise(scales.M, E, math.ceil(n), factor=factor, cell=cell, sd=sd, proven=self.clip is None)

    def bounds(self, problem: Problem, G: int, scales: Scales) -> Bounds:
        """Bounds on the noise of all releases of all counters at once."""
        n = self.terms(self.releases(problem))
        failure = problem.beta / SHARE / (counters(*self.shape(problem, G)) * self.events(problem))
        one, cells = self.law.sum_bound(n, failure), self.shape(problem, G)[3]
        row = self.row_bound(scales, cells, n, failure) if self.counted.summed else scales.N * one
        reward = self.row_bound(scales, cells // 2, n, failure) if self.counted.joint else scales.R * one
        most = 1 if G > 1 else self.clip or problem.H  # visits of one user in one cell
        behind = float((self.every - 1) * most)  # how far a count may run ahead of its last release
        if self.exact and not self.counted.joint:  # noise and rounding, each with half of the failure
            rounding = self.exact_noise(problem, G).rounding((problem.K - 1) * most, failure / 2.0)
            reward = scales.R * self.law.sum_bound(n, failure / 2.0) + rounding
        return Bounds(scales.M * one + behind, row + behind, reward + behind)

    def row_bound(self, scales: Scales, D: int, n: float, failure: float) -> float:
        """On the noise of N̂(s,a) where it is the sum of D cells."""
        return self.law.row_bound(scales.M, D, n, failure)

    def proven_E(self, problem: Problem, G: int, scales: Scales) -> float:
        bounds = self.bounds(problem, G, scales)
        of_next_state = self.counted.cells(1) * bounds.cell
        return bound_to_E(problem.next_states, self.counted.summed, *bounds._replace(cell=of_next_state))

    def certificate(self, problem: Problem, G: int) -> Certificate:
        T = self.releases(problem)
        if T == 0:
            return nothing_released(self.model)
        if self.exact:
            return self.exact_noise(problem, G).certificate(self.model, self.words)
        user, scales = self.reach(problem, G), self.scales(problem, G)
        return self.law.certificate(self.model, user, self.spent(T), scales)

    @property
    def counted(self) -> Families:
        return FAMILIES[self.families]

    # --- the release ------------------------------------------------------------------------------------------

    def source(self, problem: Problem, G: int, seed: np.random.SeedSequence, kind: Callable[..., Any]) -> Any:
        shape = self.shape(problem, G)
        if self.exact:
            return self.exact_noise(problem, G).draws(shape, self.words(seed), kind)
        return seeded(seed, by_counter(self.scales(problem, G), self.families, *shape), self.law.gaussian)

    def grid(self, problem: Problem, G: int) -> int:
        return self.exact_noise(problem, G).grid

    def unit_sd(self, problem: Problem, G: int) -> float:
        """The standard deviation of one noise of N(s,a,s')."""
        return self.scales(problem, G).M * math.sqrt(self.law.variance)


# --- running sums ---------------------------------------------------------------------------------------------


class RunningSums(NamedTuple):
    """The users' sums, and the noise on them."""

    sum: np.ndarray
    mechanism: Any
    source: Any
    counting: Counting
    unit_sd: float
    every: int


def running_sums(next_noise: Next) -> Take:
    """The release of running sums with the noise of a mechanism."""

    def take(state: RunningSums, t: int, user: User, noisy: Noisy) -> bool:
        add_user(state.counting, state.sum, user)
        if t % state.every:
            return False
        noise, variance = next_noise(state.mechanism, state.source)
        add_noise(state.sum, noise, state.counting.first, noisy.counts)
        noisy.sd[:] = state.unit_sd * math.sqrt(variance)
        return True

    return take


class OverTime(NoisySums):
    """A mechanism on every counter."""

    def mechanism(self, size: int, T: int, source: Any, dtype: type) -> Any:
        """Its state before the first of T releases."""
        raise NotImplementedError

    def scales(self, problem: Problem, G: int = 1) -> Scales:
        return super().scales(problem, G) if self.releases(problem) else NOTHING

    def state(self, problem: Problem, G: int, source: Any, grid: int | None = None) -> RunningSums:
        shape, dtype = self.shape(problem, G), np.float64 if grid is None else np.int64
        tally = counting(shape, problem.H, self.families, self.clip, grid)
        size = tally.end - tally.first
        mechanism = self.mechanism(size, self.releases(problem), source, dtype)
        sums, unit_sd = np.zeros(counters(*shape), dtype), self.unit_sd(problem, G)
        return RunningSums(sums, mechanism, source, tally, unit_sd, self.every)


# --- the paper's two, and what others read --------------------------------------------------------------------


class PrintedOrder(NoisySums):
    """The paper's two privatizers: with a `printed_constant` E is the order that the paper prints, times it."""

    printed_constant: float | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.printed_constant is not None:
            check_number("printed_constant", self.printed_constant, positive, "a number > 0")

    order: Callable[[Problem, float, float], float]  # the printed one, of ε and a constant

    def as_printed(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Release:
        """The simulated release in the paper's own words."""
        raise NotImplementedError

    def release(self, problem: Problem, G: int, seed: np.random.SeedSequence, *kind: Any) -> Release:
        return super().release(problem, G, seed, *kind) if self.exact else self.as_printed(problem, G, seed)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        proven, c = super().noise_of(problem, G), self.printed_constant
        if c is None:
            return proven
        E = self.confidence_scale * self.order(problem, self.epsilon, c)
        return proven._replace(E=E, printed=self.confidence_scale * c, proven=False)


def by_counter(scales: Scales, families: str, G: int, S: int, A: int, D: int | None = None) -> Floats:
    """The scale of every released counter, in the order of counts.as_counts."""
    n, D = G * S * A, FAMILIES[families].cells(S) if D is None else D
    every = np.repeat([scales.N, scales.M, scales.R], [n, n * D, n])
    return every[FAMILIES[families].released(G, S, A, D)]


def add_noise(sums: np.ndarray, noise: np.ndarray, first: int, counts: np.ndarray) -> None:
    """N̂ = the sums plus noise, for every released counter: those from `first` on."""
    N, N_hat = sums[first:], counts[first:]
    for c in range(noise.size):
        N_hat[c] = N[c] + noise[c]
