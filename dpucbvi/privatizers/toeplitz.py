"""Toeplitz: the square-root factorisation of running sums with Gaussian noise, for (ε, δ)-JDP.

The best factorisation A = B·C with equal diagonals has B = C = √A, c_j = binom(2j, j)/4^j. It is simulated in
the form of mechanisms/blt.py, which needs a handful of buffers in place of all past noise and has an error
within half a per cent of it. Exact noise has it in integers, for as many releases as memory holds
(mechanisms/square_root.py).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.mechanisms import blt, square_root
from dpucbvi.privacy.certificate import check_delta, check_one_of
from dpucbvi.privacy.law import ExactNoise, Spent
from dpucbvi.privatizers.arrays import PRIVATIZERS
from dpucbvi.privatizers.noisy_sums import OverTime, estimated_sums, running_sums
from dpucbvi.privatizers.release_mode import in_integers
from dpucbvi.protocol import Noise, Problem

BLT, SQUARE_ROOT = "blt", "square_root"


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
    factorisation : str
        `blt`, in flat memory, for simulated noise; `square_root`, with all releases in memory, for exact noise.
    noise : str
        `simulation`: seeded floating point, which protects nobody. `exact`: integers for publication.
    words : type
        The source of random words for exact noise: the operating system, except in tests.

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
    factorisation: str = BLT

    def __post_init__(self) -> None:
        super().__post_init__()
        check_delta(self.delta)
        check_one_of("factorisation", self.factorisation, (BLT, SQUARE_ROOT))
        kind, wanted = ("exact", SQUARE_ROOT) if self.exact else ("simulated", BLT)
        if self.factorisation != wanted:
            raise InputError(f"factorisation: {self.factorisation} has no {kind} noise; it must be {wanted}")

    take = staticmethod(running_sums(blt.next_noise))
    exact_take = staticmethod(in_integers(estimated_sums(square_root.next_estimate)))
    exact_dtype = np.float64

    def spent(self, T: int) -> Spent:
        if self.exact:
            steps = square_root.stairs(T)
            return Spent(0, 0.0, steps.square, steps.unit)
        return Spent(0, blt.sensitivity(blt.parameters(T), T))

    def terms(self, T: int) -> float:
        if T == 0:
            return 0.0
        if self.exact:
            return float(square_root.stair_variances(T)[-1])
        return blt.error(blt.parameters(T), T) ** 2

    def mechanism(self, size: int, T: int, source: Any, dtype: type) -> Any:
        if self.exact:
            return square_root.start_stairs(size, T)
        return blt.start(size, blt.parameters(max(T, 1)), T)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        if self.exact:
            released = self.counted.released(*self.shape(problem, G))
            size = released.stop - released.start
            square_root.check_memory(self.releases(problem), size)
        return super().noise_of(problem, G)

    # --- exact noise ------------------------------------------------------------------------------------------

    def exact_noise(self, problem: Problem, G: int = 1) -> ExactNoise:
        try:
            return super().exact_noise(problem, G)
        except InputError:
            T = self.releases(problem)
            raise InputError(
                f"epsilon: exact noise has no scale as large as {T} releases of toeplitz need; "
                "a larger epsilon or a larger every is needed"
            ) from None


PRIVATIZERS.add("toeplitz", Toeplitz)
