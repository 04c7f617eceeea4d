"""The interval over runs: the textbook formula, its coverage, and a single run."""

import numpy as np
import pytest
from scipy import stats

from dpucbvi.lab.stats import summarise


def test_worked_by_hand():
    # x = 1, 2, 3: mean 2, s = 1, t_{0.975, 2} = 4.302653, half width 4.302653/√3.
    summary = summarise(np.array([1.0, 2.0, 3.0]))
    assert summary.mean == 2.0
    assert summary.half_width == pytest.approx(4.302653 / np.sqrt(3), rel=1e-6)


@pytest.mark.parametrize("n", [2, 5, 30])
def test_agrees_with_scipy_on_a_grid(n):
    values = np.random.default_rng(n).gamma(2.0, 100.0, size=(n, 7))
    mean, half_width = summarise(values)
    low, high = stats.t.interval(0.95, n - 1, values.mean(axis=0), stats.sem(values, axis=0))
    np.testing.assert_allclose(mean - half_width, low, rtol=1e-12)
    np.testing.assert_allclose(mean + half_width, high, rtol=1e-12)


def covered(quantile_of_normal: bool) -> float:
    """How often the interval of 5 normal runs holds the true mean, over 40,000 repetitions."""
    values = np.random.default_rng(0).normal(size=(5, 40_000))
    mean, half_width = summarise(values)
    if quantile_of_normal:
        half_width = half_width * stats.norm.ppf(0.975) / stats.t.ppf(0.975, 4)
    return float(np.mean(np.abs(mean) <= half_width))


def test_coverage():
    # Standard deviation 0.0011: a right interval fails with probability below 1e-5.
    assert covered(quantile_of_normal=False) == pytest.approx(0.95, abs=0.005)


def test_a_normal_quantile_would_cover_too_little():
    assert covered(quantile_of_normal=True) < 0.90


def test_one_run_has_no_interval():
    mean, half_width = summarise(np.array([[1.0, 2.0]]))
    np.testing.assert_array_equal(mean, [1.0, 2.0])
    assert np.isnan(half_width).all()
