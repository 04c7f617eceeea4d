"""What a run leaves behind, as a person reads it."""

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.planning import uniform_loss
from dpucbvi.stats import mean_interval

RIVER = dp.riverswim(S=3, H=4)


@pytest.fixture(scope="module")
def private():
    return dp.run(RIVER, dp.DPUCBVI(), dp.Central(epsilon=1), K=50, seed=[3, 0, 7])


@pytest.mark.parametrize("engine", ["reference", "fast"])
@pytest.mark.parametrize("agent", [dp.UCBVI(bonus_scale=0.01), dp.PrivateUCBPO()], ids=["actions", "random"])
def test_the_policy_is_that_of_the_last_plan(agent, engine):
    plans = []
    made = dp.run(RIVER, agent, K=30, engine=engine, watch=lambda k, plan, counts: plans.append(plan))
    np.testing.assert_array_equal(made.policy, plans[-1].pi)
    assert made.policy.dtype == plans[-1].pi.dtype
    again = dp.run(RIVER, agent, K=30, engine=engine, seed=[0, 1])
    np.testing.assert_array_equal(again.policy[0], made.policy)
    assert again.policy.shape == (2, *made.policy.shape)


def test_the_summary_of_private_runs(private):
    mean, low, high = mean_interval(private.regret[:, -1])
    first, second, third, fourth, fifth = repr(private).splitlines()
    assert first == "DPUCBVI(), Central(epsilon=1), riverswim-chowdhury_zhou with H=4, S=3, A=2"
    assert second == (
        f"after 50 episodes: 3 runs, mean regret {mean:,.0f} (95%: {low:,.0f} to {high:,.0f}); "
        f"the uniform policy has {50 * uniform_loss(RIVER):,.0f}"
    )
    assert third == str(private.certificate)
    assert fourth == f"LPs checked: {3 * private[0].checks['lp_checked']}"
    assert fifth == "nothing was learnt, no Q left H"


@pytest.mark.parametrize(
    ("epsilon", "shown"),
    [
        (50.0, "50"),
        (np.nextafter(50.0, 51.0), "50"),
        (1 / 3, "0.3334"),
        (4.9964, "4.997"),
        (12_344.0, "12,350"),
    ],
)
def test_an_epsilon_is_rounded_up(epsilon, shown):
    assert f"pure ε = {shown} if a user is added" in str(dp.Certificate("JDP", epsilon, 2 * epsilon))
