"""Windows: every environment on its row, every mean at its mark, and the tables that say the same."""

import csv

import numpy as np
import pytest
from made_up import RIVER, stored_arm, stored_experiment

from experiments.studies.windows import EPSILON, LOOKS, STUDY, at_shown, depends

GARNET = {"name": "garnet", "S": 6, "A": 2, "H": 20, "branching": 3, "seed": 3, "rewards": "deterministic"}
FLIP = {"name": "flipping_river", "S": 6, "H": 20, "at": 10, "rewards": "deterministic"}
PANELS = {"the flipping river": FLIP, "RiverSwim": RIVER, "Garnet 3": GARNET}


def arms():
    regret = iter(1000.0 * 1.3 ** np.arange(100))
    return [
        stored_arm(f"{panel}-{label}", next(regret), panel=panel, label=label, env=env, point={EPSILON: e})
        for panel, env in PANELS.items()
        for label in LOOKS
        for e in (1.0, 2.0)
    ]


@pytest.fixture(scope="module")
def experiment():
    return stored_experiment("windows", arms())


def test_environments_that_depend_on_the_step_are_below_the_line(experiment):
    (axes,) = STUDY.draw(experiment).axes
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == ["RiverSwim", "Garnet 3", "the flipping river"]
    (line,) = [one for one in axes.lines if list(one.get_xdata()) == [0, 1]]
    assert set(line.get_ydata()) == {1.5}


def test_every_mark_is_the_mean_of_its_arm_at_epsilon_1(experiment):
    (axes,) = STUDY.draw(experiment).axes
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1 and line.get_marker() != "|"]
    drawn = {
        (round(float(one.get_ydata()[0])), one.get_marker(), one.get_color(), one.get_fillstyle()): one
        for one in marks
    }
    assert len(drawn) == len(PANELS) * len(LOOKS)
    for y, found in enumerate(at_shown(experiment).values()):
        for label, (mark, hue, hollow) in LOOKS.items():
            mean = np.mean([run.trace.regret[-1] for run in found[label].runs])
            at = drawn[y, mark, hue, "none" if hollow else "full"].get_xdata()[0]
            assert at == pytest.approx(mean) and found[label].point == {EPSILON: 1.0}


def test_which_environments_depend_on_the_step(experiment):
    assert {arm.panel for arm in experiment.arms if depends(arm)} == {"the flipping river"}


def test_the_files_have_every_arm(experiment, tmp_path):
    text, table = STUDY.report(experiment, tmp_path, lambda _: None)
    with table.open() as file:
        records = list(csv.DictReader(file))
    means = [arm.mean for arm in experiment.arms]
    assert [float(one["mean"]) for one in records] == pytest.approx(means, abs=0.06)
    assert [one["depends_on_step"] for one in records].count("True") == 2 * len(LOOKS)
    for arm, line in zip(experiment.arms, STUDY.table(experiment)[1:], strict=True):
        assert line[:3] == (arm.panel, arm.label, f"{arm.point[EPSILON]:g}")
        assert line[3].startswith(f"{arm.mean:,.0f} (") and f"| {' | '.join(line)} |" in text.read_text()
