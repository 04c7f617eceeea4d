"""dp.calibrate: every point is run, and the middle of the best is chosen."""

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.calibrate import Calibration

RIVER = dp.riverswim(S=3, H=4)
SMALL = {"K": 25, "seed": (5, 6), "engine": "reference"}


@pytest.fixture(scope="module")
def found():
    return dp.calibrate(
        RIVER, dp.DPUCBVI(), dp.Central(epsilon=50), bonus=(1e-4, 1e-2, 1.0), confidence=(1e-3, 1.0), **SMALL
    )


def test_every_point_has_its_objective(found):
    assert set(found.found.objective) == {(b, c) for b in (1e-4, 1e-2, 1.0) for c in (1e-3, 1.0)}
    for (bonus, confidence), value in found.found.objective.items():
        private = dp.Central(epsilon=50, confidence_scale=confidence)
        again = dp.run(RIVER, dp.DPUCBVI(bonus_scale=bonus), private, **SMALL)
        low, high = sorted(again.regret[:, -1])
        assert value == pytest.approx(np.sqrt((low + high) / 2 * (low + 0.9 * (high - low))))


def test_what_is_chosen_is_what_is_run(found):
    bonus, confidence = found.found.choice
    assert found.found.choice in found.found.valley
    assert found.agent == dp.DPUCBVI(bonus_scale=bonus)
    assert found.privatizer == dp.Central(epsilon=50, confidence_scale=confidence)
    assert found.to_frame().objective.min() == min(found.found.objective.values())


def test_the_choice_is_the_middle_of_the_valley():
    """Three points on a diagonal are within 10%: the middle one, though it is not the least."""
    points = {(1e-5, 0.1): 100.0, (1e-4, 0.01): 109.0, (1e-3, 1e-3): 101.0, (1e-4, 0.1): 111.0}
    made = Calibration("dp_ucbvi", "x", points)
    assert made.valley == [(1e-5, 0.1), (1e-4, 0.01), (1e-3, 1e-3)] and made.choice == (1e-4, 0.01)
    assert Calibration("dp_ucbvi", "x", {**points, (1e-4, 0.01): 111.0}).choice == (1e-5, 0.1)


def test_without_noise_there_is_one_factor():
    made = dp.calibrate(RIVER, dp.UCBVI(), bonus=(0.01, 0.1, 1.0), **SMALL)
    assert set(made.found.objective) == {(0.01,), (0.1,), (1.0,)}
    assert made.privatizer == dp.NonPrivate()
    assert list(made.to_frame()) == ["bonus_factor", "objective"]


def test_bad_input_is_one_line():
    with pytest.raises(dp.InputError, match=r"^agent: OwnAgent has no bonus_scale"):
        dp.calibrate(RIVER, dp.planner(lambda counts: None), dp.Central(epsilon=1), K=5)
    with pytest.raises(dp.InputError, match=r"^bonus, confidence: an empty list"):
        dp.calibrate(RIVER, dp.UCBVI(), K=5, bonus=())
    wrong = {"bonus": (1e-3, -1), "confidence": (0.1, 0.0)}
    for key, factors in wrong.items():
        with pytest.raises(dp.InputError, match=rf"^{key}: {factors[1]} is not accepted; it must be a list of"):
            dp.calibrate(RIVER, NeverRun(), dp.Central(epsilon=1), K=5, **{key: factors})


class NeverRun(dp.DPUCBVI):
    """It cannot be run, so that a factor which is refused is refused before anything is."""

    def algorithm(self, *_):
        raise AssertionError("was run")
