"""E_{ε,β}: Chernoff's bound lies above the exact tail of a sum of Laplace variates, and not far above."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom
from theory import exact_tail

from dpucbvi import Problem
from dpucbvi.confidence import laplace_sum_bound, laplace_sum_log_tail
from dpucbvi.privacy.certificate import Scales
from dpucbvi.privatizers.central import Central, order_central
from dpucbvi.privatizers.local import Local, order_local

FIGURE = Problem(H=20, S=6, A=2, K=50_000, beta=0.05)
CHECKED = settings(max_examples=300, deadline=None, derandomize=True, database=None)


def proven_central(problem, G, scale):
    """E of the paper's three families, all with this noise; ε does not matter then."""
    return Central(1.0).proven_E(problem, G, Scales(scale, scale, scale))


def proven_local(problem, G, scale):
    return Local(1.0).proven_E(problem, G, Scales(scale, scale, scale))


def test_the_exact_tail_is_exact():
    y = np.linspace(0, 30, 61)
    one, two = ([exact_tail(x, n) for x in y] for n in (1, 2))
    assert one == pytest.approx(np.exp(-y), rel=1e-12)
    assert two == pytest.approx(np.exp(-y) * (1 + y / 2), rel=1e-12)
    assert [exact_tail(0.0, n) for n in (3, 7, 16, 40)] == pytest.approx([1.0] * 4, rel=1e-12)


@CHECKED
@given(st.floats(1e-6, 200), st.integers(1, 60))
def test_chernoff_dominates_the_exact_tail(y, n):
    assert laplace_sum_log_tail(y, n) >= math.log(exact_tail(y, n)) - 1e-9


@pytest.mark.parametrize("n", [1, 2, 5, 16, 49_999])
@pytest.mark.parametrize("failure", [0.3, 1e-3, 1e-10, 1e-300])
def test_the_bound_fails_with_the_probability_asked_for(n, failure):
    y = laplace_sum_bound(n, failure)
    assert laplace_sum_log_tail(y, n) == pytest.approx(math.log(failure), rel=1e-9)
    if n <= 16:
        assert exact_tail(y, n) <= failure
        # Not a vacuous bound: a quarter of it would not do (for n = 1, failure 0.3 too: e^{-y/4} > .3).
        assert exact_tail(y / 4, n) > failure


def test_one_episode_releases_nothing_and_needs_no_bound():
    one = FIGURE._replace(K=1)
    assert proven_central(one, 20, 1.0) == proven_local(one, 20, 1.0) == 0.0
    two = FIGURE._replace(K=2)  # one release with one noise per counter, in both models
    once = 4 * laplace_sum_bound(1, 0.05 / 3 / 1920)
    assert proven_central(two, 20, 1.0) == proven_local(two, 20, 1.0) == pytest.approx(once, rel=1e-12)


def test_partial_sums_stay_within_the_bound_for_one_endpoint():
    """Doob: Chernoff's bound for the sum of all n covers the largest of the n partial sums.

    4,000 walks of 60 steps at failure 0.2. Were the true rate above 0.2, this test would pass with probability
    below 1e-6 (binomial). Control: a bound at half the distance is broken too often.
    """
    walks = np.abs(np.random.default_rng(5).laplace(size=(4000, 60)).cumsum(axis=1)).max(axis=1)
    bound = laplace_sum_bound(60, 0.2)
    assert binom.cdf((walks > bound).sum(), 4000, 0.2) < 1e-6
    assert binom.sf((walks > bound / 2).sum() - 1, 4000, 0.2) < 1e-6


def test_printed_orders():
    """E = c (H/ε) log(HSAT/β)² and c (H/ε) √(K log(HSAT/β)): HSAT/β = 20·6·2·10^6/.05 = 4.8·10^9."""
    log_term = math.log(4.8e9)
    assert order_central(FIGURE, 1.0, 1.0) == pytest.approx(20 * log_term**2, rel=1e-12)
    assert order_local(FIGURE, 1.0, 1.0) == pytest.approx(20 * math.sqrt(50_000 * log_term), rel=1e-12)
    assert order_central(FIGURE, 4.0, 3.0) == pytest.approx(0.75 * order_central(FIGURE, 1.0, 1.0), rel=1e-12)
    assert order_local(FIGURE, 4.0, 3.0) == pytest.approx(0.75 * order_local(FIGURE, 1.0, 1.0), rel=1e-12)
    assert order_central(Problem(1, 1, 1, 1, 0.5), 1.0, 1.0) == pytest.approx(math.log(2) ** 2)
