"""Regret against the horizon: every curve, bar, exponent and guide is that of the stored runs."""

import numpy as np
import pytest
from drawn import Line, end_labels, error_bars, is_log, lines, ticks
from made_up import RIVER, stored_arm, stored_experiment
from mutants import test_no_falsified_figure_passes  # noqa: F401  (they run here)

from dpucbvi.stats import bootstrap
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.horizon import STUDY, scalings

HORIZONS = (20, 5, 10)  # the figure puts them in order
# Arm, agent, pooled, model, regret at H = 1 and the exponent of H; its name in the figure.
ARMS = {
    "UCBVI, Bernstein": ("ucbvi", "ucbvi_bf", False, "non_private", 7.0, 1.5),
    "UCBVI, Hoeffding": ("ucbvi_ch", "ucbvi_ch", False, "non_private", 9.0, 2.0),
    "DP-UCBVI, Bernstein": ("dp_ucbvi", "dp_ucbvi", False, "central", 31.0, 2.5),
    "P.-UCB-VI, Hoeffding": ("private_ucb_vi", "private_ucb_vi", False, "central", 55.0, 2.25),
}
PANELS = {"RiverSwim": list(ARMS)[:2], "hard instance": list(ARMS)}


def made(panel: str, name: str, H: int) -> StoredArm:
    of, agent, pooled, model, level, power = ARMS[name]
    level *= 1.0 if panel == "RiverSwim" else 3.3
    settings = {"agent": agent, "pooled": pooled, "model": model, "epsilon": 2000.0, "env": {**RIVER, "H": H}}
    return stored_arm(f"{panel}_{of}", level * H**power, point={"env.H": H}, panel=panel, **settings)


def experiment() -> StoredExperiment:
    arms = [made(panel, name, H) for panel, names in PANELS.items() for name in names for H in HORIZONS]
    return stored_experiment("horizon", arms)


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(experiment())


def curves(axes) -> dict[str, tuple[Line, Line]]:
    """Every label with the points of its colour and marker, and the line through them."""
    drawn, made = lines(axes, 2), {}
    for name, label in end_labels(axes).items():
        (points,) = [one for one in drawn if (one.colour, one.marker) == (label.colour, label.marker)]
        (line,) = [one for one in drawn if one.marker == "None" and np.array_equal(one.x, points.x)]
        made[name] = points, line
    return made


@pytest.mark.parametrize("panel", [0, 1])
def test_every_algorithm_has_its_means_and_its_intervals(figure, panel):
    axes = figure.axes[panel]
    title = list(PANELS)[panel]
    assert axes.get_title("left") == title and is_log(axes) == (True, True)
    found, bars = curves(axes), error_bars(axes)  # in the order of drawing
    assert list(found) == PANELS[title]
    for (name, (points, line)), bar in zip(found.items(), bars, strict=True):
        arms = [made(title, name, H) for H in sorted(HORIZONS)]
        mean, low, high = bootstrap(np.array([[run.trace.regret[-1] for run in arm.runs] for arm in arms]).T)
        for x in (points.x, line.x, bar.x):  # beside H, by the same factor: nearer to it than to another
            np.testing.assert_allclose(x / np.sort(HORIZONS), x[0] / 5, rtol=1e-12)
            assert abs(np.log2(x[0] / 5)) < 0.4
        np.testing.assert_allclose(points.y, mean, rtol=1e-12)
        np.testing.assert_allclose(line.y, mean, rtol=1e-12)
        np.testing.assert_allclose(bar.low, low, rtol=1e-9)
        np.testing.assert_allclose(bar.high, high, rtol=1e-9)
        assert bar.colour == line.colour == points.colour
    assert len({points.x[0] for points, _ in found.values()}) == len(found)  # none is behind another


@pytest.mark.parametrize("panel", [0, 1])
def test_the_exponents_are_those_of_the_runs(figure, panel):
    labels = end_labels(figure.axes[panel])
    for name, label in labels.items():
        assert label.detail == f"$H$ {ARMS[name][-1]:.2f} ± 0.00, $k$ 0.00"


def test_exponents_are_fitted_to_every_run_and_have_an_interval():
    """Runs with exponents 1 and 2: mean 1.5, half width t₀.₉₇₅,₁ · 0.5."""
    arms = [
        stored_arm("x", 1.0, runs=2, point={"env.H": H}, panel="p", env={**RIVER, "H": H}) for H in HORIZONS
    ]
    bent = [
        arm._replace(
            runs=[
                run._replace(
                    trace=run.trace._replace(regret=np.array([float(arm.point["env.H"]) ** (1 + seed)]))
                )
                for seed, run in enumerate(arm.runs)
            ]
        )
        for arm in arms
    ]
    (axes,) = STUDY.draw(stored_experiment("horizon", bent)).axes
    (label,) = end_labels(axes).values()
    assert label.detail.startswith("$H$ 1.50 ± 6.35")


@pytest.mark.parametrize("panel", [0, 1])
def test_the_guides_have_the_exponents_of_the_bounds(figure, panel):
    axes = figure.axes[panel]
    named = {line.colour for line, _ in curves(axes).values()}
    guides = [line for line in lines(axes, 3) if line.colour not in named]
    slopes = [np.polyfit(np.log(line.x), np.log(line.y), 1)[0] for line in guides]
    assert slopes == pytest.approx([1.5, 2.0])
    named_at = {text.get_text(): text.xy for text in axes.texts if text.get_text().startswith("$H^")}
    assert list(named_at) == ["$H^{3/2}$", "$H^2$"]
    lowest = np.min([points.y for points, _ in curves(axes).values()], axis=0)
    for line, (x, y) in zip(guides, named_at.values(), strict=True):
        assert (line.y < lowest).all()  # below all that was measured
        assert np.interp(np.log(x), np.log(line.x), np.log(line.y)) == pytest.approx(np.log(y))


