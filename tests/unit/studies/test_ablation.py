"""The ablation, on runs that are made up: every ratio is known."""

import numpy as np
import pytest
from drawn import across, is_log, legend, lines, ticks
from made_up import stored_arm, stored_experiment, with_regrets
from mutants import test_no_falsified_figure_passes  # noqa: F401  (they run here)

from experiments.studies.ablation import STUDY, ratio, variants

RUNS = 16


def made(panel: str, label: str, level: float, noise: float):
    arm = stored_arm(f"{panel}_{label}", level, panel=panel, label=label, runs=1)
    rng = np.random.default_rng(0)  # the same environment in every arm
    both = rng.normal(0, 0.05, RUNS) + noise * np.random.default_rng(len(label)).normal(0, 1, RUNS)
    return with_regrets(arm, level * (1 + both))


@pytest.fixture(scope="module")
def experiment():
    arms = [
        made("JDP", "everything", 5000, 0.0),
        made("JDP", "no LP", 10_000, 0.01),
        made("JDP", "open", 5000, 0.3),
    ]
    return stored_experiment(
        "ablation", [*arms, made("LDP", "everything", 9000, 0.0), made("LDP", "no LP", 4500, 0.01)]
    )


def test_every_variant_is_compared_with_the_whole_of_its_panel(experiment):
    found = {(one.panel, one.label): one for one in variants(experiment.arms)}
    assert found["JDP", "no LP"].ratio == pytest.approx(2.0, rel=0.02) and found["JDP", "no LP"].p < 0.01
    assert found["LDP", "no LP"].ratio == pytest.approx(0.5, rel=0.02) and found["LDP", "no LP"].p < 0.01
    assert found["JDP", "open"].p > 0.05
    assert found["JDP", "everything"][3:6] == (1.0, 1.0, 1.0)
    low, high = found["JDP", "no LP"].low, found["JDP", "no LP"].high
    assert low < found["JDP", "no LP"].ratio < high


def test_the_interval_of_a_ratio_keeps_pairs_together():
    """A variant that is always twice as bad has no uncertainty, however much both vary."""
    a = np.random.default_rng(1).lognormal(0, 1, 30)
    assert ratio(2 * a, a) == pytest.approx((2.0, 2.0, 2.0))


@pytest.fixture(scope="module")
def figure(experiment):
    return STUDY.draw(experiment)


def test_every_variant_has_its_ratio_and_its_interval(figure, experiment):
    axes = figure.axes[0]
    rows = {name: at for at, name in ticks(axes)[1].items()}
    assert list(rows) == ["no LP", "open"] and is_log(axes) == (True, False) and across(axes)["x"] == [1.0]
    shown = 0
    for panel, entry in legend(figure).items():
        for one in variants(experiment.arms):
            if one.panel == panel and one.label in rows:
                here = [line for line in lines(axes) if abs(line.y[0] - rows[one.label]) < 0.5]
                bar, dot = [line for line in here if line.colour == entry.colour]
                assert tuple(bar.x) == (one.low, one.high) and tuple(dot.x) == (one.ratio,)
                assert dot.filled == (one.p < 0.05) and dot.marker == entry.marker
                offset = 0.22 * (list(legend(figure)).index(panel) - 0.5)
                assert {*bar.y, *dot.y} == {rows[one.label] + offset}
                shown += 2
    assert shown == len(lines(axes))
