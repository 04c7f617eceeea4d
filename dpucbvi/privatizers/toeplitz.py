"""Toeplitz: the square-root factorisation of running sums with Gaussian noise, for (ε, δ)-JDP, in flat memory.

The best factorisation A = B·C with equal diagonals has B = C = √A, c_j = binom(2j, j)/4^j. It is used in the
form of blt.py, which needs a handful of buffers in place of all past noise and has an error within half a per
cent of it.
"""

from dataclasses import dataclass

from dpucbvi.privatizers.blt import BltNoise, error, parameters, sensitivity
from dpucbvi.privatizers.over_time import GaussianOverTime
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.tree import Draws
from dpucbvi.protocol import Floats


@dataclass(frozen=True)
class Toeplitz(GaussianOverTime):
    """Correlated Gaussian noise: of the mechanisms on streams the one with least.

    Simulation only: its noise is weighted by reals, so integer noise would not stay integer.
    """

    def columns(self, T: int) -> float:
        return sensitivity(parameters(T), T)

    def terms(self, T: int) -> float:
        return error(parameters(T), T) ** 2 if T else 0.0

    def process(self, size: int, T: int, scale: float | Floats, stream: Draws) -> BltNoise:
        return BltNoise(size, parameters(max(T, 1)), scale, stream, T)


PRIVATIZERS.add("toeplitz", Toeplitz)
