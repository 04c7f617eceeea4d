"""GaussianTree: the Binary Mechanism with Gaussian noise, for (ε, δ)-JDP.

An item lies in L = ⌈log2 (T+1)⌉ nodes, so its column has ℓ2 norm √L, and a release has at most L noises.
"""

import math
from dataclasses import dataclass
from typing import Any

from dpucbvi.privatizers.over_time import GaussianRelease, RunningCounts
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.release_mode import ExactNoise
from dpucbvi.privatizers.tree import BinaryMechanism, Draws, levels
from dpucbvi.protocol import Floats, Problem, Shape


@dataclass(frozen=True)
class GaussianTree(GaussianRelease):
    """The paper's tree with Gaussian noise in its nodes.

    `noise="exact"` is for publication (release_mode.py).
    """

    def columns(self, T: int) -> float:
        return math.sqrt(levels(T + 1))

    def terms(self, T: int) -> float:
        return float(levels(T + 1))

    def process(self, size: int, T: int, scale: float | Floats, stream: Draws) -> BinaryMechanism:
        return BinaryMechanism(size, levels(T + 1), scale, stream)

    def squares(self, T: int) -> tuple[int, int]:
        return levels(T + 1), 1

    def published(self, problem: Problem, shape: Shape, noise: ExactNoise, draws: Any) -> Any:
        process = self.process(draws.size, self.releases(problem), 1, draws)
        return RunningCounts(process, noise.scales.M, shape, self.families, self.every, self.clip, noise.grid)


PRIVATIZERS.add("gaussian_tree", GaussianTree)
