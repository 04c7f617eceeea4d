"""Matching on curves whose answer is known."""

import numpy as np
import pytest

from experiments.studies.epsilon import crossing, match

X = np.array([1.0, 10.0, 100.0, 1000.0])


def test_a_power_law_is_interpolated_exactly():
    for power in (-0.7, 1.3):
        assert crossing(X, 5.0 * X**power, 5.0 * 42.0**power) == pytest.approx(42.0)


def test_the_least_of_several_crossings():
    assert crossing(X, np.array([100.0, 1.0, 100.0, 1.0]), 10.0) == pytest.approx(10**0.5)


@pytest.mark.parametrize("wanted", [0.5e-3, 2.0])
def test_outside_the_range_there_is_no_answer(wanted):
    assert crossing(X, 1.0 / X, wanted) is None
    assert match(X, np.tile(1.0 / X[:, None], 5), wanted) is None


def test_the_error_of_reading_a_figure_is_in_the_interval():
    found = match(X, np.tile(1.0 / X[:, None], 5), 0.02, error=0.005)
    assert (found.low, found.high) == pytest.approx((1 / 0.02475, 1 / 0.01525), rel=0.01)


def test_so_is_the_error_of_interpolating():
    """Between 10 and 100 the curve bends: without one of these points the answer is another."""
    bent = np.tile(np.array([1000.0, 900.0, 20.0, 1.0])[:, None], 5)
    found = match(X, bent, 100.0)
    others = [crossing(np.delete(X, i), np.delete(bent[:, 0], i), 100.0) for i in (1, 2)]
    assert (found.low, found.high) == pytest.approx((min(*others, found.x), max(*others, found.x)))


def test_seeds_are_resampled_together():
    """A seed that is twice as bad at every x moves the whole curve, and never bends it."""
    regret = 1.0 / X[:, None] * np.array([[1.0, 1.0, 1.0, 1.0, 2.0]])
    found = match(X, regret, 0.02)
    assert found.x == pytest.approx(60.0) and (found.low, found.high) == pytest.approx((50.0, 80.0), rel=0.15)


def noisy(rng: np.random.Generator, runs: int) -> np.ndarray:
    return 1e4 / X[:, None] * (1.0 + 0.2 * rng.standard_normal((len(X), runs)))


@pytest.mark.slow  # 200 bootstraps: 10 s
def test_the_interval_covers():
    """With 20 runs the bootstrap is close to its level: P(fewer than 170 of 200 | 0.93) < 1e-4."""
    rng = np.random.default_rng(0)
    covered = 0
    for seed in range(200):
        found = match(X, noisy(rng, 20), 200.0, seed=seed)
        covered += found.low <= 50.0 <= found.high
    assert covered >= 170


def test_an_interval_at_the_edge_of_the_range_is_not_told():
    regret = np.tile(1.0 / X[:, None], 5)
    regret[-1] *= [0.1, 0.1, 0.1, 2.0, 2.7]  # mean 1, often too much when resampled
    found = match(X, regret, 1.001e-3)
    assert found.x == pytest.approx(1000.0, rel=0.01) and np.isnan(found.low) and np.isnan(found.high)
