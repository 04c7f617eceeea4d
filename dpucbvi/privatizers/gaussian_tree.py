"""GaussianTree: the Binary Mechanism with Gaussian noise, for (ε, δ)-JDP.

An item lies in L = ⌈log2 (T+1)⌉ nodes, so its column has ℓ2 norm √L, and a release has at most L noises.
"""

import math
from dataclasses import dataclass

from dpucbvi.privatizers.gaussian import GaussianStream
from dpucbvi.privatizers.over_time import GaussianOverTime
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.tree import BinaryMechanism, levels
from dpucbvi.protocol import Floats


@dataclass(frozen=True)
class GaussianTree(GaussianOverTime):
    """The paper's tree with Gaussian noise in its nodes."""

    def columns(self, T: int) -> float:
        return math.sqrt(levels(T + 1))

    def terms(self, T: int) -> float:
        return float(levels(T + 1))

    def process(self, size: int, T: int, scale: Floats, stream: GaussianStream) -> BinaryMechanism:
        return BinaryMechanism(size, levels(T + 1), scale, stream)


PRIVATIZERS.add("gaussian_tree", GaussianTree)
