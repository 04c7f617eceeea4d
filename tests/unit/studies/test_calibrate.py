"""The rule of the calibration on objectives that are known, and that figure, table and CSV show them."""

import csv

import numpy as np
import pytest
from drawn import boxes, cells, is_log, lines, texts_at, ticks
from made_up import stored_arm, stored_experiment, with_regrets
from mutants import test_no_falsified_figure_passes, test_no_falsified_file_passes  # noqa: F401  (they run here)

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.calibrate import STUDY, calibrations

BONUSES, CONFIDENCES = (0.01, 0.1, 1.0), (0.001, 0.01, 0.1, 1.0)
SETTINGS = {"x": ("central", 100.0), "y": ("local", 500.0)}


def arm(
    label: str, agent: str, setting: str, regret: float, bonus: float, confidence: float | None
) -> StoredArm:
    """Two runs, 1 below and 1 above the regret."""
    point = {"bonus.scale": bonus, **({} if confidence is None else {"confidence.scale": confidence})}
    model, epsilon = SETTINGS.get(setting, ("non_private", 1.0))
    made = stored_arm(
        setting, regret, point=point, label=label, runs=2, agent=agent, model=model, epsilon=epsilon
    )
    made = with_regrets(made, (regret - 1.0, regret + 1.0), seed=1000)
    return made._replace(key=f"{label}{setting}{point}")


def bowl(setting: str, b: float, c: float) -> float:
    """Least at (0.1, 0.01), and no two values alike."""
    tilt = 1.0 + 0.05 * np.log10(b) + 0.017 * np.log10(c)
    return (1000.0 if setting == "x" else 90_000.0) * (tilt + np.log10(b / 0.1) ** 2 + np.log10(c / 0.01) ** 2)


def shifted(setting: str, b: float, c: float) -> float:
    """The same, least at (1, 0.01)."""
    return 0.7 * bowl(setting, b / 10.0, c)


PLAIN = {0.01: 7000.0, 0.1: 500.0, 1.0: 5200.0}
HOEFFDING = {0.01: 900.0, 0.1: 4000.0, 1.0: 8100.0}


def grid(*regrets) -> StoredExperiment:
    """DP and its pooled variant in two settings on a 3 × 4 grid, two algorithms with one factor on 3 points."""
    dp, pooled = regrets or (bowl, shifted)
    arms = [
        arm(label, "dp", setting, regret(setting, b, c), b, c)
        for label, regret in (("DP", dp), ("DP, pooled", pooled))
        for setting in SETTINGS
        for b in BONUSES
        for c in CONFIDENCES
    ]
    for label, points in (("PLAIN", PLAIN), ("HOEFFDING", HOEFFDING)):
        arms += [arm(label, label.lower(), "z", value, b, None) for b, value in points.items()]
    return stored_experiment("calibrate", arms)


def objective(regret, b: float, c: float) -> float:
    """Of two runs, 1 below and 1 above: the mean, and 0.8 above it the 90% quantile."""
    value = [regret(setting, b, c) for setting in SETTINGS]
    return float(np.prod([np.sqrt(x * (x + 0.8)) for x in value]) ** 0.5)


def alone(value: float) -> float:
    """The same in the one setting of an algorithm without privacy."""
    return float(np.sqrt(value * (value + 0.8)))


def power(value: float) -> str:
    return f"{value:g}"


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(grid())


@pytest.mark.parametrize(("panel", "regret"), [(0, bowl), (1, shifted)])
def test_every_cell_of_a_map_is_its_objective(figure, panel, regret):
    axes = figure.axes[panel]
    x, y = ticks(axes)
    named = {(x[at[0]], y[at[1]]): value for at, value in cells(axes).items()}
    written = {(x[at[0]], y[at[1]]): text for at, text in texts_at(axes).items()}
    wanted = {(power(c), power(b)): objective(regret, b, c) for b in BONUSES for c in CONFIDENCES}
    assert named == pytest.approx(wanted, rel=1e-6)  # of mean regrets 1 above and 1 below
    assert written == {
        place: f"{value / 1000:.0f}k" if value >= 10_000 else f"{value / 1000:.1f}k"
        for place, value in wanted.items()
    }
    assert axes.get_xlabel() == "factor on $E$" and axes.get_ylabel() == "factor on the bonus"
    assert not axes.yaxis.get_inverted() and not axes.xaxis.get_inverted()


