"""Exponents of power laws: exact on exact ones, honest about runs."""

import numpy as np
import pytest

from experiments.lab.fits import as_text, exponent, exponents, tail
from experiments.lab.stats import summarise

X = np.geomspace(10, 1e5, 30)


@pytest.mark.parametrize("power", [-1.0, 0.0, 0.5, 2.0])
def test_an_exact_power_law_gives_its_exponent(power):
    y = np.array([c * X**power for c in (0.1, 3.0, 1e6)])
    np.testing.assert_allclose(exponents(X, y), power, atol=1e-12)
    fit = exponent(X, y)
    assert fit.mean == pytest.approx(power, abs=1e-12) and fit.half_width < 1e-10


def test_it_is_the_least_squares_slope():
    y = np.exp(np.random.default_rng(0).normal(size=(4, 30)))
    slopes = [np.polyfit(np.log(X), np.log(row), 1)[0] for row in y]
    np.testing.assert_allclose(exponents(X, y), slopes, rtol=1e-10)


def test_the_interval_is_over_runs():
    powers = np.array([0.4, 0.5, 0.7])
    fit, wanted = exponent(X, X ** powers[:, None]), summarise(powers)
    assert fit.mean == pytest.approx(wanted.mean) and fit.half_width == pytest.approx(wanted.half_width)


def test_the_interval_covers():
    """500 repetitions of 5 runs whose exponents vary: at 95% a count below 455 has probability < 1e-4."""
    rng = np.random.default_rng(1)
    fits = [exponent(X, X ** rng.normal(0.5, 0.1, size=(5, 1))) for _ in range(500)]
    assert sum(abs(fit.mean - 0.5) <= fit.half_width for fit in fits) >= 455


def test_no_exponent_without_two_positive_points():
    assert np.isnan(exponents(X[:1], X[None, :1])).all()
    np.testing.assert_array_equal(np.isnan(exponents(X, np.array([X, X - X[3]]))), [False, True])


def test_the_tail_is_the_last_factor():
    K = np.array([1e3, 1e4, 1e5])
    x, y = tail(K, np.array([[1.0, 2.0, 3.0]]), 10.0)
    np.testing.assert_array_equal(x, [1e4, 1e5])
    np.testing.assert_array_equal(y, [[2.0, 3.0]])


def test_a_local_exponent_sees_a_curve_bend():
    flattening = (X / (1.0 + X / 100.0))[None]
    assert exponents(X, flattening)[0] > 0.1 > 0.01 > exponents(*tail(X, flattening, 4.0))[0] > 0


def test_what_is_written():
    assert as_text(summarise(np.array([0.5, 0.5])), "slope") == "slope 0.50 ± 0.00"
    assert as_text(summarise(np.array([0.5])), "slope") == "slope 0.50"
    assert as_text(summarise(np.array([np.nan, 0.5])), "slope") == "slope –"
