"""The least K at which the literal bonus is below a level: against brute force, and its orders in ε."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpucbvi.bonus import bernstein_terms, next_value_gap
from dpucbvi.config import AgentConfig, BonusConfig, ConfidenceConfig, EnvConfig, PrivatizerConfig, RunConfig
from dpucbvi.episodes_needed import episodes_needed, least_bonus
from dpucbvi.factory import set_up

SMALL = EnvConfig("riverswim", S=2, H=2)


def config(model="central", epsilon=1.0, pooled=False) -> RunConfig:
    return RunConfig(
        env=SMALL, agent=AgentConfig("dp_ucbvi", pooled), privatizer=PrivatizerConfig(model, epsilon)
    )


def bonus_at(c: RunConfig, K: int) -> float:
    return least_bonus(set_up(replace(c, K=K)))


def test_worked_without_privacy():
    # E = 0 and the minimum at H²: b = (√2 + 4H) √(ι/K).
    setup = set_up(replace(config("non_private"), K=1000))
    iota = math.log(30 * 2 * 2 * 2 * 2000 / 0.05)
    assert least_bonus(setup) == pytest.approx((math.sqrt(2) + 8) * math.sqrt(iota / 1000))


@pytest.mark.parametrize("pooled", [False, True])
def test_it_is_line_7_at_the_most_visits(pooled):
    setup = set_up(replace(config(pooled=pooled), K=10**6))
    visits = 2 * 10**6 if pooled else 10**6
    gap = np.full(2, next_value_gap(visits + 2 * setup.E, setup.constants))
    terms = bernstein_terms(visits + setup.E, np.full(2, 0.5), np.ones(2), gap, setup.constants)
    assert terms.variance == 0.0
    assert least_bonus(setup) == pytest.approx(sum(terms))


SCALED = replace(config(epsilon=500.0), bonus=BonusConfig(0.01), confidence=ConfidenceConfig(scale=0.5))
BRUTE = {
    "not private": (config("non_private"), 2.0),
    "JDP": (SCALED, 0.5),
    "LDP": (replace(SCALED, privatizer=PrivatizerConfig("local", 500.0)), 0.05),
}


@pytest.mark.parametrize("case", BRUTE)
def test_brute_force_finds_the_same(case):
    c, level = BRUTE[case]
    found = episodes_needed(c, level)
    assert 32 < found < 3000
    assert found == next(K for K in range(2, 3001) if bonus_at(c, K) < level)


@pytest.mark.parametrize("model", ["central", "local"])
def test_the_result_is_the_first_of_its_levels(model):
    for epsilon in (1.0, 10.0, 100.0):
        c = config(model, epsilon)
        K = episodes_needed(c, 2.0)
        assert bonus_at(c, K) < 2.0 <= bonus_at(c, K - 1)


def test_privacy_costs_one_over_epsilon_centrally_and_its_square_locally():
    """E ∝ 1/ε and b ≈ 20HSEι/K: K ∝ 1/ε; locally E ∝ √K/ε as well, so K ∝ 1/ε². Logarithms add to both."""
    for model, power in (("central", 1), ("local", 2)):
        ratio = episodes_needed(config(model, 1.0), 2.0) / episodes_needed(config(model, 10.0), 2.0)
        assert 10**power < ratio < 2 * 10**power


def test_pooled_counts_need_fewer_and_privacy_more():
    free, central, local = (episodes_needed(config(m, 10.0), 2.0) for m in ("non_private", "central", "local"))
    assert free < episodes_needed(config(epsilon=10.0, pooled=True), 2.0) < central < local


def test_none_if_it_would_take_forever():
    assert episodes_needed(config("local", 1e-9), 0.1) is None
