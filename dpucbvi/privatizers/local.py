"""Local, the Privatizer of Section 5.2: every user perturbs her own statistics (local differential privacy).

    b = 3Δ/ε          a user adds Lap(b) to each of her statistics, the server sums       [Sec.5.2 (1)]
    ε = 3 · Δ / b     families × ℓ1 change, for each user by herself                      [Lem.5.6]

E bounds all partial sums of K-1 users' noise at once: with n = K-1 noises e^{λZ_k} is a submartingale in k, so
by Doob the bound on the last sum covers all k, and the union is over the counters only. The order that the
paper prints for it is c (H/ε) √(K log(HSAT/β)), without the constant c.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpucbvi.confidence import SHARE, Bounds, bound_to_E, laplace_sum_bound, log_hsat
from dpucbvi.counts import FAMILIES, counters, statistics
from dpucbvi.errors import check_number
from dpucbvi.privatizers.certificate import (
    Certificate,
    Scales,
    check_budget,
    laplace_certificate,
    laplace_scales,
    nothing_released,
    positive,
)
from dpucbvi.privatizers.laplace import LaplaceStream
from dpucbvi.privatizers.over_time import LAPLACE_VARIANCE, by_counter, visits
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.release_mode import (
    PLAIN,
    ExactNoise,
    Published,
    ReleaseMode,
    Samplers,
    exact_laplace,
)
from dpucbvi.privatizers.tree import Draws, dtype_of
from dpucbvi.protocol import Floats, Noise, Problem, Release, Shape, User


@dataclass(frozen=True)
class Local(ReleaseMode):
    """The paper's: noise for ε if a user is added or removed (`sensitivity`: `paper`, or `replace_one`).

    `confidence_scale` multiplies E and is 1 in the paper; `printed_constant` takes the printed order of E with
    this constant in place of the proven E; `families` are the paper's unless another choice is made.
    `noise="exact"` is for publication (release_mode.py).
    """

    epsilon: float
    sensitivity: str = "paper"
    families: str = "paper"
    confidence_scale: float = 1.0
    printed_constant: float | None = None

    model = "LDP"
    sparse = True

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.sensitivity, self.families, self.confidence_scale)
        if self.printed_constant is not None:
            check_number("printed_constant", self.printed_constant, positive, "a number > 0")
        self.check_mode()

    def exact_noise(self, problem: Problem) -> ExactNoise:
        return exact_laplace(self.epsilon, self.families, self.sensitivity, problem.H, 1)

    def scales(self, problem: Problem) -> Scales:
        """User noise 3Δ/ε [Sec.5.2 (1)], or what the families' shares make of it."""
        if self.exact:
            return self.exact_noise(problem).scales
        return laplace_scales(self.epsilon, self.families, self.sensitivity, problem.H, 1)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        scales, c, factor = self.scales(problem), self.printed_constant, self.confidence_scale
        sd = scales.M * math.sqrt(LAPLACE_VARIANCE * (problem.K - 1))
        E, cell = factor * self.proven_E(problem, G, scales), self.bounds(problem, G, scales).cell
        proven = Noise(scales.M, E, problem.K, factor=factor, cell=cell, sd=sd)
        if c is None:
            return proven
        E = factor * order_local(problem, self.epsilon, c)
        return proven._replace(E=E, printed=factor * c, proven=False)

    def bounds(self, problem: Problem, G: int, scales: Scales) -> Bounds:
        """On all partial sums of K-1 users' noise."""
        n, D, summed = problem.K - 1, problem.next_states, FAMILIES[self.families].summed
        failure = problem.beta / SHARE / counters(*problem.shape(G))
        one = laplace_sum_bound(n, failure)
        row = scales.M * laplace_sum_bound(D * n, failure) if summed else scales.N * one
        rounding = self.exact_noise(problem).rounding(n * visits(problem.H, G)) if self.exact else 0.0
        return Bounds(scales.M * one, row, scales.R * one + rounding)

    def proven_E(self, problem: Problem, G: int, scales: Scales) -> float:
        """[Lem.5.6]"""
        return bound_to_E(problem.next_states, FAMILIES[self.families].summed, *self.bounds(problem, G, scales))

    def certificate(self, problem: Problem, G: int) -> Certificate:
        """ε = Σ Δ_f/b_f over the families."""
        if problem.K == 1:
            return nothing_released(self.model)
        if self.exact:
            return self.exact_noise(problem).certificate(self.model, self.words)
        return laplace_certificate(self.model, self.families, problem.H, 1, self.scales(problem))

    def release(
        self, problem: Problem, G: int, seed: np.random.SeedSequence, samplers: Samplers = PLAIN
    ) -> Release:
        shape, scales = problem.shape(G), self.scales(problem)
        unit_sd = scales.M * math.sqrt(LAPLACE_VARIANCE)
        if self.exact:
            noise = self.exact_noise(problem)
            user = LocalRandomizer(1, noise.draws(shape, self.words.start(seed), samplers))
            return Published(BothSides(shape, user, self.families, unit_sd, grid=noise.grid), shape, noise.grid)
        user = LocalRandomizer(by_counter(scales, self.families, *shape), LaplaceStream(seed))
        return BothSides(shape, user, self.families, unit_sd)


class LocalRandomizer:
    """The user's side: sees one trajectory's statistics, keeps nothing."""

    def __init__(self, scale: float | Floats, stream: Draws):
        self.scale = scale
        self.dtype = dtype_of(stream)
        self._stream = stream

    def perturb(self, sigma: np.ndarray) -> np.ndarray:
        """σ̃ = σ + Lap(3Δ/ε) in every coordinate [Sec.5.2 (1), (3)]."""
        return sigma + self.scale * self._stream.draw(len(sigma))


class LocalServer:
    """The server's side: sums what the users send [Sec.5.2 (2), (3)]."""

    def __init__(self, size: int, dtype: type = np.float64):
        self.sum: np.ndarray = np.zeros(size, dtype)
        self.users = 0

    def receive(self, sigma_tilde: np.ndarray) -> np.ndarray:
        self.sum += sigma_tilde
        self.users += 1
        return self.sum.copy()


class BothSides:
    """A user's statistics go to her randomizer, and only what it returns to the server.

    With a `grid` all are integers, rewards in units of 1/grid.
    """

    def __init__(
        self,
        shape: Shape,
        randomizer: LocalRandomizer,
        families: str,
        unit_sd: float,
        clip: int | None = None,
        grid: int | None = None,
    ):
        self._shape, self._families, self._clip, self._grid = shape, FAMILIES[families], clip, grid
        self._offset = self._families.offset(*shape)
        self._unit_sd = unit_sd
        self._user, self._server = randomizer, LocalServer(counters(*shape) - self._offset, randomizer.dtype)

    def release(self, user: User) -> np.ndarray:
        shape = self._shape[:3]
        sigma = statistics(user.trajectory, *shape, self._families, self._clip, self._grid, user.moves)
        summed = self._server.receive(self._user.perturb(sigma[self._offset :]))
        return np.append(np.zeros(self._offset, summed.dtype), summed)

    @property
    def sd(self) -> Floats:
        return np.full(self._shape[:3], self._unit_sd * math.sqrt(self._server.users))


def order_local(problem: Problem, epsilon: float, constant: float) -> float:
    """[Sec.5.2 (2)] E = c (H/ε) √(K log(HSAT/β))."""
    return constant * problem.H / epsilon * math.sqrt(problem.K * log_hsat(problem))


PRIVATIZERS.add("local", Local)
