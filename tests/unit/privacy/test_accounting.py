"""The measures of privacy, against 200 digits and their own inverses; and how numbers are rounded up.

The tests that need mpmath (of the dev extras) are skipped where it is not installed. Certificates are compared
with dp-accounting in test_certificates.py.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy.stats import norm

from dpucbvi.errors import InputError
from dpucbvi.privacy.accounting import (
    epsilon_of_zcdp,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    gdp_of_pure,
    round_down_to,
    round_up,
    round_up_to,
    zcdp_of_gdp,
    zcdp_of_pure,
)

INF = math.inf

log_mus = st.floats(-6.0, 2.0)
log_deltas = st.floats(-30.0, -0.01)
epsilons = st.floats(0.0, 700.0)


# --- δ(ε) -----------------------------------------------------------------------------------------------------


def exact_delta(epsilon, mu):
    """The formula as it is printed, with so many digits that its cancellation does not matter."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(200):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        left = mpmath.erfc((e / m - m / 2) / mpmath.sqrt(2)) / 2
        return left - mpmath.exp(e) * mpmath.erfc((e / m + m / 2) / mpmath.sqrt(2)) / 2


def test_delta_has_twelve_digits():
    """60 pairs with a = ε/μ - μ/2 up to 12: δ down to 1e-30, μ from 1e-6 to 100, ε up to 700."""
    rng, tried = np.random.default_rng(0), 0
    while tried < 60:
        mu = float(10.0 ** rng.uniform(-6, 2))
        epsilon = mu * (float(rng.uniform(-mu / 2, 12)) + mu / 2)
        if 0.0 <= epsilon <= 700.0 and (exact := exact_delta(epsilon, mu)) > 1e-30:
            assert abs(gaussian_delta(epsilon, mu) / exact - 1) < 1e-12
            tried += 1


def test_delta_at_the_edges():
    assert gaussian_delta(1.0, 0.0) == gaussian_delta(0.0, 0.0) == gaussian_delta(INF, 3.0) == 0.0
    assert gaussian_delta(1.0, INF) == 1.0
    assert gaussian_delta(0.0, 2.0) == pytest.approx(norm.cdf(1) - norm.cdf(-1), rel=1e-14)
    assert gaussian_delta(700.0, 0.1) == 0.0  # e^-24,499,650: no such float


# --- its inverses ---------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(log_mus, log_deltas)
def test_epsilon_is_enough_and_hardly_more(log_mu, log_delta):
    mu, delta = 10.0**log_mu, 10.0**log_delta
    epsilon = gaussian_epsilon(mu, delta)
    assert gaussian_delta(epsilon, mu) <= delta
    if epsilon > 0.0:
        assert gaussian_delta(epsilon * (1 - 1e-9) - 1e-11, mu) > delta
        assert gaussian_mu(epsilon, delta) == pytest.approx(mu, rel=1e-8)


@settings(deadline=None, max_examples=40)
@given(epsilons, log_deltas)
def test_mu_is_safe_and_hardly_less(epsilon, log_delta):
    delta = 10.0**log_delta
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_delta(epsilon, mu) <= delta < gaussian_delta(epsilon, mu * (1 + 1e-9))
    assert gaussian_epsilon(mu, delta) <= epsilon * (1 + 1e-12) + 1e-12


def test_inverses_at_the_edges():
    assert gaussian_epsilon(0.0, 0.0) == gaussian_epsilon(0.0, 0.1) == gaussian_epsilon(5.0, 1.0) == 0.0
    assert gaussian_epsilon(1.0, 0.0) == gaussian_epsilon(1e-9, 0.0) == gaussian_epsilon(INF, 0.5) == INF
    assert gaussian_epsilon(0.1, 0.5) == 0.0  # δ(0) is below it already
    assert gaussian_mu(1.0, 0.0) == gaussian_mu(0.0, 0.0) == 0.0
    assert gaussian_mu(INF, 1e-6) == gaussian_mu(1.0, 1.0) == INF
    assert gaussian_mu(0.0, 0.1) == pytest.approx(2 * norm.ppf(0.55), rel=1e-10)  # total variation
    for delta in (1e-100, 1e-300):
        assert gaussian_delta(1.0, gaussian_mu(1.0, delta)) == pytest.approx(delta, rel=1e-10)


# --- between the measures -------------------------------------------------------------------------------------


def trade_off_pure(epsilon, alpha):
    return np.maximum(0.0, np.maximum(1 - np.exp(epsilon) * alpha, np.exp(-epsilon) * (1 - alpha)))


def trade_off_gaussian(mu, alpha):
    return norm.cdf(norm.isf(alpha) - mu)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.5, 1 - 1e-9, 1.0, 3.0, 10.0, 30.0])
def test_pure_dp_is_gaussian_dp_and_the_corner_is_tight(epsilon):
    """G_μ ≤ f_ε on a grid fine at both ends; equality at α = 1/(1+e^ε); a smaller μ fails there."""
    mu, corner = gdp_of_pure(epsilon), 1 / (1 + math.exp(epsilon))
    alpha = np.concatenate([np.geomspace(1e-20, 0.5, 2000), np.linspace(0, 1, 2001), [corner]])
    assert (trade_off_gaussian(mu, alpha) <= trade_off_pure(epsilon, alpha) + 1e-14).all()
    assert trade_off_gaussian(mu, corner) == pytest.approx(corner, rel=1e-9)
    assert trade_off_gaussian(mu * (1 - 1e-3), corner) > trade_off_pure(epsilon, corner)