def test_ticks_and_words(figure):
    words = STUDY.caption(experiment())
    assert "50,000 episodes, mean and 95% bootstrap interval of 3 runs" in words
    assert "ε = 2000 if a user is added or removed" in words
    assert set(ticks(figure.axes[0])[0]) == {5.0, 10.0, 20.0}


def test_a_single_run_has_no_bars():
    arms = [stored_arm("x", H**2.0, runs=1, point={"env.H": H}, env={**RIVER, "H": H}) for H in HORIZONS]
    (axes,) = STUDY.draw(stored_experiment("horizon", arms)).axes
    assert error_bars(axes) == [] and [label.detail for label in end_labels(axes).values()] == [
        "$H$ 2.00, $k$ 0.00"
    ]


def test_another_horizon_than_the_grids_is_refused():
    arm = made("RiverSwim", "UCBVI, Bernstein", 5)
    with pytest.raises(AssertionError, match="another horizon"):
        scalings([arm._replace(point={"env.H": 6})])


def test_private_runs_with_several_epsilons_are_refused():
    other = stored_arm("y", 3.0, point={"env.H": 5}, epsilon=7.0, env={**RIVER, "H": 5}, panel="RiverSwim")
    with pytest.raises(AssertionError, match="several"):
        STUDY.caption(stored_experiment("horizon", [made("RiverSwim", "DP-UCBVI, Bernstein", 5), other]))


def at_gap(H: int, gap: float, regret: float, power: float) -> StoredArm:
    """Regret (k/K)^power, which ends at the given one."""
    from made_up import grid

    curve = regret * (grid(50_000) / 50_000) ** power
    return stored_arm(
        "x", curve, point={"env.H": H, "env.gap": gap}, env={**RIVER, "H": H}, agent="ucbvi_bf", bonus=0.01
    )


def test_every_horizon_has_its_worst_gap_and_says_how_the_regret_still_grows():
    arms = [
        at_gap(5, 0.1, 10.0, 0.0),
        at_gap(5, 0.3, 20.0, 0.5),
        at_gap(10, 0.1, 80.0, 0.5),
        at_gap(10, 0.3, 9.0, 0.0),
    ]
    (line,) = scalings(arms)
    assert line.gaps == [0.3, 0.1] and line.regret.mean(axis=0) == pytest.approx([20.2, 80.8], rel=1e-3)
    assert line.growth == pytest.approx(0.5, abs=0.02)
    row = STUDY.table(stored_experiment("horizon", arms))[1]
    assert row[1:3] == ("UCBVI, Bernstein", "2.00 ± 0.00") and row[-1] == "0.3, 0.1"


def test_runs_that_are_stuck_are_counted_at_every_horizon(tmp_path):
    """One of three runs is a straight line at H = 5, all of them at H = 10; ½ and 0.85 are not stuck."""
    settled, stuck = at_gap(5, 0.1, 40.0, 0.5), at_gap(10, 0.1, 80.0, 1.0)
    nearly = at_gap(20, 0.1, 90.0, 0.85)
    mixed = settled._replace(runs=[*settled.runs[:2], at_gap(5, 0.1, 99.0, 1.0).runs[2]])
    made = stored_experiment("horizon", [mixed, stuck, nearly])
    assert scalings(made.arms)[0].stuck == [1, 3, 0]
    header, row = STUDY.table(made)
    assert row[header.index("stuck runs")] == "1, 3, 0 of 3"
    (path,) = STUDY.report(made, tmp_path, {}.get)
    words = " ".join(path.read_text().split())
    assert "| 1, 3, 0 of 3 |" in words and "an exponent in k above 0.9 over the second half" in words
    assert "can be a mixture of settled and stuck runs, not √k" in words


def test_arms_may_have_different_numbers_of_runs(tmp_path):
    few = made("RiverSwim", "UCBVI, Hoeffding", 5)
    both = stored_experiment(
        "horizon", [made("RiverSwim", "UCBVI, Bernstein", 5), few._replace(runs=few.runs[:2])]
    )
    assert [row[4] for row in STUDY.table(both)[1:]] == ["0 of 3", "0 of 2"]
    (path,) = STUDY.report(both, tmp_path, {}.get)
    assert "Mean regret of 2 or 3 runs" in path.read_text()


def test_a_river_of_another_size_says_so():
    """Six states, as printed, are not told."""
    three = [
        stored_arm("x", H**2.0, point={"env.H": H}, panel="RiverSwim", env={**RIVER, "S": 3, "H": H})
        for H in HORIZONS
    ]
    other = stored_experiment("horizon", three)
    assert STUDY.draw(other).axes[0].get_title("left") == "RiverSwim, S = 3"
    assert {row[0] for row in STUDY.table(other)[1:]} == {"RiverSwim, S = 3"}
    assert {row[0] for row in STUDY.table(experiment())[1:]} == set(PANELS)


@pytest.mark.parametrize("term", ["variance", "correction", "next_value"])
def test_an_arm_without_a_term_says_so(term, tmp_path):
    arm = at_gap(5, 0.1, 10.0, 0.0)
    for run in arm.runs:
        run.config["bonus"]["without"] = term
    assert STUDY.table(stored_experiment("horizon", [arm]))[1][1].startswith("without ")
    (path,) = STUDY.report(stored_experiment("horizon", [arm]), tmp_path, {}.get)
    assert "| without " in path.read_text()
