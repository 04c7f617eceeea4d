"""V* and V^π against enumeration of policies and paths; what describe says, against hand-worked MDPs."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dpucbvi import (
    TabularMDP,
    describe,
    flipping_river,
    garnet,
    optimal_values,
    policy_values,
    riverswim,
    six_arms,
)
from dpucbvi.environments import stationary_mdp

CHECKED = settings(max_examples=60, deadline=None, derandomize=True, database=None)


@st.composite
def small_mdps(draw):
    """At most 2^9 policies; rows of P may be near corners of the simplex, rewards may tie."""
    H, S, A = draw(
        st.sampled_from([(1, 1, 1), (1, 3, 3), (2, 2, 2), (2, 3, 2), (3, 2, 2), (3, 3, 2), (2, 1, 3)])
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    concentration = draw(st.sampled_from([0.05, 1.0]))
    P = rng.dirichlet(np.full(S, concentration), size=(H, S, A))
    r = np.round(rng.random((H, S, A)), draw(st.sampled_from([0, 1, 6])))
    return TabularMDP(P, r, np.full(S, 1 / S))


def path_value(mdp, pi, s, h=0):
    """V^π_h(s) by walking the whole tree: the mean over every path of its summed reward."""
    if h == mdp.H:
        return 0.0
    value = 0.0
    for a in range(mdp.A):
        if pi[h, s, a] > 0:
            later = sum(p * path_value(mdp, pi, s_next, h + 1) for s_next, p in enumerate(mdp.P[h, s, a]))
            value += pi[h, s, a] * (mdp.r[h, s, a] + later)
    return value


def all_policies(mdp):
    for actions in product(range(mdp.A), repeat=mdp.H * mdp.S):
        yield np.array(actions).reshape(mdp.H, mdp.S)


@CHECKED
@given(small_mdps(), st.integers(0, 2**32 - 1))
def test_policy_values_are_the_mean_over_every_path(mdp, seed):
    pi = np.random.default_rng(seed).dirichlet(np.ones(mdp.A), size=(mdp.H, mdp.S))
    V = policy_values(mdp, pi)
    assert V.shape == (mdp.H + 1, mdp.S) and not V[mdp.H].any()
    for h, s in product(range(mdp.H), range(mdp.S)):
        assert abs(V[h, s] - path_value(mdp, pi, s, h)) < 1e-12


@CHECKED
@given(small_mdps())
def test_optimal_values_are_the_best_of_all_policies(mdp):
    V_star, Q_star = optimal_values(mdp)
    best = np.max([policy_values(mdp, pi) for pi in all_policies(mdp)], axis=0)
    assert np.abs(V_star - best).max() < 1e-12
    assert np.array_equal(V_star[: mdp.H], Q_star.max(axis=-1))
    greedy = policy_values(mdp, Q_star.argmax(axis=-1))
    assert np.abs(V_star - greedy).max() < 1e-12


# --- describe -------------------------------------------------------------------------------------------------


def two_states() -> TabularMDP:
    """s=0: action 0 stays and pays 0.5, action 1 goes to s=1 with probability 1/4; s=1 pays 1, or goes back."""
    P = np.array([[[1, 0], [0.75, 0.25]], [[0, 1], [1, 0]]])
    return stationary_mdp(
        P, np.array([[0.5, 0.0], [1.0, 0.0]]), np.array([1.0, 0.0]), 2, "deterministic", "two"
    )


def test_worked_by_hand():
    """V*_2 = (0.5, 1), Q*_1(0,·) = (1, 0.5 + 0.125), s=1 is not reached at the first step."""
    told = describe(two_states())
    assert (told.optimal, told.span, told.diameter, told.next_states) == (1.0, 0.5, pytest.approx(4.0), 2)
    # Gaps: step 1, s=0: 0.375; step 2, s=0: 0.5; step 2, s=1: 1.
    assert told.smallest_gap == 0.375
    assert told.sum_of_reciprocal_gaps == pytest.approx(1 / 0.375 + 1 / 0.5 + 1 / 1)
    # uniform: 0.25 now; then in s=1 with probability 1/8, worth 0.5, else 0.25
    assert told.uniform == pytest.approx(0.25 + 0.125 * 0.5 + 0.875 * 0.25)


def test_diameters():
    assert describe(six_arms()).diameter == pytest.approx(101.0)  # the rarest arm, by way of s=0
    assert describe(garnet(S=6, branching=1)).diameter == math.inf
    # RiverSwim from end to end: expected times of a step up, e_0 = 1/0.6 and e_s = (1 + 0.05 e_{s-1})/0.35
    total = step = 1 / 0.6
    for _ in range(4):
        step = (1 + 0.05 * step) / 0.35
        total += step
    assert describe(riverswim()).diameter == pytest.approx(total)


def test_how_far_from_stationary():
    """Two steps by hand: P(·|0,0) moves a quarter of its mass, r(0,0) by 0.3; the mean misleads."""
    P = np.zeros((2, 2, 2, 2))
    P[:, 1, :, 1] = 1.0
    P[:, 0, 1, 0] = 1.0
    P[0, 0, 0], P[1, 0, 0] = [0.5, 0.5], [0.75, 0.25]
    r = np.array([[[0.9, 0.7], [0, 0]], [[0.6, 0.7], [0, 0]]])
    told = describe(TabularMDP(P, r, np.array([1.0, 0.0])))
    assert told.change == (pytest.approx(0.25), pytest.approx(0.3))
    # best: 0.7 + 0.7; mean r(0,0) = 0.75 > 0.7 at the last step; before it 0.75 + 0.625 · 0.75 < 0.7 + 0.75
    assert (told.optimal, told.blurred) == (pytest.approx(1.4), pytest.approx(0.7 + 0.6))
    assert "yes: P by up to 0.25 in total variation, r by up to 0.3" in str(told)
    assert describe(riverswim()).change == (0.0, 0.0)
    assert describe(riverswim()).blurred == describe(riverswim()).optimal
    assert describe(flipping_river()).change == (pytest.approx(0.95), 1.0)  # left: down; right: 0.05 down