def test_gdp_of_pure_at_its_ends():
    assert gdp_of_pure(0.0) == 0.0 and gdp_of_pure(INF) == INF
    assert gdp_of_pure(1e-9) == pytest.approx(1e-9 * math.sqrt(math.pi / 2), rel=1e-12)
    assert gdp_of_pure(1 - 1e-15) == pytest.approx(gdp_of_pure(1.0), rel=1e-13)
    assert norm.logsf(gdp_of_pure(700.0) / 2) == pytest.approx(-700.0, rel=1e-13)


def test_zcdp_formulas():
    assert zcdp_of_gdp(0.5) == 0.125
    assert zcdp_of_pure(1e-9) == pytest.approx(5e-19, rel=1e-14) and zcdp_of_pure(50.0) == 50.0
    assert zcdp_of_gdp(0.0) == zcdp_of_pure(0.0) == 0.0 and zcdp_of_pure(INF) == INF
    assert epsilon_of_zcdp(0.0, 0.0) == epsilon_of_zcdp(3.0, 1.0) == 0.0
    assert epsilon_of_zcdp(1.0, 0.0) == epsilon_of_zcdp(INF, 0.5) == INF


@pytest.mark.parametrize("epsilon", ["1e-6", "0.01", "0.3", "1", "2", "5", "20"])
def test_the_zcdp_of_pure_is_that_of_randomised_response(epsilon):
    """D_α of the ε-DP mechanism with the largest divergences, by its definition in 60 digits: ρα bounds it at
    every α and is reached at α = 1, where 0.999ρ would not do.
    """
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        e = mpmath.mpf(epsilon)
        p, q, rho = 1 / (1 + mpmath.exp(-e)), 1 / (1 + mpmath.exp(e)), zcdp_of_pure(float(epsilon))

        def divergence(alpha):
            return mpmath.log(p**alpha * q ** (1 - alpha) + q**alpha * p ** (1 - alpha)) / (alpha - 1)

        orders = [1 + mpmath.mpf(10) ** k for k in (-12, -6, -3, -1, 0, 1, 2, 3)]
        assert all(divergence(alpha) <= rho * alpha * (1 + 1e-12) for alpha in orders)
        assert divergence(orders[0]) > 0.999 * rho * orders[0]


@settings(deadline=None, max_examples=40)
@given(st.floats(-10.0, 3.0), log_deltas)
def test_epsilon_of_zcdp_lies_between_the_exact_and_the_classic_one(log_rho, log_delta):
    rho, delta = 10.0**log_rho, 10.0**log_delta
    classic = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    epsilon = epsilon_of_zcdp(rho, delta)
    assert gaussian_epsilon(math.sqrt(2 * rho), delta) <= epsilon * (1 + 1e-9) + 1e-12
    assert epsilon <= classic


ONE, TWO = (
    (zcdp_of_gdp, zcdp_of_pure, gdp_of_pure),
    (gaussian_delta, gaussian_epsilon, gaussian_mu, epsilon_of_zcdp),
)


@pytest.mark.parametrize("bad", [-1.0, -1e-300, math.nan])
def test_a_negative_number_has_no_privacy(bad):
    calls = [(measure, (bad,)) for measure in ONE]
    calls += [(measure, numbers) for measure in TWO for numbers in ((bad, 0.1), (1.0, bad))]
    for measure, numbers in calls:
        with pytest.raises(InputError):
            measure(*numbers)


# --- rounding: to the next float, or the next small fraction, and never below what was asked for --------------

LARGEST_FLOAT = Fraction(math.nextafter(math.inf, 0.0))
SMALLEST_FLOAT = Fraction(math.nextafter(0.0, 1.0))


@given(st.fractions())
@example(Fraction(1, 3))
@example(Fraction(2, 3))
@example(Fraction(-1, 3))
@example(Fraction(2**53 + 1))
@example(SMALLEST_FLOAT / 3)
@example(-SMALLEST_FLOAT / 3)
@example(LARGEST_FLOAT - 1)
@example(-LARGEST_FLOAT - 1)
def test_the_smallest_float_that_is_not_below(x):
    rounded = round_up(x)
    assert Fraction(rounded) >= x
    below = math.nextafter(rounded, -math.inf)
    assert math.isinf(below) or Fraction(below) < x


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_itself(x):
    assert round_up(Fraction(x)) == x
    if abs(x) < float(LARGEST_FLOAT):
        assert round_up(Fraction(x) + SMALLEST_FLOAT / 2**60) == math.nextafter(x, math.inf)


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=2**30))
@example(Fraction(2**30))
@example(Fraction(2**30) - Fraction(1, 3))
@example(Fraction(1, 3))
def test_a_small_fraction_that_is_not_below(x):
    most = 2**30
    rounded = round_up_to(x, most)
    assert x <= rounded
    assert rounded.numerator <= most and rounded.denominator <= most
    if x >= 1:
        assert rounded - x < 2 * x / most
    assert round_up_to(rounded, most) == rounded


@given(st.fractions(min_value=Fraction(1, 2**30), max_value=2**30))
@example(Fraction(2**30))
@example(Fraction(1, 2**30))
@example(Fraction(1, 3))
def test_a_small_fraction_that_is_not_above(x):
    rounded = round_down_to(x, 2**30)
    assert 0 < rounded <= x and rounded.numerator <= 2**30 and rounded.denominator <= 2**30
    assert x - rounded < (2 * x / 2**30 if x >= 1 else Fraction(1, 2**30))
    assert round_down_to(rounded, 2**30) == rounded and float(rounded) == rounded


def test_what_does_not_fit_is_refused():
    for wrong in (Fraction(0), Fraction(-1), Fraction(2**30 + 1)):
        for rounding in (round_up_to, round_down_to):
            with pytest.raises(InputError):
                rounding(wrong, 2**30)
