"""Toeplitz: the square-root factorisation of running sums with Gaussian noise, for (ε, δ)-JDP.

The best factorisation A = B·C with equal diagonals has B = C = √A, c_j = binom(2j, j)/4^j. By default it is
used in the form of blt.py, which needs a handful of buffers in place of all past noise and has an error within
half a per cent of it. square_root.py has it in full, for as many releases as memory holds, also with exact
noise.
"""

import math
from dataclasses import dataclass
from typing import Any

from dpucbvi.counts import FAMILIES, counters
from dpucbvi.errors import InputError
from dpucbvi.privatizers.blt import BltNoise, error, parameters, sensitivity
from dpucbvi.privatizers.certificate import check_one_of
from dpucbvi.privatizers.over_time import GaussianRelease, NoiseProcess
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.release_mode import ExactNoise
from dpucbvi.privatizers.square_root import (
    SquareRootNoise,
    StairCounts,
    check_memory,
    squared_norm,
    stair_variances,
    stairs,
)
from dpucbvi.privatizers.tree import Draws
from dpucbvi.protocol import Floats, Noise, Problem, Shape

BLT, SQUARE_ROOT = "blt", "square_root"


@dataclass(frozen=True)
class Toeplitz(GaussianRelease):
    """Correlated Gaussian noise: of the mechanisms on streams the one with least.

    `factorisation`: `blt`, in flat memory, or `square_root`, with all noise in memory. `noise="exact"` is for
    publication (release_mode.py) and takes the latter.
    """

    factorisation: str = BLT

    def __post_init__(self) -> None:
        super().__post_init__()
        check_one_of("factorisation", self.factorisation, (BLT, SQUARE_ROOT))
        if self.exact and self.factorisation == BLT:
            raise InputError("factorisation: blt has no exact noise; it must be square_root")

    @property
    def full(self) -> bool:
        return self.factorisation == SQUARE_ROOT

    def columns(self, T: int) -> float:
        return math.sqrt(squared_norm(T)) if self.full else sensitivity(parameters(T), T)

    def terms(self, T: int) -> float:
        if T == 0:
            return 0.0
        if self.exact:
            return float(stair_variances(T)[-1])
        return squared_norm(T) if self.full else error(parameters(T), T) ** 2

    def process(self, size: int, T: int, scale: float | Floats, stream: Draws) -> NoiseProcess:
        if self.full:
            return SquareRootNoise(size, T, scale, stream)
        return BltNoise(size, parameters(max(T, 1)), scale, stream, T)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        if self.full:
            shape = problem.shape(G)
            size = counters(*shape) - FAMILIES[self.families].offset(*shape)
            check_memory(self.releases(problem), size, 2 if self.exact else 1)
        return super().noise_of(problem, G)

    # --- exact noise ------------------------------------------------------------------------------------------

    def squares(self, T: int) -> tuple[int, int]:
        return stairs(T).square, stairs(T).unit

    def exact_noise(self, problem: Problem, G: int) -> ExactNoise:
        try:
            return super().exact_noise(problem, G)
        except InputError:
            T = self.releases(problem)
            raise InputError(
                f"epsilon: exact noise has no scale as large as {T} releases of toeplitz need; "
                "a larger epsilon or a larger every is needed"
            ) from None

    def published(self, problem: Problem, shape: Shape, noise: ExactNoise, draws: Any) -> Any:
        return StairCounts(self, self.releases(problem), shape, noise, draws)


PRIVATIZERS.add("toeplitz", Toeplitz)
