"""GaussianTree: the Binary Mechanism with Gaussian noise, for (ε, δ)-JDP.

An item lies in L = ⌈log2 (T+1)⌉ nodes, so its column has ℓ2 norm √L, and a release has at most L noises.
"""

from dataclasses import dataclass

from dpucbvi.privacy.certificate import check_delta
from dpucbvi.privatizers.central import BinaryTrees
from dpucbvi.privatizers.register import PRIVATIZERS


@dataclass(frozen=True)
class GaussianTree(BinaryTrees):
    """The paper's tree with Gaussian noise in its nodes, for (ε, δ) under the given sensitivity.

    The settings are those of noisy_sums.NoisySums. `noise="exact"` is for publication (release_mode.py).
    """

    epsilon: float
    delta: float = 1e-6
    sensitivity: str = "replace_one"
    families: str = "tuned"
    every: int = 1
    clip: int | None = None
    confidence_scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_delta(self.delta)


PRIVATIZERS.add("gaussian_tree", GaussianTree)
