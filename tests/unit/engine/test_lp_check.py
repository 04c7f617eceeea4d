"""A sample of a fast run's LPs is solved again by cvxpy: spread over the run, recorded, and able to fail."""

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.engine.lp_check import LpSample
from dpucbvi.errors import LpError
from dpucbvi.projection import CvxpyPostprocess

RIVER = dp.riverswim(4, 6)


def checks(agent, privatizer, lp_checks, K=60):
    return dp.run(RIVER, agent, privatizer, K=K, lp_checks=lp_checks, engine="fast").checks


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
