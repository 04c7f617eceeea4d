"""Batches: users in growing batches, each batch's counts released once, with fresh noise (JDP).

    a batch ends after e users,  e <- e + max(first, ⌊(growth - 1) e⌋)
    N̂ <- N̂ + (counts of the batch) + noise,   b_f = Δ_f/(share_f ε)   or   σ_f = Δ_f/(μ √share_f)

A user lies in one batch, so that nothing composes over time. Two things are read off what is public:

    the policy   within a batch it does not change, and a user who follows it visits pairs (s, π_h(s)) only: the
                 other cells are 0 whatever she does, and get no noise. (If the policy does change, as that of
                 Private-UCB-PO does without new counts, every policy of the batch is meant.)
    empty rows   a pair whose noisy batch total, the sum over s' of N̂(s,a,s'), is below its own standard
                 deviation √S sd is left out of this batch: it holds little but noise. Post-processing.

Privacy. The releases before the user's batch do not depend on her data. Given them, the policy and with it the
cells that get noise are fixed; the batch's vector moves by at most Δ_f in family f if she is another; what
follows is post-processing of that release and other users' data. So the releases are ε-DP or μ-GDP (adaptive
parallel composition), and the actions of the others JDP by the billboard lemma.

No E of Assumption 3.1: within a batch the counts fall behind by a constant share of them, and a row that is
left out behind by a batch. `noise_of` gives the bound on the noise of what was released.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpucbvi.confidence import SHARE, bound_to_E, gaussian_bound, laplace_sum_bound, subgaussian_bound
from dpucbvi.counts import FAMILIES, as_counts, counters, row_sums, statistics
from dpucbvi.errors import check_number, whole
from dpucbvi.privatizers.accounting import gaussian_mu
from dpucbvi.privatizers.certificate import (
    Certificate,
    Scales,
    check_budget,
    gaussian_certificate,
    gaussian_scales,
    laplace_certificate,
    laplace_scales,
    nothing_released,
)
from dpucbvi.privatizers.gaussian import GaussianStream
from dpucbvi.privatizers.laplace import LaplaceStream
from dpucbvi.privatizers.over_time import LAPLACE_VARIANCE, by_counter, visits
from dpucbvi.privatizers.register import PRIVATIZERS
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
from dpucbvi.privatizers.tree import Draws, dtype_of
from dpucbvi.protocol import Floats, Ints, Noise, Problem, Release, User


@dataclass(frozen=True)
class Batches(ReleaseMode):
    """Laplace noise for a pure ε (`delta` = 0), or Gaussian noise for (ε, δ), under the given sensitivity.

    `first` and `growth`: the least batch, and by which factor the users so far grow. `policy_cells` and
    `drop_empty` switch the two public readings on. `clip` as in over_time.GaussianOverTime. `noise="exact"` is
    for publication (release_mode.py).
    """

    epsilon: float
    delta: float = 0.0
    sensitivity: str = "replace_one"
    families: str = "tuned"
    first: int = 150
    growth: float = 1.3
    policy_cells: bool = True
    drop_empty: bool = True
    clip: int | None = None
    confidence_scale: float = 1.0

    model = "JDP"
    sparse = True

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.sensitivity, self.families, self.confidence_scale)
        check_number("delta", self.delta, lambda delta: 0.0 <= delta < 1.0, "a number in [0, 1)")
        whole("first", self.first, 1)
        check_number("growth", self.growth, lambda growth: growth >= 1.0, "a number >= 1")
        if self.clip is not None:
            whole("clip", self.clip, 1)
        self.check_mode()

    def exact_noise(self, problem: Problem, G: int) -> ExactNoise:
        if self.delta == 0.0:
            return exact_laplace(self.epsilon, self.families, self.sensitivity, problem.H, 1)
        V = largest_square(problem.H, G, self.clip)
        return exact_gaussian(self.epsilon, self.delta, self.families, self.sensitivity, V, 1)

    def scales(self, problem: Problem, G: int) -> Scales:
        if self.exact:
            return self.exact_noise(problem, G).scales
        if self.delta == 0.0:
            return laplace_scales(self.epsilon, self.families, self.sensitivity, problem.H, 1)
        mu, V = gaussian_mu(self.epsilon, self.delta), largest_square(problem.H, G, self.clip)
        return gaussian_scales(mu, self.families, self.sensitivity, V, 1.0)

    def unit_sd(self) -> float:
        """The standard deviation of noise of scale 1."""
        return math.sqrt(LAPLACE_VARIANCE) if self.delta == 0.0 else 1.0

    def ends(self, problem: Problem) -> Ints:
        """After which users a batch ends."""
        return batch_ends(problem.K - 1, self.first, self.growth)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        check_clip(self.clip, problem.H, G)
        n, D, scales = len(self.ends(problem)), problem.next_states, self.scales(problem, G)
        failure = problem.beta / SHARE / (counters(*problem.shape(G)) * max(n, 1))

        def bound(terms: int) -> float:
            if self.delta == 0.0:
                return laplace_sum_bound(terms, failure)
            return math.sqrt(terms) * (subgaussian_bound if self.exact else gaussian_bound)(failure)

        summed, one = FAMILIES[self.families].summed, bound(n)
        row = scales.M * bound(D * n) if summed else scales.N * one
        reward = scales.R * one
        if self.exact:
            most = visits(problem.H, G, self.clip)
            reward += self.exact_noise(problem, G).rounding((problem.K - 1) * most)
        E = self.confidence_scale * bound_to_E(D, summed, scales.M * one, row, reward)
        cell, sd = scales.M * one, scales.M * self.unit_sd() * math.sqrt(n)
        return Noise(scales.M, E, max(n, 1), factor=self.confidence_scale, cell=cell, sd=sd, proven=False)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        if len(self.ends(problem)) == 0:
            return nothing_released(self.model)
        if self.exact:
            return self.exact_noise(problem, G).certificate(self.model, self.words)
        scales = self.scales(problem, G)
        if self.delta == 0.0:
            return laplace_certificate(self.model, self.families, problem.H, 1, scales)
        V = largest_square(problem.H, G, self.clip)
        return gaussian_certificate(self.model, self.families, V, 1.0, scales, self.delta)

    def release(
        self, problem: Problem, G: int, seed: np.random.SeedSequence, samplers: Samplers = PLAIN
    ) -> Release:
        shape = problem.shape(G)
        if self.exact:
            noise = self.exact_noise(problem, G)
            draws = noise.draws(shape, self.words.start(seed), samplers)
            return Published(BatchCounts(self, problem, G, 1, draws, noise.grid), shape, noise.grid)
        stream = LaplaceStream(seed) if self.delta == 0.0 else GaussianStream(seed)
        scale = by_counter(self.scales(problem, G), self.families, *shape)
        return BatchCounts(self, problem, G, scale, stream)


class BatchCounts:
    """The batches at work: the one that fills, and the sum of those released.

    With a `grid` both are integers, rewards in units of 1/grid, and so must the noise be.
    """

    def __init__(
        self,
        privatizer: Batches,
        problem: Problem,
        G: int,
        scale: float | Floats,
        stream: Draws,
        grid: int | None = None,
    ):
        self._privatizer, self._scale, self._stream, self._grid = privatizer, scale, stream, grid
        self._shape = shape = problem.shape(G)
        self._families = FAMILIES[privatizer.families]
        self._cell_variance = (privatizer.scales(problem, G).M * privatizer.unit_sd()) ** 2
        self._least = math.sqrt(problem.next_states * self._cell_variance)  # of a batch's row, to be kept
        self._ends = set(privatizer.ends(problem).tolist())
        self.t = 0
        self.batch: np.ndarray = np.zeros(counters(*shape), dtype_of(stream))
        self.total: np.ndarray = np.zeros(counters(*shape), dtype_of(stream))
        self.shown = np.zeros(shape[:3], dtype=bool)  # pairs that a policy of this batch may visit
        self.variance = np.zeros(shape[:3])

    def release(self, user: User) -> np.ndarray | None:
        clip, shape = self._privatizer.clip, self._shape[:3]
        self.batch += statistics(user.trajectory, *shape, self._families, clip, self._grid, user.moves)
        self.shown |= shown_pairs(user.pi, *shape) if self._privatizer.policy_cells else True
        self.t += 1
        if self.t not in self._ends:
            return None
        self._close()
        return self.total.copy()

    def _close(self) -> None:
        """The batch with its noise goes into the total, row by row."""
        released = self.batch[self._families.offset(*self._shape) :]
        released += self._scale * self._stream.draw(len(released))
        kept = self.shown
        if self._privatizer.drop_empty:
            kept = kept & (row_sums(as_counts(self.batch, *self._shape).N_sas) >= self._least)
        total = as_counts(self.total, *self._shape)
        for one, other in zip(total, as_counts(self.batch, *self._shape), strict=True):
            one += np.where(kept if one.ndim == 3 else kept[..., None], other, 0)
        self.variance += np.where(kept, self._cell_variance, 0.0)
        self.batch[:], self.shown[:] = 0, False

    @property
    def sd(self) -> Floats:
        return np.sqrt(self.variance)


def batch_ends(users: int, first: int, growth: float) -> Ints:
    """e <- e + max(first, ⌊(growth - 1) e⌋), as long as there are so many users."""
    ends, e = [], 0
    while (e := e + max(first, math.floor(min((growth - 1.0) * e, users)))) <= users:
        ends.append(e)
    return np.array(ends, dtype=np.int64)


def shown_pairs(pi: np.ndarray, G: int, S: int, A: int) -> np.ndarray:
    """The pairs [g, s, a] that a user who follows the policy may visit."""
    chosen: np.ndarray = np.eye(A, dtype=bool)[pi] if pi.ndim == 2 else pi > 0.0
    return chosen if G > 1 else np.any(chosen, axis=0, keepdims=True)


PRIVATIZERS.add("batches", Batches)
