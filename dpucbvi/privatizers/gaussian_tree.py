"""GaussianTree: the Binary Mechanism with Gaussian noise, for (ε, δ)-JDP.

An item lies in L = ⌈log2 (T+1)⌉ nodes, so its column has ℓ2 norm √L, and a release has at most L noises.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpucbvi.confidence import gaussian_bound, subgaussian_bound
from dpucbvi.privatizers.certificate import Certificate, Scales
from dpucbvi.privatizers.over_time import GaussianOverTime, RunningCounts, visits
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.release_mode import (
    PLAIN,
    ExactNoise,
    Published,
    ReleaseMode,
    Samplers,
    exact_gaussian,
)
from dpucbvi.privatizers.sensitivity import largest_square
from dpucbvi.privatizers.tree import BinaryMechanism, Draws, levels
from dpucbvi.protocol import Floats, Problem, Release


@dataclass(frozen=True)
class GaussianTree(GaussianOverTime, ReleaseMode):
    """The paper's tree with Gaussian noise in its nodes.

    `noise="exact"` is for publication (release_mode.py).
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_mode()

    def columns(self, T: int) -> float:
        return math.sqrt(levels(T + 1))

    def terms(self, T: int) -> float:
        return float(levels(T + 1))

    def process(self, size: int, T: int, scale: float | Floats, stream: Draws) -> BinaryMechanism:
        return BinaryMechanism(size, levels(T + 1), scale, stream)

    # --- exact noise ------------------------------------------------------------------------------------------

    def exact_noise(self, problem: Problem, G: int) -> ExactNoise:
        V, L = largest_square(problem.H, G, self.clip), max(levels(self.releases(problem) + 1), 1)
        return exact_gaussian(self.epsilon, self.delta, self.families, self.sensitivity, V, L)

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
        process = self.process(draws.size, self.releases(problem), 1, draws)
        counts = RunningCounts(process, noise.scales.M, shape, self.families, self.every, self.clip, noise.grid)
        return Published(counts, shape, noise.grid)


PRIVATIZERS.add("gaussian_tree", GaussianTree)
