"""Toeplitz: the square-root factorisation of running sums with Gaussian noise, for (ε, δ)-JDP.

The best factorisation A = B·C with equal diagonals has B = C = √A, c_j = binom(2j, j)/4^j. It is simulated in
the form of mechanisms/blt.py, which needs a handful of buffers in place of all past noise and has an error
within half a per cent of it. Its weights are real, so there is no exact noise of it.
"""

from dataclasses import dataclass
from typing import Any

from dpucbvi.mechanisms import blt
from dpucbvi.privacy.certificate import SIMULATION, check_delta
from dpucbvi.privacy.law import Spent
from dpucbvi.privatizers.arrays import PRIVATIZERS
from dpucbvi.privatizers.noisy_sums import OverTime, running_sums


@dataclass(frozen=True)
class Toeplitz(OverTime):
    """Correlated Gaussian noise for (ε, δ), the least noise among the mechanisms on streams.

    Parameters
    ----------
    epsilon : float
        The budget of a user, under the neighbours that `sensitivity` names.
    delta : float
        The δ at which ε holds, between 0 and 1.
    sensitivity : str
        `paper`: noise for a user who is added or removed. `replace_one`: for one whose trajectory is replaced.
    families : str
        Which counters are released (`counts.FAMILIES`): `paper`, `tuned`, `symbols`, ...
    every : int
        Users between two releases; 1 in the paper.
    clip : int, optional
        For pooled counts and Gaussian noise: how many visits of a pair count per user. No E is proven then.
    confidence_scale : float
        Multiplies E; 1 in the paper. It changes the agent's bonus, not the privacy.
    noise : str
        `simulation`: seeded floating point, which protects nobody. There is no exact noise of it.
    words : type
        Not used.

    Raises
    ------
    InputError
        If a setting is out of range, or settings do not fit together.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> private = dp.certify(dp.Toeplitz(epsilon=1), H=20, S=6, A=2, K=50_000, pooled=True)
    >>> private.replace_one.epsilon <= 1, private.delta
    (True, 1e-06)
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

    modes = (SIMULATION,)
    take = staticmethod(running_sums(blt.next_noise))

    def spent(self, T: int) -> Spent:
        return Spent(0, blt.sensitivity(blt.parameters(T), T))

    def terms(self, T: int) -> float:
        return blt.error(blt.parameters(T), T) ** 2 if T else 0.0

    def mechanism(self, size: int, T: int, source: Any, dtype: type) -> blt.Buffers:
        return blt.start(size, blt.parameters(max(T, 1)), T)


PRIVATIZERS.add("toeplitz", Toeplitz)
