"""LocalGaussian: every user adds Gaussian noise to her own statistics, for (ε, δ)-LDP.

    σ_f = Δ_f/(μ √share_f),   μ the largest with δ(ε; μ) ≤ δ

E bounds all partial sums of K-1 users' noise at once: a sum of symmetric variables passes x on the way with at
most twice the probability that it ends beyond x (Lévy), so the union is over the counters only.
"""

from dataclasses import dataclass

from dpucbvi.privacy.certificate import check_delta
from dpucbvi.privatizers.local import EveryUser
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.protocol import Problem


@dataclass(frozen=True)
class LocalGaussian(EveryUser):
    """Gaussian noise for (ε, δ) under the given sensitivity.

    The settings are those of noisy_sums.NoisySums. `noise="exact"` is for publication (release_mode.py).
    """

    epsilon: float
    delta: float = 1e-6
    sensitivity: str = "replace_one"
    families: str = "tuned"
    clip: int | None = None
    confidence_scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_delta(self.delta)

    def events(self, problem: Problem) -> int:
        """Twice the last partial sum (Lévy)."""
        return 2


PRIVATIZERS.add("local_gaussian", LocalGaussian)
