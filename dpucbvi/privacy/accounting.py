"""Measures of privacy and the exact conversions between them: one function per equation.

A mechanism is described by one number of one of four measures, each for a given neighbour relation:

    ε          pure DP:      P(M(X) ∈ F) ≤ e^ε P(M(X') ∈ F)
    (ε, δ)     approximate:  P(M(X) ∈ F) ≤ e^ε P(M(X') ∈ F) + δ
    ρ          zCDP:         D_α(M(X) ‖ M(X')) ≤ ρα for every α > 1 (Rényi divergence)
    μ          Gaussian DP:  telling X from X' is at least as hard as telling N(0,1) from N(μ,1)

Gaussian noise N(0, σ²) on a vector whose value moves by at most Δ in ℓ2 is exactly (Δ/σ)-GDP, and so is a
sequence of releases with μ² = Σ Δ_i²/σ_i². Everything else about it follows from μ:

    δ(ε) = Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2)       the smallest δ, for every ε ≥ 0
    ρ    = μ²/2                                    the smallest ρ

The smallest δ in floats. Let a = ε/μ - μ/2 and R(x) = Φ(-x)/φ(x) (Mills' ratio). As φ(a) = e^ε φ(a + μ),

    δ = φ(a) (R(a) - R(a + μ)) = φ(a) ∫₀^∞ e^{-as - s²/2} (1 - e^{-μs}) ds.

The middle form loses digits only where R(a + μ) is close to R(a), that is for small μ; the integral has no
difference in it at all and takes over there.

Formal guarantees:
- δ has a relative error below 1e-12 for μ from 1e-6 to 100, ε up to 700 and δ down to 1e-30 (tested against
  200 digits; the largest error seen is 2e-14);
- what is claimed is never stronger than what holds: `gaussian_epsilon` is rounded up and `gaussian_mu` down,
  until δ is below the wanted one by the relative MARGIN, which is as large as that error;
- the other conversions are exact formulas in idealised numerics: a few units in the last place either way;
- x ≤ round_up(x), and no float lies between; x ≤ round_up_to(x, most), and for x ≥ 1 the excess is below
  2x/most; round_down_to likewise from below. More noise than asked for, and less of a budget, is still private.

Sources: Balle & Wang 2018 (arXiv 1805.06530v2) Theorem 8; Dong, Roth & Su 2019 (arXiv 1905.02383) Corollaries
2.13 and 3.3; Bun & Steinke 2016 (arXiv 1605.02065) Propositions 1.3, 1.4, 1.6 and Lemma 1.7; Canonne, Kamath &
Steinke 2020 (arXiv 2004.00010v4) Proposition 12.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.protocol import Floats

MARGIN = 1e-12  # relative, on δ: what rounding may hide
SEARCH = 1e-8  # relative, on ρ: more than the search of epsilon_of_zcdp can miss
NODES = 48  # of the quadrature below; 40 give the same digits
SMALL = 1.0  # the integral for μ below it, the difference of Mills' ratios from it on
LOG_TAIL = 40.0  # the integral is cut where e^{-as - s²/2} = e^{-40}


# --- (ε, δ) of Gaussian noise ---------------------------------------------------------------------------------


def gaussian_delta(epsilon: float, mu: float) -> float:
    """δ(ε) = Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2): the smallest δ of a μ-GDP mechanism at ε."""
    return math.exp(_log_delta(epsilon, mu))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest ε ≥ 0 with δ(ε) ≤ δ, rounded up; infinite if δ = 0: no Gaussian mechanism is pure."""
    _check("mu", mu)
    _check("delta", delta)
    if mu == 0.0 or delta >= 1.0:
        return 0.0
    if math.isinf(mu) or delta == 0.0:
        return math.inf
    target = math.log(delta) - MARGIN
    if _log_delta(0.0, mu) <= target:
        return 0.0
    return _first_below(lambda epsilon: _log_delta(epsilon, mu) - target, 0.0, mu)


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest μ with δ(ε) ≤ δ, rounded down: noise with σ = Δ/μ is (ε, δ)-DP, hardly any less is."""
    _check("epsilon", epsilon)
    _check("delta", delta)
    if math.isinf(epsilon) or delta >= 1.0:
        return math.inf
    if delta == 0.0:
        return 0.0
    target = math.log(delta) - MARGIN
    return 1.0 / _first_below(lambda sigma: _log_delta(epsilon, 1.0 / sigma) - target, 0.0, 1.0)


def _log_delta(epsilon: float, mu: float) -> float:
    """ln δ(ε), by the form that has no cancellation (module docstring)."""
    _check("epsilon", epsilon)
    _check("mu", mu)
    if mu == 0.0 or math.isinf(epsilon):
        return -math.inf
    if math.isinf(mu):
        return 0.0
    a = epsilon / mu - mu / 2.0
    log_phi = -a * a / 2.0 - math.log(2.0 * math.pi) / 2.0
    if mu < SMALL:
        return log_phi + _log(_mills_integral(a, mu))
    from scipy.special import ndtr  # slow to import: `import dpucbvi` does without

    if a > 0.0:
        return log_phi + _log(_mills(a) - _mills(a + mu))
    return _log(float(ndtr(-a)) - math.exp(log_phi) * _mills(a + mu))


def _mills(x: float) -> float:
    """R(x) = Φ(-x)/φ(x) = √(π/2) erfcx(x/√2)."""
    from scipy.special import erfcx

    return math.sqrt(math.pi / 2.0) * float(erfcx(x / math.sqrt(2.0)))


def _mills_integral(a: float, mu: float) -> float:
    """R(a) - R(a + μ) = ∫₀^∞ e^{-as - s²/2} (1 - e^{-μs}) ds, for a > -1 and μ < 1 (Gauss and Legendre)."""
    nodes, weights = _quadrature()
    end = 2.0 * LOG_TAIL / (math.hypot(a, math.sqrt(2.0 * LOG_TAIL)) + a)  # a·end + end²/2 = LOG_TAIL
    s = end / 2.0 * (nodes + 1.0)
    return float(end / 2.0 * (weights * np.exp(-a * s - s * s / 2.0) * -np.expm1(-mu * s)).sum())


@cache
def _quadrature() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(NODES)


def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else -math.inf


def _first_below(f: Callable[[float], float], low: float, step: float) -> float:
    """An x > low with f(x) ≤ 0, a few units in the last place above the root of the decreasing f."""
    from scipy.optimize import brentq

    high = low + step
    while f(high) > 0.0:
        low, high = high, 2.0 * high
    if low == 0.0:  # the root may be far below the first step, and f(0) need not exist
        low = high / 2.0
        while f(low) <= 0.0:
            low, high = low / 2.0, low
            if low == 0.0:
                return high
    if math.isinf(f(high)):  # δ = 0 to all digits: halve until there is a number to interpolate
        while math.isinf(f(high)) and high - low > 1e-15 * high:
            middle = (low + high) / 2.0
            low, high = (middle, high) if f(middle) > 0.0 else (low, middle)
    x = brentq(f, low, high, xtol=1e-300, rtol=1e-15) if math.isfinite(f(high)) else high
    nudge = math.ulp(x)
    while f(x) > 0.0:
        x, nudge = x + nudge, 2.0 * nudge
    return x


# --- between the measures -------------------------------------------------------------------------------------


def zcdp_of_gdp(mu: float) -> float:
    """ρ = μ²/2, exact for Gaussian noise: D_α(N(μ,1) ‖ N(0,1)) = αμ²/2.  Source: Bun & Steinke Prop. 1.6."""
    _check("mu", mu)
    return mu * mu / 2.0


def zcdp_of_pure(epsilon: float) -> float:
    """ρ = ε tanh(ε/2): the smallest ρ that every ε-DP mechanism has; below ε²/2 (Bun & Steinke Prop. 1.4).

    Proof. An ε-DP mechanism is a function of one bit's randomised response at ε (Kairouz, Oh & Viswanath 2015,
    arXiv 1311.0776), whose divergence is D_α = (ln cosh((α - ½)ε) - ln cosh(ε/2))/(α - 1). This is ε times the
    mean of tanh on [ε/2, (α - ½)ε]. tanh is concave on x ≥ 0, so the mean is at most tanh(αε/2), its value in
    the middle, and that at most α tanh(ε/2). D_α/α has this limit at α = 1: no smaller ρ is enough.
    """
    _check("epsilon", epsilon)
    return epsilon * math.tanh(epsilon / 2.0)


def gdp_of_pure(epsilon: float) -> float:
    """μ = 2 Φ⁻¹(e^ε/(1 + e^ε)): the smallest μ for which every ε-DP mechanism is μ-GDP.

    Proof. The trade-off curve of ε-DP is f(α) = max(0, 1 - e^ε α, e^{-ε}(1 - α)): two chords that meet in the
    corner α = f(α) = 1/(1 + e^ε). G_μ(α) = Φ(Φ⁻¹(1-α) - μ) is convex with the same ends (0,1) and (1,0), so
    G_μ ≤ f everywhere if and only if G_μ ≤ f at the corner; there equality is the formula for μ.
    """
    _check("epsilon", epsilon)
    if epsilon == 0.0 or math.isinf(epsilon):
        return epsilon
    from scipy.special import erfinv, ndtri_exp

    if epsilon < 1.0:  # Φ(μ/2) - 1/2 = tanh(ε/2)/2
        return 2.0 * math.sqrt(2.0) * float(erfinv(math.tanh(epsilon / 2.0)))
    return -2.0 * float(ndtri_exp(-epsilon - math.log1p(math.exp(-epsilon))))  # ln of the corner's α


def epsilon_of_zcdp(rho: float, delta: float) -> float:
    """ε = min_{α>1} αρ + (ln(1/δ) - ln α)/(α-1) + ln(1 - 1/α).  Source: Canonne, Kamath & Steinke Prop. 12.

    Never above Bun & Steinke's ρ + 2√(ρ ln(1/δ)) (their Prop. 1.3). Every α gives a valid ε, so what the search
    misses is never privacy. For Gaussian noise `gaussian_epsilon` is smaller still, and exact.
    """
    _check("rho", rho)
    _check("delta", delta)
    if rho == 0.0 or delta >= 1.0:
        return 0.0
    if math.isinf(rho) or delta == 0.0:
        return math.inf
    from scipy.optimize import minimize_scalar

    def epsilon(log_beta: float) -> float:  # α = 1 + β
        beta = math.exp(log_beta)
        return (1.0 + beta) * rho - (math.log(delta) + math.log1p(beta)) / beta - math.log1p(1.0 / beta)

    classic = math.log(math.log(1.0 / delta) / rho) / 2.0  # where Bun & Steinke's bound has its minimum
    found = minimize_scalar(epsilon, bounds=(classic - 5.0, classic + 5.0), method="bounded").fun
    return max(min(float(found), epsilon(classic)), 0.0)


@cache
def zcdp_of_epsilon(epsilon: float, delta: float) -> float:
    """The largest ρ with `epsilon_of_zcdp`(ρ, δ) ≤ ε, rounded down by more than that search can miss."""
    _check("epsilon", epsilon)
    _check("delta", delta)
    if math.isinf(epsilon) or delta >= 1.0:
        return math.inf
    if delta == 0.0 or epsilon == 0.0:
        return 0.0
    return (1.0 - SEARCH) / _first_below(lambda x: epsilon_of_zcdp(1.0 / x, delta) - epsilon, 0.0, 1.0)


def _check(key: str, value: float) -> None:
    if not value >= 0.0:  # a nan is refused too
        raise InputError(f"{key}: {value!r} is not accepted; it must be a number >= 0, or inf")


# --- fractions for what is promised, floats for what is printed -----------------------------------------------


def round_up(x: Fraction) -> float:
    """The smallest float ≥ x; infinity if x exceeds them all."""
    try:
        nearest = float(x)  # correctly rounded, so at most one step below
    except OverflowError:
        return math.inf if x > 0 else -math.nextafter(math.inf, 0.0)
    if math.isinf(nearest) or Fraction(nearest) >= x:
        return nearest
    return math.nextafter(nearest, math.inf)


def round_up_to(x: Fraction, most: int) -> Fraction:
    """The smallest k/2^i ≥ x with k ≤ most, where 2^i ≤ most is as large as k allows."""
    return _in_halves(x, most, math.ceil)


def round_down_to(x: Fraction, most: int) -> Fraction:
    """The largest k/2^i ≤ x with k ≤ most, where 2^i ≤ most is as large as k allows; 0 if x < 1/most."""
    return _in_halves(x, most, math.floor)


def _in_halves(x: Fraction, most: int, whole: Callable[[Fraction], int]) -> Fraction:
    if not 0 < x <= most:
        raise InputError(f"x: {x} is not accepted; it must be positive and at most {most}")
    power = 1 << (most.bit_length() - 1)
    while whole(x * power) > most:
        power //= 2
    return Fraction(whole(x * power), power)
