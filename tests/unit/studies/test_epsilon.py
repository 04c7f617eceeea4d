"""Regret against ε: the figure, the table and the page show what the stored runs say."""

import numpy as np
import pytest
from drawn import Line, across, at_edge, bands, is_log, legend, lines, texts
from made_up import grid, mean, stored_arm, stored_experiment
from matplotlib.axes import Axes
from mutants import test_no_falsified_figure_passes  # noqa: F401  (they run here)

from dpucbvi.drawing.style import BLACK
from dpucbvi.stats import bootstrap
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.epsilon import STUDY, check_certified

EPISODES = grid(50_000)
EPSILONS = (1.0, 10.0, 100.0, 1000.0)
REPLACED = (2.0, 20.0, 200.0, 2000.0)
LABELS = {"dp_ucbvi": "DP-UCBVI", "private_ucb_vi": "Private-UCB-VI", "pooled": "DP-UCBVI, pooled"}
# The regret of a curve is level/ε: at 10⁶ the printed 5970 is matched at ε = 168.
LEVELS = {
    ("dp_ucbvi", "jdp"): 1.0e6,
    ("dp_ucbvi", "ldp"): 1.7e6,
    ("private_ucb_vi", "jdp"): 3.1e6,
    ("private_ucb_vi", "ldp"): 8.9e7,
    ("pooled", "jdp"): 4.1e4,
    ("pooled", "ldp"): 6.3e4,
}
PRINTED = {"jdp": {"jdp_eps1": 5970.0, "jdp_eps2": 5170.0}, "ldp": {"ldp_eps2": 15_120.0}}


def at_end(of: str, regret: float, **settings) -> StoredArm:
    return stored_arm(of, regret / 50_000 * EPISODES, **settings)


def experiment() -> StoredExperiment:
    arms = [at_end("ucbvi", 230.0, label="UCBVI", model="non_private")]
    for of, label, level in (("ucbvi_scales", "UCBVI", 1e5), ("pooled_ucbvi_scales", "UCBVI, pooled", 3e4)):
        for factor in (0.01, 0.1, 1.0):
            point = {"bonus.scale": factor}
            arms.append(at_end(of, level * factor, point=point, label=label, model="non_private", bonus=factor))
    for (curve, model), level in LEVELS.items():
        for epsilon in reversed(EPSILONS):  # the figure puts them in order
            settings = {
                "model": "central" if model == "jdp" else "local",
                "epsilon": epsilon,
                "label": LABELS[curve],
            }
            point = {"privatizer.epsilon": epsilon}
            arms.append(at_end(f"{curve}_{model}", level / epsilon, point=point, **settings))
    return stored_experiment("epsilon", arms)


def found(made: StoredExperiment, of: str) -> list[StoredArm]:
    return sorted((arm for arm in made.arms if arm.of == of), key=lambda arm: arm.point["privatizer.epsilon"])


def curve_of(axes: Axes, label: str) -> Line:
    """The curve that is drawn as the legend says for the label."""
    entry = legend(axes.figure)[label]
    (line,) = [line for line in lines(axes, 4) if (line.look, line.marker) == (entry.look, entry.marker)]
    return line


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(experiment())


PANELS = [(0, "jdp"), (1, "ldp")]


@pytest.mark.parametrize(("panel", "model"), PANELS)
def test_every_algorithm_has_its_curve_and_its_interval(figure, panel, model):
    axes, made = figure.axes[panel], experiment()
    assert is_log(axes) == (True, True)
    filled = bands(axes)
    assert len(filled) == len(LABELS)
    for curve, label in LABELS.items():
        finals = [np.array(arm.finals) for arm in found(made, f"{curve}_{model}")]
        mean, low, high = bootstrap(np.stack(finals, axis=1))
        line = curve_of(axes, label)
        np.testing.assert_array_equal(line.x, REPLACED)
        np.testing.assert_allclose(line.y, mean, rtol=1e-9)
        band = filled[[*LABELS].index(curve)]
        assert band.colour == line.colour
        np.testing.assert_array_equal(band.x, REPLACED)
        np.testing.assert_allclose(band.low, low, rtol=1e-9)
        np.testing.assert_allclose(band.high, high, rtol=1e-9)


@pytest.mark.parametrize("panel", [0, 1])
def test_the_reference_and_what_the_axes_say(figure, panel):
    axes = figure.axes[panel]
    assert across(axes) == {"x": [], "y": pytest.approx([mean(experiment().arms[0])[-1]])}
    (level,) = [line for line in axes.lines if list(line.get_xdata()) == [0, 1]]
    assert level.get_color() == BLACK
    assert "UCBVI, counts per step" in texts(axes)
    assert axes.get_xlabel() == f"certified {('JDP', 'LDP')[panel]} ε, a user replaced"
    assert axes.get_ylabel() == "regret after 50,000 episodes"


@pytest.mark.parametrize(("panel", "model"), PANELS)
def test_printed_regrets_are_ticks_with_crosses_where_ours_is_the_same(figure, panel, model):
    axes = figure.axes[panel]
    assert sorted(float(y[0]) for _, y, _ in at_edge(axes)) == sorted(PRINTED[model].values())
    beside = {text.xy[1]: text.get_text() for text in axes.texts if text.get_text().startswith("ε = ")}
    assert beside == {regret: f"ε = {name[-1]}" for name, regret in PRINTED[model].items()}
    crosses = {(round(float(line.x[0]), 6), float(line.y[0])) for line in lines(axes) if len(line.x) == 1}
    wanted = {
        (round(2.0 * level * 1.01 / regret, 6), regret)  # 1.01: what the runs are spread about
        for (_, of), level in LEVELS.items()
        for regret in PRINTED[model].values()
        if of == model and 1.0 <= level * 1.01 / regret <= 1000.0
    }
    assert {line.colour for line in lines(axes) if len(line.x) == 1} == {"#000000"}
    assert {(*x, colour) for x, _, colour in at_edge(axes)} == {(0.985, 1.015, "#000000")}
    assert crosses == wanted and len(wanted) == (6 if model == "jdp" else 2)


def test_the_axes_are_what_is_certified():
    made = experiment()
    check_certified(made)
    wrong = made.arms[-1]._replace(point={"privatizer.epsilon": 7.0})
    with pytest.raises(AssertionError, match="certifies"):
        STUDY.draw(made._replace(arms=[*made.arms[:-1], wrong]))


def test_the_table_says_where_the_regret_is_the_printed_one(tmp_path):
    _, *rows = STUDY.table(experiment())
    (path,) = STUDY.report(experiment(), tmp_path, {}.get)
    assert all(f"| {' | '.join(row)} |" in path.read_text() for row in rows)
    by_key = {(row[0], row[2]): row for row in rows}
    ours = by_key["jdp_eps1", "DP-UCBVI"]
    assert (ours[1], ours[3], ours[4]) == ("5,970", "ε (a user added or removed)", "169")
    low, high = (float(part) for part in ours[5].split(" to "))
    assert low < 169 < high
    assert by_key["non_private", "UCBVI"][3:5] == ("factor on the bonus", "0.0424")
    assert by_key["ldp_eps2", "Private-UCB-VI"][4:] == ("nowhere", "-")
    assert len(rows) == 11
