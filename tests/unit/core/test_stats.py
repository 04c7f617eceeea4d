"""Intervals over runs and comparisons of arms: against worked numbers, scipy, and their error rates."""

import numpy as np
import pytest
from scipy import stats

from dpucbvi.stats import (
    bootstrap,
    exponents,
    holm,
    paired,
    permutation_p,
    probability_of_improvement,
    summarise,
)


@pytest.mark.parametrize("n", [2, 5, 30])
def test_agrees_with_scipy_on_a_grid(n):
    values = np.random.default_rng(n).gamma(2.0, 100.0, size=(n, 7))
    mean, half_width = summarise(values)
    low, high = stats.t.interval(0.95, n - 1, values.mean(axis=0), stats.sem(values, axis=0))
    np.testing.assert_allclose(mean - half_width, low, rtol=1e-12)
    np.testing.assert_allclose(mean + half_width, high, rtol=1e-12)


def test_one_run_has_no_interval():
    one = np.array([[1.0, 2.0]])
    for mean, *ends in (summarise(one), bootstrap(one)):
        np.testing.assert_array_equal(mean, [1.0, 2.0])
        assert np.isnan(ends).all()


# --- the bootstrap ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 50])
def test_bootstrap_agrees_with_scipy(n):
    """2000 resamples put the far end, at the 99% quantile or so, off by 0.1 standard errors (one sd)."""
    values = np.random.default_rng(n).lognormal(0.0, 1.2, size=(n, 4))
    mean, low, high = bootstrap(values)
    wanted = stats.bootstrap(
        (values,), np.mean, axis=0, n_resamples=40_000, batch=5000, method="BCa", rng=1
    ).confidence_interval
    error = values.std(axis=0) / np.sqrt(n)
    np.testing.assert_allclose(mean, values.mean(axis=0), rtol=1e-12)
    assert np.abs((low - wanted.low) / error).max() < 0.2
    assert np.abs((high - wanted.high) / error).max() < 0.4


def test_bootstrap_of_a_ratio_agrees_with_scipy():
    a, b = np.random.default_rng(3).lognormal(0.0, 1.0, size=(2, 20))
    found = bootstrap(np.column_stack([a, b]), of=lambda means: means[..., :1] / means[..., 1:])

    def ratio(x, y, axis):
        return x.mean(axis) / y.mean(axis)

    wanted = stats.bootstrap((a, b), ratio, paired=True, n_resamples=20_000, method="BCa", rng=1)
    assert found.mean == pytest.approx(a.mean() / b.mean(), rel=1e-12)
    ends = wanted.confidence_interval
    assert (found.low[0], found.high[0]) == pytest.approx(
        (ends.low, ends.high), abs=0.2 * wanted.standard_error
    )


def test_runs_that_agree_have_an_interval_of_no_width():
    np.testing.assert_array_equal(bootstrap(np.full((3, 1), 7.0)), np.full((3, 1), 7.0))


def test_bootstrap_resamples_runs_whole():
    """The mirror image beside x has the mirrored interval: in every resample both have the same runs."""
    x = np.random.default_rng(1).gamma(2.0, size=9)
    mean, low, high = bootstrap(np.column_stack([x, -x, 3.0 * x + 1.0]))
    assert (mean[1], low[1], high[1]) == pytest.approx((-mean[0], -high[0], -low[0]), rel=1e-12)
    assert (low[2], high[2]) == pytest.approx((3.0 * low[0] + 1.0, 3.0 * high[0] + 1.0), rel=1e-12)
    alone = bootstrap(x[:, None])
    assert (alone.low[0], alone.high[0]) == pytest.approx((low[0], high[0]), rel=1e-12)


# --- robust statistics and comparisons ----------------------------------------------------------------------


def test_probability_of_improvement():
    assert probability_of_improvement([1, 2], [3, 4]) == 1.0  # all runs of a have less regret
    assert probability_of_improvement([3, 4], [1, 2]) == 0.0
    assert probability_of_improvement([1, 2], [2, 3]) == 3.5 / 4  # a tie counts half
    a, b = np.random.default_rng(0).normal(size=(2, 9))
    u = stats.mannwhitneyu(b, a).statistic
    assert probability_of_improvement(a, b) == pytest.approx(u / 81)


def difference(x, y, axis):
    return np.mean(x - y, axis=axis)


@pytest.mark.parametrize("n", [5, 11, 14])
def test_permutation_p_is_exact_for_few_pairs(n):
    a, b = np.random.default_rng(n).gamma(2.0, size=(2, n))
    wanted = stats.permutation_test((a, b), difference, permutation_type="samples", n_resamples=2**n)
    assert permutation_p(a, b) == pytest.approx(wanted.pvalue, abs=1e-12)


def test_the_least_p_is_two_in_all_sign_flips():
    assert permutation_p(np.arange(5.0), np.arange(5.0) + 1) == 2 / 32  # so five runs never reach 0.05
    assert permutation_p([1.0, 2.0], [1.0, 2.0]) == 1.0


def test_permutation_p_of_many_pairs_is_sampled():
    a, b = np.random.default_rng(4).normal(size=(2, 20))
    b += 0.4
    assert 0.0 < permutation_p(a, b) < 1.0
    wanted = stats.permutation_test((a, b), difference, permutation_type="samples", rng=1)
    assert permutation_p(a, b) == pytest.approx(wanted.pvalue, abs=0.02)  # 4 standard deviations


def test_holm_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])
    np.testing.assert_allclose(holm([0.9, 0.6]), [1.0, 1.0])


def test_paired_differences_hide_what_the_seeds_share():
    """Seeds that move both arms alike widen neither the interval nor p."""
    shared, small = np.random.default_rng(5).normal(size=(2, 8))
    a = 1000.0 * shared
    found = paired(a, a + 1.0 + 0.1 * small)
    assert found.low < found.difference < found.high < -0.8
    assert found.p == 2 / 2**8
    assert 0.4 < found.improvement < 0.6  # which pairs the runs at random


# --- exponents of power laws: exact on exact ones, honest about runs ------------------------------------------

X = np.geomspace(10, 1e5, 30)


def test_it_is_the_least_squares_slope():
    y = np.exp(np.random.default_rng(0).normal(size=(4, 30)))
    slopes = [np.polyfit(np.log(X), np.log(row), 1)[0] for row in y]
    np.testing.assert_allclose(exponents(X, y), slopes, rtol=1e-10)
