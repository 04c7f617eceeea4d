"""The explanation of the printed figure, on runs that are made up so that the answer is known."""

import csv

import numpy as np
import pytest
from drawn import end_labels, is_log, labelled, legend, lines, texts, ticks
from made_up import grid, shape, stored_arm, stored_experiment, with_regrets
from mutants import test_no_falsified_figure_passes  # noqa: F401  (they run here)

from experiments.studies.explain import LANES, STUDY
from experiments.studies.explain.findings import (
    at_printed,
    best,
    best_local,
    distance,
    findings,
    in_words,
    inside,
    panels,
    spread,
    widest,
)
from experiments.studies.explain_fit import STUDY as FIT, distances
from experiments.studies.shared.printed import printed_bands, printed_curves
from experiments.studies.shared.style import HUES

EPISODES = grid(50_000)
JDP = ("jdp_eps1", "jdp_eps2")


def arms(panel: str, level: float, epsilon: float = 960.0, bonus: float = 0.01):
    return [
        stored_arm(
            f"{panel}_{curve}",
            shape(curve, level),
            panel=panel,
            printed=curve,
            bonus=bonus,
            confidence=0.0001,
            epsilon=epsilon * int(curve[-1]),
            runs=4,
        )
        for curve in JDP
    ]


def free(panel: str, level: float):
    settings = {"panel": panel, "printed": "non_private", "model": "non_private", "bonus": 0.013, "runs": 4}
    return stored_arm(panel, shape("non_private", level), **settings)


def local(name: str, level: float, noise: float):
    arm = stored_arm(name, shape("ldp_eps2", level), panel="ldp", printed="ldp_eps2", model="local", runs=4)
    runs = [run._replace(trace=run.trace._replace(noise_scale=noise)) for run in arm.runs]
    return arm._replace(runs=runs)


@pytest.fixture(scope="module")
def experiment():
    """One hypothesis is right, one 60% off; right too are the second LDP noise and the first UCBVI."""
    return stored_experiment(
        "explain",
        [
            free("step_ucbvi", 1.01),
            free("pooled_ucbvi", 1.2),
            *arms("step_bare", 0.985),
            *arms("pooled_proven", 1.6, epsilon=1.0),
            local("much", 1.5, 3.0),
            local("right", 0.99, 0.06),
            local("little", 0.6, 0.01),
        ],
    )


def test_the_right_hypothesis_stays_and_the_wrong_one_goes(experiment):
    found = {one.hypothesis: one for one in findings(experiment)}
    assert list(found) == ["step_bare", "pooled_proven"]
    assert found["step_bare"].inside and not found["pooled_proven"].inside
    assert best(list(found.values())).hypothesis == "step_bare"
    assert found["step_bare"].factors == (0.01, 0.0001) and found["step_bare"].certified == 960.0
    assert best_local(experiment).key == "right"
    assert best(panels(experiment, "non_private")).hypothesis == "step_ucbvi"


def test_the_report(experiment, tmp_path):
    (text,) = STUDY.report(experiment, tmp_path, {}.get)
    said = text.read_text()
    assert "1 of 2 hypotheses are less than 20% off the reported curves" in said and "factor of 1.6 or" in said
    nearest = "without all three, Lap(1/ε), counts per step"
    off = f"{best(findings(experiment)).distance:.0%}"
    assert f"The nearest is {nearest}: {off} off. It certifies ε = 960 where the legend says 1." in said
    assert "1 of 2 end in the reported bands" in said
    assert f"Hypotheses that also spread as widely as the bands: {nearest}." in said
    row = next(line for line in said.splitlines() if line.startswith("| " + " | ".join(in_words("step_bare"))))
    cells = row.strip("| ").split(" | ")
    assert cells[2:5] == ["960", "0.01", "0.0001"] and (cells[8], cells[10]) == ("yes", "yes")
    for place, curve in ((5, "jdp_eps1"), (6, "jdp_eps2")):
        arm = next(arm for arm in experiment.arms if arm.key == f"step_bare_{curve}")
        assert cells[place] == f"{distance({curve: at_printed(arm).mean(axis=0)}):.3f}"
    assert "| Lap(0.06) | per step | 1 |" in said and "| per step | 0.013 |" in said


@pytest.fixture(scope="module")
def figure(experiment):
    return STUDY.draw(experiment)


def test_the_figure_has_the_nearest_curves(figure):
    left, right = figure.axes
    assert left.get_title(loc="left") == "(a) nearest: without all three, Lap(1/ε)"
    assert "JDP: bonus × 0.01, $E$ × 0.0001" in texts(left)
    dashed = [line for line in lines(left) if line.look[0] == "--"]
    assert len(dashed) == 4 and len(lines(left)) == 8
    details = {name: label.detail for name, label in end_labels(left).items()}
    assert details == {
        "UCBVI": "not private",
        "JDP ε = 960": "reported as ε = 1",
        "JDP ε = 1,920": "reported as ε = 2",
        "LDP ε = 1": "reported as ε = 2",
    }
    levels = {"non_private": 1.01, "jdp_eps1": 0.985, "jdp_eps2": 0.985, "ldp_eps2": 0.99}
    ends = dict(zip(levels, labelled(left).values(), strict=True))
    for curve, line in ends.items():  # 1.5%: what the runs are spread about
        assert line.y[-1] == pytest.approx(1.015 * levels[curve] * printed_curves()[curve].regret[-1])
    for line in dashed:
        curve = next(name for name, ours in ends.items() if ours.colour == line.colour)
        np.testing.assert_array_equal((line.x, line.y), printed_curves()[curve])
    assert is_log(left) == (True, True) and is_log(right) == (True, False)


