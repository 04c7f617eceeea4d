"""MDPs as environments of gymnasium, by its own checker and exact values; and environments as MDPs."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scipy import stats

import dpucbvi as dp

RIVER = dp.riverswim(S=3, H=4)
COINS = dp.riverswim(S=3, H=5, rewards="bernoulli")
RANDOM = dp.random_mdp(S=3, A=2, H=4)  # depends on the step
EPISODES, FALSE_ALARM = 4_000, 1e-6


@pytest.mark.parametrize("with_step", [None, False, True])
@pytest.mark.parametrize(
    "mdp", [RIVER, COINS, RANDOM, dp.riverswim(S=3, H=1)], ids=lambda mdp: f"{mdp.name}{mdp.H}"
)
def test_the_checker_of_gymnasium_has_nothing_to_say(mdp, with_step):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(dp.to_gymnasium(mdp, with_step))


def returns(mdp, pi, with_step, seed, episodes=EPISODES):
    """The sums of rewards of a policy pi[h, s], by the interface of gymnasium alone."""
    env, sums = dp.to_gymnasium(mdp, with_step), np.zeros(episodes)
    for i in range(episodes):
        observation, info = env.reset(seed=seed if i == 0 else None)
        over = False
        while not over:
            h, s = divmod(observation, mdp.S) if with_step else (info["h"], observation)
            observation, reward, over, truncated, info = env.step(pi[h, s])
            sums[i] += reward
        assert info["h"] == mdp.H and not truncated
    return sums


def p_value(sums, value):
    return stats.ttest_1samp(sums, value).pvalue


@pytest.mark.parametrize("with_step", [False, True])
@pytest.mark.parametrize("mdp", [COINS, RANDOM], ids=lambda mdp: mdp.name)
def test_the_mean_return_of_a_policy_is_its_exact_value(mdp, with_step):
    """A t-test, false alarms 1 in a million for each of 4; it must reject the value of the best policy."""
    pi = np.random.default_rng(1).integers(mdp.A, size=(mdp.H, mdp.S))
    exact = mdp.initial @ dp.policy_values(mdp, pi)[0]
    sums = returns(mdp, pi, with_step, seed=5)
    assert p_value(sums, exact) > FALSE_ALARM
    assert p_value(sums, mdp.initial @ dp.optimal_values(mdp)[0][0]) < FALSE_ALARM


def test_bad_use_is_one_line():
    with pytest.raises(dp.InputError, match=r"^mdp: ndarray is not accepted; it must be a TabularMDP$"):
        dp.to_gymnasium(RIVER.P)
    with pytest.raises(dp.InputError, match=r"^with_step: 'no' is not accepted; it must be True or False$"):
        dp.to_gymnasium(RIVER, with_step="no")
    env = dp.to_gymnasium(RIVER)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"^the episode is over: call reset\(\)$"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(dp.InputError, match=r"^action: 2 is not accepted; it must be an integer from 0 to 1$"):
        env.step(2)


# --- and back -------------------------------------------------------------------------------------------------


class Table(gymnasium.Env):
    """Made of a table; the mean reward of a policy is worked out here without the package."""

    def __init__(self, P, initial):
        self.P, self.initial_state_distrib = P, initial


def test_frozen_lake_is_its_table():
    env = gymnasium.make("FrozenLake-v1")
    mdp = dp.from_gymnasium("FrozenLake-v1", H=30)
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
    mdp = dp.from_gymnasium("CliffWalking-v1", H=20)
    start = int(mdp.initial.argmax())
    assert mdp.reward_range == (-100.0, 0.0)
    assert dp.optimal_values(mdp)[0][0, start] == pytest.approx(20 - 13 / 100)


def ended(H, P, initial):
    return dp.from_gymnasium(Table(P, initial), H)


def test_a_state_that_ends_some_episodes_and_not_others_gets_a_copy():
    """From 0, action 0 enters 1 and goes on, action 1 enters 1 and ends; 1 pays 2 a step."""
    stay = [(1.0, 1, 2.0, False)]
    P = {0: {0: [(1.0, 1, 0.0, False)], 1: [(1.0, 1, -2.0, True)]}, 1: {0: stay, 1: stay}}
    mdp = ended(3, P, np.array([1.0, 0.0]))
    assert mdp.S == 3 and mdp.reward_range == (-2.0, 2.0)
    Q = dp.optimal_values(mdp)[1][0, 0]
    np.testing.assert_allclose(Q, [(2 + 4 + 4) / 4, (0 + 2 + 2) / 4])


def test_a_state_in_which_all_episodes_end_is_absorbing_whatever_its_row_says():
    P = {0: {0: [(0.5, 0, 0.0, False), (0.5, 1, 1.0, True)]}, 1: {0: [(1.0, 0, 1.0, False)]}}
    mdp = ended(2, P, np.array([1.0, 0.0]))
    assert mdp.S == 2 and mdp.P[0, 1, 0].tolist() == [0.0, 1.0] and mdp.r[0].tolist() == [[0.5], [0.0]]
    assert dp.optimal_values(mdp)[0][0, 0] == 0.75


def test_an_environment_that_pays_nothing_is_refused():
    with pytest.raises(dp.InputError, match=r"^id: Table pays nothing"):
        ended(5, {0: {0: [(1.0, 0, 0.0, False)]}}, np.ones(1))
