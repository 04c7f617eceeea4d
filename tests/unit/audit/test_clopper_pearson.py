"""The inequalities behind an audit, against scipy's intervals and against mechanisms whose ε is known."""

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

from dpucbvi.audit.attack import ALPHA, at_least, at_most, epsilon_bound, mu_bound


@pytest.mark.parametrize("alpha", [0.05, 1e-3, 1e-9])
@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (1, 10), (10, 10), (37, 100), (999, 100_000)])
def test_clopper_and_pearson_are_scipys(hits, trials, alpha):
    low = binomtest(hits, trials, alternative="greater").proportion_ci(1 - alpha, "exact").low
    high = binomtest(hits, trials, alternative="less").proportion_ci(1 - alpha, "exact").high
    assert float(at_least(hits, trials, alpha)) == pytest.approx(low, rel=1e-6)
    assert float(at_most(hits, trials, alpha)) == pytest.approx(high, rel=1e-6)


def test_they_are_wrong_as_seldom_as_they_say():
    """Exactly, by summing over all outcomes: no sampling."""
    n, alpha, k = 60, 0.03, np.arange(61)
    for p in (0.01, 0.2, 0.5, 0.93):
        weight = binom.pmf(k, n, p)
        assert weight[at_least(k, n, alpha) > p].sum() <= alpha
        assert weight[at_most(k, n, alpha) < p].sum() <= alpha


def test_randomised_response_is_recovered_and_never_exceeded():
    """Truth with e^ε/(1 + e^ε): the bound from expected counts tends to ε from below; δ is taken off."""
    epsilon, n = 1.0, 10**8
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    hits, false = np.array(round(n * p)), np.array(round(n * (1 - p)))
    assert 0.99 < float(epsilon_bound(hits, false, n, 0.0)) < 1.0
    with_delta = float(epsilon_bound(hits, false, n, 0.1))
    assert with_delta == pytest.approx(math.log((p - 0.1) / (1 - p)), abs=0.01)
    assert float(epsilon_bound(false, hits, n, 0.0)) == 0.0


def test_mu_of_two_normals():
    n, mu = 10**8, 0.3
    hits, false = (np.array(round(n * norm.sf(0.7 - shift))) for shift in (mu, 0.0))
    assert mu - 0.01 < float(mu_bound(hits, false, n)) < mu
    assert float(mu_bound(false, hits, n)) == 0.0


def test_no_trials_prove_nothing():
    assert float(epsilon_bound(np.array(0), np.array(0), 100, 0.0)) == 0.0
    assert ALPHA <= 1e-8
