"""LocalGaussian: every user adds Gaussian noise to her own statistics, for (ε, δ)-LDP.

    σ_f = Δ_f/(μ √share_f),   μ the largest with δ(ε; μ) ≤ δ

E bounds all partial sums of K-1 users' noise at once: a sum of symmetric variables passes x on the way with at
most twice the probability that it ends beyond x (Lévy), so the union is over the counters only.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpucbvi.confidence import SHARE, bound_to_E, gaussian_bound, subgaussian_bound
from dpucbvi.counts import FAMILIES, counters
from dpucbvi.errors import whole
from dpucbvi.privatizers.accounting import gaussian_mu
from dpucbvi.privatizers.certificate import (
    Certificate,
    Scales,
    check_budget,
    check_delta,
    gaussian_certificate,
    gaussian_scales,
    nothing_released,
)
from dpucbvi.privatizers.gaussian import GaussianStream
from dpucbvi.privatizers.local import BothSides, LocalRandomizer
from dpucbvi.privatizers.over_time import by_counter, visits
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.release_mode import (
    PLAIN,
    ExactNoise,
    Published,
    ReleaseMode,
    Samplers,
    exact_gaussian,
)
from dpucbvi.privatizers.sensitivity import check_clip, largest_square
from dpucbvi.protocol import Noise, Problem, Release


@dataclass(frozen=True)
class LocalGaussian(ReleaseMode):
    """Gaussian noise for (ε, δ) under the given sensitivity; `clip` as in over_time.GaussianOverTime.

    `noise="exact"` is for publication (release_mode.py).
    """

    epsilon: float
    delta: float = 1e-6
    sensitivity: str = "replace_one"
    families: str = "tuned"
    clip: int | None = None
    confidence_scale: float = 1.0

    model = "LDP"
    sparse = True

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.sensitivity, self.families, self.confidence_scale)
        check_delta(self.delta)
        if self.clip is not None:
            whole("clip", self.clip, 1)
        self.check_mode()

    def exact_noise(self, problem: Problem, G: int) -> ExactNoise:
        V = largest_square(problem.H, G, self.clip)
        return exact_gaussian(self.epsilon, self.delta, self.families, self.sensitivity, V, 1)

    def scales(self, problem: Problem, G: int) -> Scales:
        if self.exact:
            return self.exact_noise(problem, G).scales
        mu, V = gaussian_mu(self.epsilon, self.delta), largest_square(problem.H, G, self.clip)
        return gaussian_scales(mu, self.families, self.sensitivity, V, 1.0)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        check_clip(self.clip, problem.H, G)
        n, D, scales = problem.K - 1, problem.next_states, self.scales(problem, G)
        summed, factor = FAMILIES[self.families].summed, self.confidence_scale
        tail, rounding = gaussian_bound, 0.0
        if self.exact:
            tail = subgaussian_bound
            rounding = self.exact_noise(problem, G).rounding(n * visits(problem.H, G, self.clip))
        z = tail(problem.beta / SHARE / (2 * counters(*problem.shape(G)))) * math.sqrt(n)
        row = scales.M * math.sqrt(D) if summed else scales.N
        E = factor * bound_to_E(D, summed, scales.M * z, row * z, scales.R * z + rounding)
        cell, sd, proven = scales.M * z, scales.M * math.sqrt(n), self.clip is None
        return Noise(scales.M, E, problem.K, factor=factor, cell=cell, sd=sd, proven=proven)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        if problem.K == 1:
            return nothing_released(self.model)
        if self.exact:
            return self.exact_noise(problem, G).certificate(self.model, self.words)
        V = largest_square(problem.H, G, self.clip)
        return gaussian_certificate(self.model, self.families, V, 1.0, self.scales(problem, G), self.delta)

    def release(
        self, problem: Problem, G: int, seed: np.random.SeedSequence, samplers: Samplers = PLAIN
    ) -> Release:
        shape, scales = problem.shape(G), self.scales(problem, G)
        if self.exact:
            noise = self.exact_noise(problem, G)
            user = LocalRandomizer(1, noise.draws(shape, self.words.start(seed), samplers))
            both = BothSides(shape, user, self.families, scales.M, self.clip, noise.grid)
            return Published(both, shape, noise.grid)
        user = LocalRandomizer(by_counter(scales, self.families, *shape), GaussianStream(seed))
        return BothSides(shape, user, self.families, scales.M, self.clip)


PRIVATIZERS.add("local_gaussian", LocalGaussian)
