"""What a run leaves behind, as a person reads it; and a sample of its LPs, solved again by cvxpy."""

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.engine.lp_check import LpSample
from dpucbvi.errors import LpError
from dpucbvi.planning import uniform_loss
from dpucbvi.projection import CvxpyPostprocess
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


# --- the sample of LPs ----------------------------------------------------------------------------------------


def checks(agent, privatizer, lp_checks, K=60):
    return dp.run(dp.riverswim(4, 6), agent, privatizer, K=K, lp_checks=lp_checks, engine="fast").checks


def test_lp_checks_are_recorded():
    found = checks(dp.DPUCBVI(0.003), dp.Central(200.0, confidence_scale=0.05), 20)
    assert found["lp_checked"] == 20
    assert max(found["lp_value_error"], found["lp_feasibility_error"]) < 1e-9


def test_where_no_lp_is_solved_none_is_checked():
    private = dp.Central(200.0)
    assert checks(dp.DPUCBVI(), private, 0) == {"lp_checked": 0}
    assert checks(dp.DPUCBVI(), private, 20, K=1) == {"lp_checked": 0}
    assert checks(dp.PrivateUCBVI(), private, 20) == {"lp_checked": 0}
    assert checks(dp.UCBVI(), dp.NonPrivate(), 20) == {"lp_checked": 0}


def test_lp_checks_can_fail():
    sample = LpSample.empty(20, 3, 100)
    y, n, one = np.array([[5.0, 2.0, 1.0]]), np.array([10.0]), np.ones(1, dtype=np.int64)
    nearest = CvxpyPostprocess().solve(y, n, 1.0)[0]  # moves each entry up by 1/3, to a sum of 9
    assert LpSample(sample.moments, y, n, nearest, one).check(4.0)["lp_checked"] == 1
    for wrong in (y, np.array([[6.0, 2.0, 1.0]])):  # infeasible (sum 8); feasible but moved by 1
        with pytest.raises(LpError, match="not the LP's"):
            LpSample(sample.moments, y, n, wrong, one).check(4.0)
