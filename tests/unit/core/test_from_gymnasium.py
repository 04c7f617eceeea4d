"""Environments of gymnasium: their tables, what ends an episode, and how rewards are mapped."""

import gymnasium
import numpy as np
import pytest

from dpucbvi import InputError, from_gymnasium, optimal_values


class Table(gymnasium.Env):
    """Made of a table; the mean reward of a policy is worked out here without the package."""

    def __init__(self, P, initial):
        self.P, self.initial_state_distrib = P, initial


def test_frozen_lake_is_its_table():
    env = gymnasium.make("FrozenLake-v1")
    mdp = from_gymnasium("FrozenLake-v1", H=30)
    assert (mdp.H, mdp.S, mdp.A, mdp.name, mdp.reward_range) == (30, 16, 4, "FrozenLake-v1", (0.0, 1.0))
    for s, rows in env.unwrapped.P.items():
        for a, row in rows.items():
            p = np.zeros(16)
            for probability, s_next, _, _ in row:
                p[s_next] += probability
            np.testing.assert_allclose(mdp.P[0, s, a], p)
    assert mdp.r[0, 14].max() == pytest.approx(1 / 3) and mdp.r[0].sum() == pytest.approx(1.0)
    assert mdp.stationary and mdp.initial[0] == 1


def test_cliff_walking_keeps_the_order_of_policies():
    """13 steps of -1 to the goal: V* = Σ (reward + 100)/100, and an absorbing step pays the mapped 0."""
    mdp = from_gymnasium("CliffWalking-v1", H=20)
    start = int(mdp.initial.argmax())
    assert mdp.reward_range == (-100.0, 0.0)
    assert optimal_values(mdp)[0][0, start] == pytest.approx(20 - 13 / 100)


def ended(H, P, initial):
    return from_gymnasium(Table(P, initial), H)


def test_a_state_that_ends_some_episodes_and_not_others_gets_a_copy():
    """From 0, action 0 enters 1 and goes on, action 1 enters 1 and ends; 1 pays 2 a step."""
    stay = [(1.0, 1, 2.0, False)]
    P = {0: {0: [(1.0, 1, 0.0, False)], 1: [(1.0, 1, -2.0, True)]}, 1: {0: stay, 1: stay}}
    mdp = ended(3, P, np.array([1.0, 0.0]))
    assert mdp.S == 3 and mdp.reward_range == (-2.0, 2.0)
    Q = optimal_values(mdp)[1][0, 0]
    np.testing.assert_allclose(Q, [(2 + 4 + 4) / 4, (0 + 2 + 2) / 4])


def test_a_state_in_which_all_episodes_end_is_absorbing_whatever_its_row_says():
    P = {0: {0: [(0.5, 0, 0.0, False), (0.5, 1, 1.0, True)]}, 1: {0: [(1.0, 0, 1.0, False)]}}
    mdp = ended(2, P, np.array([1.0, 0.0]))
    assert mdp.S == 2 and mdp.P[0, 1, 0].tolist() == [0.0, 1.0] and mdp.r[0].tolist() == [[0.5], [0.0]]
    assert optimal_values(mdp)[0][0, 0] == 0.75


def test_an_environment_that_pays_nothing_is_refused():
    with pytest.raises(InputError, match=r"^id: Table pays nothing"):
        ended(5, {0: {0: [(1.0, 0, 0.0, False)]}}, np.ones(1))