def test_every_curve_has_its_distance_in_its_colour_filled_if_it_ends_in_its_band(figure, experiment):
    right = figure.axes[1]
    rows = sorted([*panels(experiment, "non_private"), *findings(experiment)], key=lambda one: one.distance)
    scales = {"bare": "Lap(1/ε)", "proven": "Lap(3HL/ε)", "redrawn": "Lap(1/ε) redrawn", "ucbvi": "UCBVI"}
    wanted = [(scales[one.hypothesis.partition("_")[2]], in_words(one.hypothesis)[1]) for one in rows]
    assert list(ticks(right)[1].values()) == [", ".join(name) for name in wanted]
    assert right.get_title("right") == "(b) distance from the reported curves"
    dots = {(line.y[0], line.colour): line for line in lines(right)}
    assert len(dots) == len(lines(right)) == 6
    for y, one in enumerate(rows):
        for curve, arm in one.arms.items():
            dot = dots[y + LANES[curve], HUES[curve].lower()]
            assert dot.x[0] == pytest.approx(distance({curve: at_printed(arm).mean(axis=0)}))
            assert dot.fill == ("full" if inside(arm) else "none")
    assert {inside(arm) for one in rows for arm in one.arms.values()} == {True, False}
    named = {"not private": "non_private", "JDP ε = 2": "jdp_eps2", "JDP ε = 1": "jdp_eps1"}
    entries = legend(figure)
    assert {name: entries[name].colour for name in named} == {n: HUES[c].lower() for n, c in named.items()}
    assert [name for name, entry in entries.items() if entry.fill == "none"] == ["ends outside its band"]


def fitted(of: str, curve: str, bonus: float, confidence: float | None, level: float):
    point = {"bonus.scale": bonus} | ({} if confidence is None else {"confidence.scale": confidence})
    panel = "step_ucbvi" if curve == "non_private" else "step_bare"
    model = "non_private" if curve == "non_private" else "central"
    return stored_arm(of, shape(curve, level), panel=panel, printed=curve, point=point, model=model)


def test_the_fit_takes_the_nearest_point_of_every_hypothesis(tmp_path):
    made = stored_experiment(
        "explain_fit",
        [
            fitted("np", "non_private", 0.01, None, 2.0),
            fitted("np", "non_private", 0.02, None, 0.99),
            *(fitted(c, c, 0.01, 0.1, 1.1) for c in JDP),
            *(fitted(c, c, 0.01, 0.3, 1.3) for c in JDP),
            fitted("jdp_eps1", "jdp_eps1", 0.02, 0.1, 0.99),
            fitted("jdp_eps2", "jdp_eps2", 0.02, 0.1, 1.5),  # one curve right, the other not
        ],
    )
    points = distances(made)["step_bare"]
    assert set(points) == {("0.01", "0.1"), ("0.01", "0.3"), ("0.02", "0.1")}
    assert min(points, key=points.get) == ("0.01", "0.1")
    (path,) = FIT.report(made, tmp_path, {}.get)
    rows = list(csv.DictReader(path.open()))
    assert [row["chosen"] for row in rows] == ["0", "1", "1", "0", "0"]
    assert [row[:3] for row in FIT.table(made)[1:]] == [
        ("step_ucbvi", "0.02", ""),
        ("step_bare", "0.01", "0.1"),
    ]


def widened(arm, half_widths: float):
    """Two of the runs so far apart that half the printed band is so many standard deviations."""
    low, high = printed_bands()[arm.printed]
    sd, regret = (high - low) / 2.0 / half_widths, arm.runs[0].trace.regret
    offsets = np.array([-1.0, 1.0, 0.0, 0.0]) * sd * np.sqrt(3.0 / 2.0)
    return with_regrets(arm, [regret + offset * (EPISODES == EPISODES[-1]) for offset in offsets])


def test_the_widest_spread_knows_that_our_runs_are_few():
    """1.96 √F(4, n-1; 0.999): with σ known it would be 4.21."""
    assert [widest(runs) for runs in (5, 20, 10**9)] == pytest.approx([14.32, 5.28, 4.21], abs=0.01)


@pytest.mark.parametrize(("share", "wide"), [(0.99, True), (1.01, False)])
def test_spread_is_the_band_in_standard_deviations_of_our_runs(share, wide):
    half_widths = share * widest(4)
    made = [widened(arm, half_widths) for arm in arms("step_bare", 1.0)]
    assert [spread(arm) for arm in made] == pytest.approx([half_widths] * 2)
    (found,) = findings(stored_experiment("explain", made))
    assert found.as_wide == wide
    (mixed,) = findings(stored_experiment("explain", [made[0], widened(made[1], 30.0)]))
    assert not mixed.as_wide  # both curves must be