def test_solid_boxes_are_at_the_choices_and_dashed_ones_at_what_a_variant_is_run_with(figure):
    found = []
    for axes in figure.axes[:2]:
        x, y = ticks(axes)
        found.append({style: [(y[b], x[c]) for c, b in at] for style, at in boxes(axes).items()})
    chosen, variant = (power(0.1), power(0.01)), (power(1.0), power(0.01))
    assert found == [{"solid": [chosen]}, {"dashed": [chosen], "solid": [variant]}]


def test_panels_are_named_with_their_settings(figure):
    titles = [axes.get_title("left") for axes in figure.axes if axes.axison]
    assert titles == ["DP\nε: JDP 100; LDP 500", "DP, pooled\nε: JDP 100; LDP 500", "not private"]


def test_one_factor_is_drawn_as_a_line_with_its_least_marked(figure):
    axes = figure.axes[2]
    assert is_log(axes) == (True, True)
    beside = {text.get_text(): text.xy for text in axes.texts}
    assert set(beside) == {"PLAIN", "HOEFFDING"} and len({line.marker for line in lines(axes, 2)}) == 2
    for label, points in (("PLAIN", PLAIN), ("HOEFFDING", HOEFFDING)):
        (line,) = [line for line in lines(axes, 2) if beside[label] in zip(line.x, line.y, strict=True)]
        assert dict(zip(line.x, line.y, strict=True)) == pytest.approx({b: alone(x) for b, x in points.items()})
    least = {line.x[0]: line.y[0] for line in lines(axes) if len(line.x) == 1}
    assert least == pytest.approx({0.1: alone(500.0), 0.01: alone(900.0)})
    assert {line.colour for line in lines(axes)} == {"#000000"}
    assert {(len(line.x) == 1, line.look[0] == "None") for line in lines(axes)} == {
        (True, True),
        (False, False),
    }


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return STUDY.report(grid(), tmp_path_factory.mktemp("report"), {}.get)


def test_the_file_has_every_point(report):
    (path,) = report
    points = {
        **{("DP", f"{b}", f"{c}"): objective(bowl, b, c) for b in BONUSES for c in CONFIDENCES},
        **{("DP, pooled", f"{b}", f"{c}"): objective(shifted, b, c) for b in BONUSES for c in CONFIDENCES},
        **{("PLAIN", f"{b}", ""): alone(x) for b, x in PLAIN.items()},
        **{("HOEFFDING", f"{b}", ""): alone(x) for b, x in HOEFFDING.items()},
    }
    rows = list(csv.DictReader(path.open()))
    of = {(row["algorithm"], row["bonus_factor"], row["confidence_factor"]): row for row in rows}
    assert {at: float(row["objective"]) for at, row in of.items()} == pytest.approx(points, abs=0.06)
    best = [
        ("DP", "0.1", "0.01"),
        ("DP, pooled", "1.0", "0.01"),
        ("PLAIN", "0.1", ""),
        ("HOEFFDING", "0.01", ""),
    ]
    assert {at: row["chosen"] for at, row in of.items()} == {at: str(int(at in best)) for at in points}


def test_the_end_of_the_run_names_the_choices():
    _, *rows = STUDY.table(grid())
    assert rows[0][:4] == ("DP", "0.1", "0.01", f"{objective(bowl, 0.1, 0.01):,.0f}")
    assert rows[1][:3] == ("DP, pooled", "1", "0.01")
    assert rows[2] == ("PLAIN", "0.1", "-", "500", "× 10.4, × 14", "1 of 3", "no")
    assert rows[3] == ("HOEFFDING", "0.01", "-", "900", "× 4.44", "1 of 3", "yes")


def test_a_setting_with_large_regrets_does_not_decide_alone():
    """A tenth of the regret in x outweighs twice that in y, though y's regrets are 90 times as large."""
    factors = {("x", 1.0): 0.1 / 2.0, ("y", 1.0): 2.0 / 2.0}  # the bowl itself about doubles at 1
    tilted = grid(lambda s, b, c: bowl(s, b, c) * factors.get((s, b), 1.0), shifted)
    assert calibrations(tilted)[0].choice == (1.0, 0.01)
