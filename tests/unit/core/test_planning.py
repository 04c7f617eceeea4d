"""V* and V^π against enumeration: every policy, every path."""

from itertools import product

import numpy as np
from hypothesis import given, settings, strategies as st

from dpucbvi import TabularMDP, optimal_values, policy_values

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
