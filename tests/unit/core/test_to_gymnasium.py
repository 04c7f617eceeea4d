"""MDPs as environments of gymnasium: its own checker, and exact values."""

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
