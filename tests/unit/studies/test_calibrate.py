"""The rule of the calibration on objectives that are known."""

import numpy as np
import pytest

from dpucbvi.calibration import Calibration, around, calibrations, geometric_mean, in_use
from dpucbvi.store import StoredArm, StoredExperiment, StoredRun
from dpucbvi.tables import table
from dpucbvi.trace import Trace

ONE = np.ones(1, dtype=np.int64)


def arm(agent: str, setting: str, regrets: list[float], bonus: float, confidence: float | None) -> StoredArm:
    point = {"bonus.scale": bonus, **({} if confidence is None else {"confidence.scale": confidence})}
    runs = [
        StoredRun({"agent": {"name": agent}}, {}, Trace(ONE, np.array([r]), ONE, ONE, ONE, ONE, {}))
        for r in regrets
    ]
    return StoredArm(f"{setting}{point}", setting, point, agent.upper(), None, None, runs)


def grid(regret, settings=("x", "y")) -> StoredExperiment:
    """Two settings of `dp` on a 3 × 3 grid, one of `plain` on 2 points."""
    arms = [
        arm("dp", setting, [regret(setting, b, c) - 1.0, regret(setting, b, c) + 1.0], b, c)
        for setting in settings
        for b in (0.1, 1.0, 10.0)
        for c in (0.2, 2.0, 20.0)
    ]
    plain = [arm("plain", "z", [value], b, None) for b, value in ((0.1, 7.0), (1.0, 5.0))]
    return StoredExperiment("small", {"kind": "calibration", "x": "log", "y": "log"}, [*arms, *plain])


def bowl(setting: str, b: float, c: float) -> float:
    return (100.0 if setting == "x" else 10_000.0) * (1.0 + np.log10(b) ** 2 + np.log10(c / 2.0) ** 2)


def test_the_choice_is_the_least_geometric_mean_over_settings():
    dp, plain = calibrations(grid(bowl))
    assert (dp.agent, dp.label, dp.choice) == ("dp", "DP", (1.0, 2.0))
    assert dp.objective[1.0, 2.0] == pytest.approx(1000.0)
    assert plain.choice == (1.0,)
    assert plain.objective == {(0.1,): pytest.approx(7.0), (1.0,): pytest.approx(5.0)}


def test_a_setting_with_large_regrets_does_not_decide_alone():
    """A tenth of the regret in x outweighs twice that in y, though y's regrets are 100 times as large."""
    factors = {("x", 0.1): 0.1 / 2.0, ("y", 0.1): 2.0 / 2.0}  # the bowl itself doubles at 0.1
    tilted = grid(lambda s, b, c: bowl(s, b, c) * factors.get((s, b), 1.0))
    assert calibrations(tilted)[0].choice == (0.1, 2.0)


def test_around_are_the_neighbours_one_step_away():
    dp, plain = calibrations(grid(bowl))
    assert around(dp) == {s: pytest.approx(2.0) for s in [(0.1, 2.0), (1.0, 0.2), (1.0, 20.0), (10.0, 2.0)]}
    assert around(plain) == {(0.1,): pytest.approx(1.4)}


def test_points_with_different_settings_are_refused():
    experiment = grid(bowl)
    with pytest.raises(AssertionError, match="different settings"):
        calibrations(experiment._replace(arms=experiment.arms[1:]))


def test_a_variant_is_run_with_its_agents_first_choice():
    made = [
        Calibration("dp", "DP", {(1.0, 1.0): 2.0, (2.0, 1.0): 3.0}),
        Calibration("other", "OTHER", {(5.0, 5.0): 1.0}),
        Calibration("dp", "DP, pooled", {(1.0, 1.0): 9.0, (2.0, 1.0): 4.0}),
    ]
    assert in_use(made) == [(1.0, 1.0), (5.0, 5.0), (1.0, 1.0)]


def test_a_zero_makes_the_mean_zero():
    assert geometric_mean([0.0, 5.0]) == 0.0 and geometric_mean([2.0, 8.0]) == pytest.approx(4.0)


def test_the_end_of_the_run_names_the_choices():
    rows = [line.split() for line in table(grid(bowl)).splitlines()]
    assert rows[1][:4] == ["DP", "1", "2", "1,000"]
    assert rows[2][:4] == ["PLAIN", "1", "-", "5"]
