"""The least K at which the literal bonus is below a level: against brute force, and its orders in ε."""

import numpy as np
import pytest
from made_up import stored_arm, stored_experiment

from dpucbvi.bonus import bernstein_terms, next_value_gap
from dpucbvi.protocol import Setup
from experiments.lab.assemble import assemble
from experiments.lab.settings import run_settings
from experiments.studies.literal import (
    check_literal,
    episodes_needed,
    least_bonus,
    literal_setup,
    with_episodes,
)

SMALL = {"env": {"name": "riverswim", "S": 2, "H": 2}, "beta": 0.05}


def literal(model="central", epsilon=1.0, pooled=False) -> Setup:
    return literal_setup(SMALL, pooled, model, epsilon)


def with_factors(model: str) -> Setup:
    factors = {"bonus": {"scale": 0.01}, "confidence": {"scale": 0.5}}
    return assemble(run_settings({**SMALL, **factors, "privatizer": {"name": model, "epsilon": 500.0}}))


def bonus_at(setup: Setup, K: int) -> float:
    return least_bonus(with_episodes(setup, K))


@pytest.mark.parametrize("pooled", [False, True])
def test_it_is_line_7_at_the_most_visits(pooled):
    setup = with_episodes(literal(pooled=pooled), 10**6)
    visits = 2 * 10**6 if pooled else 10**6
    gap = np.full(2, next_value_gap(visits + 2 * setup.noise.E, setup.constants))
    terms = bernstein_terms(visits + setup.noise.E, np.full(2, 0.5), np.ones(2), gap, setup.constants)
    assert terms.variance == 0.0
    assert least_bonus(setup) == pytest.approx(sum(terms))


BRUTE = {
    "not private": (literal("non_private"), 2.0),
    "JDP": (with_factors("central"), 0.5),
    "LDP": (with_factors("local"), 0.05),
}


@pytest.mark.parametrize("case", BRUTE)
def test_brute_force_finds_the_same(case):
    c, level = BRUTE[case]
    found = episodes_needed(c, level)
    assert 32 < found < 3000
    assert found == next(K for K in range(2, 3001) if bonus_at(c, K) < level)


def test_privacy_costs_one_over_epsilon_centrally_and_its_square_locally():
    """E ∝ 1/ε and b ≈ 20HSEι/K: K ∝ 1/ε; locally E ∝ √K/ε as well, so K ∝ 1/ε². Logarithms add to both."""
    for model, power in (("central", 1), ("local", 2)):
        ratio = episodes_needed(literal(model, 1.0), 2.0) / episodes_needed(literal(model, 10.0), 2.0)
        assert 10**power < ratio < 2 * 10**power


def test_none_if_it_would_take_forever():
    assert episodes_needed(literal("local", 1e-9), 0.1) is None


def test_an_arm_with_a_factor_is_not_literal():
    check_literal(stored_experiment("literal", [stored_arm("a", 1.0)]))
    for factor in ({"bonus": 0.5}, {"confidence": 0.5}):
        with pytest.raises(AssertionError, match="a factor is not 1"):
            check_literal(stored_experiment("literal", [stored_arm("a", 1.0, **factor)]))


def test_a_stored_environment_may_have_a_checksum():
    signed = {**SMALL, "env": {**SMALL["env"], "sha256": "0" * 64}}
    assert literal_setup(signed, False, "central", 1.0).constants == literal().constants
