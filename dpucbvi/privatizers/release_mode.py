"""The release mode, `noise="exact"`: integers from the data to the noise, and words that no seed determines.

    statistics   counts, and rewards rounded to a public grid of 1/g: integer vectors    (counts.statistics)
    noise        discrete Laplace of scale t_f, or discrete Gaussian of parameter σ_f²   (exact.py)
    sums         of the two, in 64-bit integers, by the same classes that simulate
    Published    what came out, as floats: from here on all is post-processing

Without it (`noise="simulation"`) a run draws floating-point noise from its seed: an experiment, whose
certificate is that of the ideal mechanism (laplace.py). Both take budget, shares and tree from the same
settings. Let an item lie in L noisy sums, and Δ_f be how far a user moves family f (sensitivity.py), that of R
in units of 1/g. Then, with ρ the largest that has the wanted ε at δ (accounting.zcdp_of_epsilon),

    t_f  = L Δ_f / (share_f ε)          certified:  ε = Σ_f L Δ_f / t_f
    σ_f² = L Δ_f² / (2 share_f ρ)       certified:  ρ = Σ_f L Δ_f² / (2σ_f²), and the ε that it has at δ

are fractions, t_f and σ_f² rounded up to what the samplers take, the sums rounded up to floats. The way from ρ
to ε is not the shortest there is: for (1, 1e-6) σ is 7% larger than that of real Gaussian noise, whose δ is
known exactly (accounting.gaussian_delta). No μ is certified.

Estimates that weigh noisy sums by reals (honaker.py, square_root.py) are made of the noisy integers, and so are
post-processing too. Where users answer at random (one_question.py, one_step.py) there is no noise to add: their
answers come from exact coins (exact.response), tallies are integers, and estimates are made of these. Here ε is
rounded down to a fraction that the coins take, the share of the two kinds of question to a multiple of 2^-30,
and the estimates rest on what they were rounded to.

The grid is 1/1000. The samplers take t and σ² up to 2^30 only; where R needs more, g is the largest even
divisor of 1000 with which it fits. It depends on no data.

Formal guarantees, for independent uniform words (words.py):
- the certified ε, or ρ, exactly: the proofs in kary.py, over_time.py and batches.py hold with integers, since
  the shift of the noise is an integer vector and counting takes the place of volume; ρ adds up over the nodes
  that hold an item, also if the items depend on earlier releases (Bun & Steinke, Lemma 1.7). ε at δ from ρ:
  idealised numerics, with a margin for its roundings;
- a sum that left the 64 bits would be the right one modulo 2^64: post-processing, so that privacy never rests
  on the size of a number. Counts are right, also as floats, up to 2^53/(gH) users (4·10^11 for H = 20);
- E as with real noise (confidence.py). The moment generating function of discrete Laplace noise is at most that
  of real noise of its scale, 1/(1 - (cosh λ - 1)/(cosh(1/t) - 1)) against 1/(1 - λ²t²), because (cosh λ - 1)/λ²
  grows. That of discrete Gaussian noise is at most e^{λ²σ²/2}, because Σ_x e^{-(x-c)²/2σ²} over the integers
  is largest at c = 0 (Poisson's formula: its Fourier coefficients are positive); so 2e^{-z²/2} takes the place
  of 2Φ(-z). A reward is off by at most 1/(2g) a visit, which goes into E.
Out of scope: timing, as in exact.py, and what else a run shows: a trace holds the true visits, it is no
release.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpucbvi.counts import FAMILIES
from dpucbvi.errors import InputError
from dpucbvi.privatizers.accounting import MARGIN, epsilon_of_zcdp, zcdp_of_epsilon
from dpucbvi.privatizers.certificate import RELEASE, SIMULATION, Certificate, Scales, check_one_of
from dpucbvi.privatizers.exact import LARGEST, ExactCoins, ExactGaussian, ExactLaplace
from dpucbvi.privatizers.rational import round_down_to, round_up, round_up_to
from dpucbvi.privatizers.sensitivity import SENSITIVITY_FACTOR, ByFamily, l1, l2_squared
from dpucbvi.privatizers.words import SystemWords, WordSource
from dpucbvi.protocol import Floats, Ints, Release, Shape, User

GRIDS = (1000, 500, 250, 200, 100, 50, 40, 20, 10, 8, 4, 2)  # even, for ½ lies on the grid; the finest first
SHARES = 2**30  # of a public coin between two kinds of question
MODES = (SIMULATION, "exact")


@dataclass(frozen=True, kw_only=True)
class ReleaseMode:
    """What a privatizer with both kinds of noise takes.

    `noise`: `simulation` (seeded, floating point) or `exact` (to publish). `words`: where exact noise has its
    bits from; a seeded source is for tests, and makes a simulation of it.
    """

    noise: str = SIMULATION
    words: type[WordSource] = field(default=SystemWords, repr=False)  # not a setting: never by config

    @property
    def exact(self) -> bool:
        return self.noise == "exact"

    def check_mode(self) -> None:
        check_one_of("noise", self.noise, MODES)
        if not self.exact and self.words is not SystemWords:
            raise InputError("words: has no effect on simulated noise; it is for noise=exact")


class Samplers(NamedTuple):
    """Who draws: the classes below in plain Python, or their compiled twins, which give the same integers."""

    laplace: type[ExactLaplace] = ExactLaplace
    gaussian: type[ExactGaussian] = ExactGaussian
    coins: type[ExactCoins] = ExactCoins


PLAIN = Samplers()


class ExactAnswers(ReleaseMode):
    """What a privatizer has in both modes whose users answer at random, one of two kinds of question."""

    epsilon: float
    transitions: float

    @property
    def budget(self) -> float:
        """ε, or the fraction just below it that exact coins take; a float has that exactly."""
        return float(exact_budget(self.epsilon)) if self.exact else self.epsilon

    @property
    def share(self) -> float:
        """Of questions about the next state; also exact."""
        return exact_share(self.transitions) / SHARES if self.exact else self.transitions

    @property
    def kind(self) -> str:
        """Of the certificate."""
        return RELEASE if self.exact and not self.words.seeded else SIMULATION

    def rounding(self, visits: int) -> float:
        """How far a sum of so many rewards may be off because of the grid."""
        return visits / (2.0 * GRIDS[0]) if self.exact else 0.0

    def coins(self, seed: np.random.SeedSequence, samplers: Samplers) -> ExactCoins:
        return samplers.coins(exact_budget(self.epsilon), self.words.start(seed))


def exact_budget(epsilon: float) -> Fraction:
    """ε of random answers, rounded down to what the coins take."""
    if not 1.0 / LARGEST <= epsilon <= LARGEST:
        raise InputError(f"epsilon: {epsilon:g} is not accepted; exact answers take 2^-30 to 2^30")
    return round_down_to(Fraction(float(epsilon)), LARGEST)


def exact_share(transitions: float) -> int:
    """The share of the first kind of question, in units of 1/SHARES."""
    units = round(Fraction(float(transitions)) * SHARES)
    if not 0 < units < SHARES:
        raise InputError(f"transitions: {transitions:g} is not accepted; exact coins take 2^-30 to 1 - 2^-30")
    return units


def is_exact(privatizer: object) -> bool:
    return isinstance(privatizer, ReleaseMode) and privatizer.exact


class ExactNoise(NamedTuple):
    """The noise of all families and what it costs; δ = 0 means Laplace."""

    families: str
    most: int  # H for Laplace, V of sensitivity.py for Gaussian
    L: int
    delta: float
    scale: ByFamily  # t_f or σ_f², in units of 1/unit, that of R in units of 1/(unit·g)
    grid: int
    unit: int = 1

    @property
    def scales(self) -> Scales:
        """b_f or σ_f as floats, that of R in units of 1: for E and for standard deviations."""
        N, M, R = (round_up(x) if self.delta == 0.0 else math.sqrt(x) for x in self.scale)
        return Scales(N / self.unit, M / self.unit, R / (self.unit * self.grid))

    def cost(self, replaced: bool) -> Fraction:
        """ε = Σ_f L Δ_f/t_f, or ρ = Σ_f L Δ_f²/(2σ_f²)."""
        change = _change(self.families, self.most, self.delta, replaced, self.grid)
        times = 1 if self.delta == 0.0 else 2
        losses = [self.L * d / (times * x) for d, x in zip(change, self.scale, strict=True) if d]
        return sum(losses, Fraction(0))

    def certificate(self, model: str, words: type[WordSource]) -> Certificate:
        kind = SIMULATION if words.seeded else RELEASE
        costs = round_up(self.cost(False)), round_up(self.cost(True))
        if self.delta == 0.0:
            return Certificate(model, *costs, noise=kind)
        apart, replaced = (epsilon_of_zcdp(rho, self.delta) * (1.0 + MARGIN) for rho in costs)
        return Certificate(model, apart, replaced, self.delta, None, None, kind, *costs)

    def rounding(self, visits: int) -> float:
        """How far a sum of so many rewards may be off because of the grid."""
        return visits / (2.0 * self.grid)

    def draws(self, shape: Shape, source: WordSource, samplers: Samplers) -> "ExactDraws":
        """The noise of all released counters, in the order of counts.as_counts."""
        G, S, A, D = shape
        sampler = samplers.laplace if self.delta == 0.0 else samplers.gaussian
        sizes = (G * S * A, G * S * A * D, G * S * A)
        return ExactDraws([(sampler(x, source), n) for x, n in zip(self.scale, sizes, strict=True) if x])


class ExactDraws:
    """Integer noise for a whole vector of counters, family by family from one source of words."""

    dtype = np.int64

    def __init__(self, families: list[tuple[ExactLaplace | ExactGaussian, int]]):
        self._families = families
        self.size = sum(n for _, n in families)

    def draw(self, n: int) -> Ints:
        if n != self.size:
            raise ValueError(f"this noise is for {self.size} counters, not for {n}")
        return np.concatenate([sampler.draw(size) for sampler, size in self._families])


class Published:
    """An exact release, its integers turned into floats once they are out; `last` are those of the last one."""

    def __init__(self, release: Release, shape: Shape, grid: int):
        self.last: np.ndarray | None = None
        self._release, self._grid = release, grid
        self._rewards = math.prod(shape[:3])

    def release(self, user: User) -> Floats | None:
        released = self._release.release(user)
        if released is None:
            return None
        self.last = released
        counts = released.astype(np.float64)
        counts[-self._rewards :] /= self._grid
        return counts

    @property
    def sd(self) -> Floats:
        return self._release.sd  # type: ignore[attr-defined]


def exact_laplace(epsilon: float, families: str, sensitivity: str, H: int, L: int) -> ExactNoise:
    """t_f = L Δ_f/(share_f ε), rounded up."""
    budget = Fraction(float(epsilon))
    return _exact(families, sensitivity, H, L, 0.0, lambda d, share: L * d / (share * budget))


def exact_gaussian(
    epsilon: float, delta: float, families: str, sensitivity: str, V: int, L: int, unit: int = 1
) -> ExactNoise:
    """σ_f² = L Δ_f²/(2 share_f ρ), rounded up; where sums are weighted, L is Σ weights², in units of 1/unit."""
    rho = Fraction(zcdp_of_epsilon(epsilon, delta))
    made = _exact(families, sensitivity, V, L, delta, lambda d2, share: L * d2 / (2 * share * rho))
    return made._replace(unit=unit)


def _exact(
    families: str,
    sensitivity: str,
    most: int,
    L: int,
    delta: float,
    scale: Callable[[Fraction, Fraction], Fraction],
) -> ExactNoise:
    chosen = FAMILIES[families]
    shares = (chosen.N, chosen.M, chosen.R)
    for grid in GRIDS:
        change = _change(families, most, delta, SENSITIVITY_FACTOR[sensitivity] == 2, grid)
        wanted = [scale(d, share) if d else Fraction(0) for d, share in zip(change, shares, strict=True)]
        if max(wanted) <= LARGEST:
            rounded = (round_up_to(x, LARGEST) if x else x for x in wanted)
            return ExactNoise(families, most, L, delta, ByFamily(*rounded), grid)
    raise InputError("epsilon: exact noise has no scale as large as this; a larger epsilon is needed")


def _change(families: str, most: int, delta: float, replaced: bool, grid: int) -> ByFamily:
    """Δ_f, or Δ_f² for Gaussian noise; R in units of 1/grid."""
    if delta == 0.0:
        change = l1(FAMILIES[families], most, replaced)
        return change._replace(R=change.R * grid)
    change = l2_squared(FAMILIES[families], most, replaced)
    return change._replace(R=change.R * grid**2)
