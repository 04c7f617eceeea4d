"""The law of the noise, Laplace or Gaussian: its scales, its tail, and what it certifies, in floats or exactly.

A mechanism (mechanisms/) spends on every item: L, in how many noisy sums it lies, for Laplace noise, and C, by
which factor its ℓ2 norm grows, for Gaussian noise. With Δ_f how far a user moves family f (sensitivity.py),

    Laplace    b_f = L Δ_f/(share_f ε)        certified:  ε = Σ_f L Δ_f/b_f
    Gaussian   σ_f = C Δ_f/(μ √share_f)       certified:  μ² = Σ_f C² Δ_f²/σ_f², and the ε that it has at δ

Exact noise (`noise="exact"`) is integers from the data to the noise, and words that no seed determines:

    statistics   counts, and rewards rounded at random to a public grid of 1/g: integers (arrays.to_grid)
    noise        discrete Laplace of scale t_f, or discrete Gaussian of parameter σ_f²   (exact.py)
    sums         of the two, in 64-bit integers, by the same functions that simulate
    published    what came out, as floats: from here on all is post-processing           (arrays.in_integers)

Without it (`noise="simulation"`) a run draws floating-point noise from its seed: an experiment, whose
certificate is that of the ideal mechanism (laplace.py). Both take budget, shares and tree from the same
settings. Let an item lie in L noisy sums, and Δ_f be how far a user moves family f (sensitivity.py), that of R
in units of 1/g. Then, with ρ the largest that has the wanted ε at δ (accounting.zcdp_of_epsilon),

    t_f  = L Δ_f / (share_f ε)          certified:  ε = Σ_f L Δ_f / t_f
    σ_f² = L Δ_f² / (2 share_f ρ)       certified:  ρ = Σ_f L Δ_f² / (2σ_f²), and the ε that it has at δ

are fractions, t_f and σ_f² rounded up to what the samplers take, the sums rounded up to floats. The way from ρ
to ε is not the shortest there is: for (1, 1e-6) σ is 7% larger than that of real Gaussian noise, whose δ is
known exactly (accounting.gaussian_delta). No μ is certified.

Where users answer at random (one_question.py) there is no noise to add: their answers come from exact coins
(exact.response), tallies are integers, and estimates are made of these. Here ε is rounded down to a fraction
that the coins take, the share of the two kinds of question to a multiple of 2^-30, and the estimates rest on
what they were rounded to.

The grid is 1/1000. The samplers take t and σ² up to 2^30 only; where R needs more, g is the largest even
divisor of 1000 with which it fits. It depends on no data.

Formal guarantees, for independent uniform words (words.py):
- the certified ε, or ρ, exactly: the proofs in kary.py, noisy_sums.py and batches.py hold with integers, since
  the shift of the noise is an integer vector and counting takes the place of volume; ρ adds up over the nodes
  that hold an item, also if the items depend on earlier releases (Bun & Steinke, Lemma 1.7). ε at δ from ρ:
  idealised numerics, with a margin for its roundings;
- a sum that left the 64 bits would be the right one modulo 2^64: post-processing, so that privacy never rests
  on the size of a number. Counts are right, also as floats, up to 2^53/(gH) users (4·10^11 for H = 20);
- E as with real noise (confidence.py). The moment generating function of discrete Laplace noise is at most that
  of real noise of its scale, 1/(1 - (cosh λ - 1)/(cosh(1/t) - 1)) against 1/(1 - λ²t²), because (cosh λ - 1)/λ²
  grows. That of discrete Gaussian noise is at most e^{λ²σ²/2}, because Σ_x e^{-(x-c)²/2σ²} over the integers
  is largest at c = 0 (Poisson's formula: its Fourier coefficients are positive); so 2e^{-z²/2} takes the place
  of 2Φ(-z). A reward becomes one of its two neighbours on the grid with its own mean; how far a sum of so many
  may be off goes into E, and half of the failure probability of R with it.
Out of scope: timing, as in exact.py, and what else a run shows: a trace holds the true visits, it is no
release.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpucbvi.confidence import gaussian_bound, laplace_sum_bound, subgaussian_bound
from dpucbvi.counts import FAMILIES
from dpucbvi.errors import InputError
from dpucbvi.privacy.accounting import (
    MARGIN,
    epsilon_of_zcdp,
    gaussian_mu,
    round_up,
    round_up_to,
    zcdp_of_epsilon,
)
from dpucbvi.privacy.certificate import (
    RELEASE,
    SIMULATION,
    Certificate,
    Scales,
    gaussian_certificate,
    laplace_certificate,
)
from dpucbvi.privacy.exact import LARGEST, discrete_gaussian, discrete_laplace, parts
from dpucbvi.privacy.laplace import Words as Words64
from dpucbvi.privacy.sensitivity import (
    SENSITIVITY_FACTOR,
    ByFamily,
    l1,
    l2_squared,
    largest_square,
    reached_together,
)
from dpucbvi.privacy.words import Words, WordSource
from dpucbvi.protocol import Ints, Problem, Shape

GRIDS = (1000, 500, 250, 200, 100, 50, 40, 20, 10, 8, 4, 2)  # even, for ½ lies on the grid; the finest first


class Reach(NamedTuple):
    """How far a user reaches: the families she moves, the relation, H and V (sensitivity.py)."""

    families: str
    sensitivity: str
    H: int
    V: int
    together: Fraction = Fraction(1)


def reach(families: str, sensitivity: str, problem: Problem, G: int, clip: int | None = None) -> Reach:
    H, V = problem.H, largest_square(problem.H, G, clip)
    together = reached_together(FAMILIES[families], sensitivity, H, G, clip)
    return Reach(families, sensitivity, H, V, together)


class Spent(NamedTuple):
    """What a mechanism spends on an item: L and C."""

    L: int
    C: float


ONCE = Spent(1, 1.0)  # an item lies in one noisy sum


@dataclass(frozen=True)
class Laplace:
    """Laplace noise for a pure ε."""

    epsilon: float
    exact: bool = False

    gaussian: ClassVar[bool] = False
    variance: ClassVar[float] = 2.0  # of noise of scale 1

    def scales(self, user: Reach, spent: Spent) -> Scales:
        """b_f = L Δ_f/(share_f ε), worked out exactly and rounded up."""
        budget = Fraction(float(self.epsilon))
        change = l1(FAMILIES[user.families], user.H, SENSITIVITY_FACTOR[user.sensitivity] == 2)
        return Scales(*_by_share(user, change, lambda d, share: round_up(spent.L * d / (share * budget))))

    def certificate(self, model: str, user: Reach, spent: Spent, scales: Scales) -> Certificate:
        return laplace_certificate(model, user.families, user.H, spent.L, scales)

    def exact_noise(self, user: Reach, spent: Spent) -> "ExactNoise":
        """t_f = L Δ_f/(share_f ε), rounded up."""
        budget = Fraction(float(self.epsilon))
        return _exact(user, user.H, spent.L, 0.0, lambda d, share: spent.L * d / (share * budget))

    def sum_bound(self, n: float, failure: float) -> float:
        """On the sum of n noises of scale 1, exceeded with probability `failure` at most."""
        return laplace_sum_bound(n, failure)

    def row_bound(self, scale: float, D: int, n: float, failure: float) -> float:
        """On the sum of D cells with n noises each."""
        return scale * laplace_sum_bound(D * n, failure)


@dataclass(frozen=True)
class Gaussian:
    """Gaussian noise for (ε, δ)."""

    epsilon: float
    delta: float
    exact: bool = False

    gaussian: ClassVar[bool] = True
    variance: ClassVar[float] = 1.0

    def scales(self, user: Reach, spent: Spent) -> Scales:
        """σ_f = C Δ_f/(μ √share_f), rounded up by a margin that covers the roundings of its formula."""
        mu, C = gaussian_mu(self.epsilon, self.delta), spent.C * math.sqrt(user.together)
        change = l2_squared(FAMILIES[user.families], user.V, SENSITIVITY_FACTOR[user.sensitivity] == 2)
        return Scales(
            *_by_share(user, change, lambda d2, share: C * math.sqrt(d2 / share) / mu * (1.0 + MARGIN))
        )

    def certificate(self, model: str, user: Reach, spent: Spent, scales: Scales) -> Certificate:
        return gaussian_certificate(
            model, user.families, user.V, spent.C, scales, self.delta, float(user.together)
        )

    def exact_noise(self, user: Reach, spent: Spent) -> "ExactNoise":
        """σ_f² = L Δ_f²/(2 share_f ρ), rounded up."""
        rho = Fraction(zcdp_of_epsilon(self.epsilon, self.delta)) / user.together
        made = _exact(user, user.V, spent.L, self.delta, lambda d2, share: spent.L * d2 / (2 * share * rho))
        return made._replace(together=user.together)

    def sum_bound(self, n: float, failure: float) -> float:
        """On the sum of noises of scale 1 whose weights have squares that sum to n."""
        return (subgaussian_bound if self.exact else gaussian_bound)(failure) * math.sqrt(n)

    def row_bound(self, scale: float, D: int, n: float, failure: float) -> float:
        """On the sum of D such cells."""
        return scale * math.sqrt(D) * self.sum_bound(n, failure)


Law = Laplace | Gaussian


# --- exact noise ----------------------------------------------------------------------------------------------


class ExactDraws(NamedTuple):
    """Integer noise for a whole vector of counters, family by family from one source of words.

    The compiled engine draws the same integers from the same words (engine/exact.py).
    """

    words: Words
    scale: Words64  # [family, (n, d, ⌊√(n/d)⌋ + 1)] of t = n/d or σ² = n/d
    sizes: Ints  # of the families
    gaussian: bool

    def draw(self, n: int) -> Ints:
        if n != self.sizes.sum():
            raise ValueError(f"this noise is for {self.sizes.sum()} counters, not for {n}")
        one = discrete_gaussian if self.gaussian else discrete_laplace
        scales = [Fraction(int(n), int(d)) for n, d, _ in self.scale]
        drawn = [one(x, self.words) for x, size in zip(scales, self.sizes, strict=True) for _ in range(size)]
        return np.array(drawn, np.int64)


class ExactNoise(NamedTuple):
    """The noise of all families and what it costs; δ = 0 means Laplace."""

    families: str
    most: int  # H for Laplace, V of sensitivity.py for Gaussian
    L: int
    delta: float
    scale: ByFamily  # t_f or σ_f², that of R in units of 1/g
    grid: int
    together: Fraction = Fraction(1)  # sensitivity.reached_together

    @property
    def scales(self) -> Scales:
        """b_f or σ_f as floats, that of R in units of 1: for E and for standard deviations."""
        N, M, R = (round_up(x) if self.delta == 0.0 else math.sqrt(x) for x in self.scale)
        return Scales(N, M, R / self.grid)

    def cost(self, replaced: bool) -> Fraction:
        """ε = Σ_f L Δ_f/t_f, or ρ = Σ_f L Δ_f²/(2σ_f²)."""
        change = _change(self.families, self.most, self.delta, replaced, self.grid)
        times = 1 if self.delta == 0.0 else 2
        losses = [self.L * d / (times * x) for d, x in zip(change, self.scale, strict=True) if d]
        return sum(losses, Fraction(0)) * (self.together if replaced else 1)

    def certificate(self, model: str, words: type[WordSource]) -> Certificate:
        kind = SIMULATION if words.seeded else RELEASE
        costs = round_up(self.cost(False)), round_up(self.cost(True))
        if self.delta == 0.0:
            return Certificate(model, *costs, noise=kind)
        apart, replaced = (epsilon_of_zcdp(rho, self.delta) * (1.0 + MARGIN) for rho in costs)
        return Certificate(model, apart, replaced, self.delta, None, None, kind, *costs)

    def rounding(self, visits: int, failure: float) -> float:
        """How far a sum of so many rewards may be off because of the grid, but with probability `failure`.

        Rounding errors have mean 0 and width 1/g, each given what was before: Hoeffding and Doob.
        """
        return math.sqrt(visits * math.log(2.0 / failure) / 2.0) / self.grid

    def draws(self, shape: Shape, source: WordSource, kind: Callable[..., Any] = ExactDraws) -> Any:
        """The noise of all released counters, in the order of counts.as_counts."""
        G, S, A, D = shape
        sizes = (G * S * A, G * S * A * D, G * S * A)
        released = [(*parts("scale", x), n) for x, n in zip(self.scale, sizes, strict=True) if x]
        scale = np.array([(n, d, math.isqrt(n // d) + 1) for n, d, _ in released], np.uint64)
        return kind(Words._make(source), scale, np.array([n for *_, n in released]), self.delta > 0.0)


def _exact(
    user: Reach, most: int, L: int, delta: float, scale: Callable[[Fraction, Fraction], Fraction]
) -> ExactNoise:
    for grid in GRIDS:
        change = _change(user.families, most, delta, SENSITIVITY_FACTOR[user.sensitivity] == 2, grid)
        wanted = _by_share(user, change, scale)
        if max(wanted) <= LARGEST:
            rounded = (round_up_to(x, LARGEST) if x else Fraction(0) for x in wanted)
            return ExactNoise(user.families, most, L, delta, ByFamily(*rounded), grid)
    raise InputError("epsilon: exact noise has no scale as large as this; a larger epsilon is needed")


def _by_share(user: Reach, change: ByFamily, scale: Callable[[Fraction, Fraction], Any]) -> list[Any]:
    """The scale of every family, of how far a user moves it and its share; 0 if it is not released."""
    families = FAMILIES[user.families]
    shares = families.N, families.M, families.R
    return [scale(d, share) if share else 0.0 for d, share in zip(change, shares, strict=True)]


def _change(families: str, most: int, delta: float, replaced: bool, grid: int) -> ByFamily:
    """Δ_f, or Δ_f² for Gaussian noise; R in units of 1/grid."""
    if delta == 0.0:
        change = l1(FAMILIES[families], most, replaced)
        return change._replace(R=change.R * grid)
    change = l2_squared(FAMILIES[families], most, replaced)
    return change._replace(R=change.R * grid**2)
