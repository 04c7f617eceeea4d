"""The explanation of the printed figure, on runs that are made up so that the answer is known."""

import csv

import numpy as np
import pytest
from drawn import end_labels, is_log, labelled, lines, said, texts, ticks
from made_up import RIVER, grid, stored_arm, stored_experiment
from mutants import test_no_falsified_figure_passes  # noqa: F401  (they run here)

from experiments.studies.explain import STUDY
from experiments.studies.explain.findings import (
    DIGITISATION,
    POSSIBLE,
    RULED_OUT,
    at_printed,
    best,
    best_local,
    distance,
    findings,
    fit,
    hypotheses,
    in_words,
)
from experiments.studies.explain_fit import STUDY as FIT, distances
from experiments.studies.shared.printed import printed_curves
from experiments.studies.shared.tables import finals

EPISODES = grid(50_000)
JDP = ("jdp_eps1", "jdp_eps2")


def shape(curve: str, level: float = 1.0, tilt: float = 0.0) -> np.ndarray:
    """The printed curve times the level, bent by (k/K)^tilt."""
    printed = printed_curves()[curve]
    values = np.interp(EPISODES, np.append(0, printed.episodes), np.append(0, printed.regret))
    return level * values * (EPISODES / 50_000) ** tilt


def arms(panel: str, level: float, epsilon: float = 960.0, bonus: float = 0.01, **changes):
    made = [
        stored_arm(
            f"{panel}_np",
            shape("non_private", level),
            panel=panel,
            printed="non_private",
            bonus=bonus,
            model="non_private",
            runs=4,
            **changes,
        )
    ]
    for curve in JDP:
        made.append(
            stored_arm(
                f"{panel}_{curve}",
                shape(curve, level),
                panel=panel,
                printed=curve,
                bonus=bonus,
                confidence=0.0001,
                epsilon=epsilon * int(curve[-1]),
                runs=4,
                **changes,
            )
        )
    return made


def local(name: str, level: float, noise: float):
    arm = stored_arm(name, shape("ldp_eps2", level), panel="ldp", printed="ldp_eps2", model="local", runs=4)
    runs = [run._replace(trace=run.trace._replace(noise_scale=noise)) for run in arm.runs]
    return arm._replace(runs=runs)


@pytest.fixture(scope="module")
def experiment():
    """One hypothesis right, one 40% off; of three LDP noises the middle one is right."""
    return stored_experiment(
        "explain",
        [
            *arms("step_bare", 0.985),
            *arms("pooled_proven", 1.4, epsilon=1.0),
            local("much", 1.5, 3.0),
            local("right", 0.99, 0.06),
            local("little", 0.6, 0.01),
        ],
    )


def test_distance_is_the_root_mean_square_of_the_log():
    printed = {curve: printed_curves()[curve].regret for curve in JDP}
    assert distance(printed) == 0.0
    assert distance({curve: 1.1 * regret for curve, regret in printed.items()}) == pytest.approx(np.log(1.1))
    half = {"jdp_eps1": printed["jdp_eps1"], "jdp_eps2": np.e * printed["jdp_eps2"]}
    assert distance(half) == pytest.approx(np.sqrt(0.5))


def test_regret_is_read_where_the_printed_curves_were(experiment):
    arm = experiment.arms[0]
    read = at_printed(arm)
    assert read.shape == (4, len(printed_curves()["jdp_eps1"].episodes))
    np.testing.assert_allclose(read[:, -1], [run.trace.regret[-1] for run in arm.runs])


def test_a_figure_by_chance_is_as_far_off_as_five_runs_and_the_bitmap_make_it():
    """Without spread, only the reading is left: uniform on ±100, whose log is off by about 100/(√3·regret)."""
    flat = {"jdp_eps1": np.tile(printed_curves()["jdp_eps1"].regret, (6, 1))}
    found = fit(flat)
    regret = printed_curves()["jdp_eps1"].regret
    wanted = np.sqrt(np.mean((DIGITISATION / np.sqrt(3) / regret) ** 2))
    assert np.sqrt(np.mean(found.by_chance**2)) == pytest.approx(wanted, rel=0.03)
    assert found.distance == 0.0 and found.p == 1.0
    off = fit({"jdp_eps1": 1.2 * flat["jdp_eps1"]})
    assert off.p == pytest.approx(1 / 5001)


def test_a_figure_by_chance_has_five_runs_and_our_mean_its_own_error():
    """Runs 20% above or below: a mean of 5 is off by 0.2/√5, ours of 20 by 0.2/√20, apart from the reading."""
    regret = printed_curves()["ldp_eps2"].regret
    found = fit({"ldp_eps2": np.array([0.8 * regret, 1.2 * regret] * 10)})
    reading = np.mean((DIGITISATION / np.sqrt(3) / regret) ** 2)
    assert np.mean(found.by_chance**2) == pytest.approx(0.2**2 / 5 + 0.2**2 / 20 + reading, rel=0.06)


def test_the_right_hypothesis_stays_and_the_wrong_one_goes(experiment):
    found = {one.hypothesis: one for one in findings(experiment)}
    assert list(found) == hypotheses(experiment) == ["step_bare", "pooled_proven"]
    assert found["step_bare"].verdict == POSSIBLE and found["pooled_proven"].verdict == RULED_OUT
    assert best(list(found.values())).hypothesis == "step_bare"
    assert found["step_bare"].factors == (0.01, 0.0001) and found["step_bare"].certified == (960.0, 1920.0)
    assert best_local(experiment).key == "right"


def test_the_report(experiment, tmp_path):
    (text,) = STUDY.report(experiment, tmp_path, {}.get)
    said = text.read_text()
    assert "1 of 2 hypotheses are less than 20% off the printed curves" in said and "factor of 1.4\nor" in said
    nearest = "without all three, Lap(1/ε), counts per step"
    assert f"The nearest is {nearest}. It certifies ε = 960 where the legend says 1." in said
    assert f"Chance explains the\ndistance of: {nearest}." in said
    assert "| " + " | ".join(in_words("step_bare")) + " | 960 | 0.01 | 0.0001 |" in said
    assert "| Lap(0.06) | 1 |" in said
    local = [line.split(" | ") for line in said.splitlines() if line.startswith("| Lap(")]
    assert [p for _, _, _, p, _ in local][::2] == ["0.0006"] * 2  # 1/5001 each, by Holm over three


@pytest.fixture(scope="module")
def figure(experiment):
    return STUDY.draw(experiment)


def test_the_figure_has_the_nearest_curves_and_every_distance(figure, experiment):
    left, right = figure.axes
    assert left.get_title(loc="left") == "(a) nearest: without all three, Lap(1/ε)"
    assert "bonus × 0.01, $E$ × 0.0001" in texts(left)
    dashed = [line for line in lines(left) if line.look[0] == "--"]
    assert len(dashed) == 4 and len(lines(left)) == 8
    details = {name: label.detail for name, label in end_labels(left).items()}
    assert details == {
        "DP-UCBVI": "not private",
        "JDP ε = 960": "printed as ε = 1",
        "JDP ε = 1,920": "printed as ε = 2",
        "LDP ε = 1": "printed as ε = 2",
    }
    ends = dict(zip(("non_private", *JDP, "ldp_eps2"), labelled(left).values(), strict=True))
    for curve, line in ends.items():  # 1.5%: what the runs are spread about
        level = 0.99 if curve == "ldp_eps2" else 0.985
        assert line.y[-1] == pytest.approx(1.015 * level * printed_curves()[curve].regret[-1])
    for line in dashed:
        curve = next(name for name, ours in ends.items() if ours.colour == line.colour)
        np.testing.assert_array_equal((line.x, line.y), printed_curves()[curve])
    assert is_log(left) == (True, True) and is_log(right) == (True, False)


def test_every_hypothesis_has_its_distance_and_what_chance_makes(figure, experiment):
    right = figure.axes[1]
    names = ["without all three,\nLap(1/ε), per step", "as proven,\nLap(3HL/ε), pooled"]
    assert ticks(right)[1] == dict(enumerate(names)) and len(lines(right)) == 4
    assert right.get_title("right") == "(b) distance from the printed curves"
    for y, one in enumerate(findings(experiment)):
        bar, dot = [line for line in lines(right) if abs(line.y[0] - y) < 0.5]
        np.testing.assert_allclose(bar.x, np.quantile(one.fit.by_chance, [0.025, 0.975]))
        assert tuple(dot.x) == (one.fit.distance,) and {*bar.y, *dot.y} == {y}
        assert dot.fill == ("full" if one.verdict == POSSIBLE else "none") and dot.colour == "#000000"


def fitted(of: str, curve: str, bonus: float, confidence: float | None, level: float):
    point = {"bonus.scale": bonus} | ({} if confidence is None else {"confidence.scale": confidence})
    panel = "step" if curve == "non_private" else "step_bare"
    model = "non_private" if curve == "non_private" else "central"
    return stored_arm(of, shape(curve, level), panel=panel, printed=curve, point=point, model=model)


def test_the_fit_takes_the_nearest_point_and_the_non_private_curve_of_its_bonus(tmp_path):
    """At bonus 0.02 the private curves are right and the non-private one is not, so it is further off."""
    made = stored_experiment(
        "explain_fit",
        [
            fitted("np", "non_private", 0.01, None, 0.99),
            fitted("np", "non_private", 0.02, None, 2.0),
            *(fitted(c, c, 0.01, 0.1, 1.1) for c in JDP),
            *(fitted(c, c, 0.01, 0.3, 1.3) for c in JDP),
            *(fitted(c, c, 0.02, 0.1, 0.99) for c in JDP),
        ],
    )
    points = distances(made, "step_bare")
    assert set(points) == {(0.01, 0.1), (0.01, 0.3), (0.02, 0.1)} and min(points, key=points.get) == (0.01, 0.1)
    (path,) = FIT.report(made, tmp_path, {}.get)
    rows = list(csv.DictReader(path.open()))
    assert [row["chosen"] for row in rows] == ["1", "0", "0"]
    assert FIT.table(made)[1][:3] == ("step_bare", "0.01", "0.1")


OTHERS = [{"K": 2000}, {"env": {**RIVER, "S": 4}}, {"env": {**RIVER, "variant": "strehl_littman"}}]


def at_another_size(made, changes):
    """The same runs with other settings: one arm is enough."""
    first, *rest = made.arms
    runs = [run._replace(config={**run.config, **changes}) for run in first.runs]
    return made._replace(arms=[first._replace(runs=runs), *rest])


@pytest.mark.parametrize("changes", OTHERS, ids=["K", "S", "variant"])
def test_at_another_size_nothing_is_said_of_the_printed_figure(experiment, changes):
    """The printed curves go to 50,000 episodes: a run of 2,000 has no regret there."""
    other = at_another_size(experiment, changes)
    assert STUDY.table(other) == finals(other) and STUDY.table(experiment) != finals(experiment)
    figure = STUDY.draw(other)
    assert len(figure.axes) == 1 and len(end_labels(figure.axes[0])) == len(other.arms)
    assert "nearest" not in said(figure) and "distance" not in said(figure)
    with pytest.raises(AssertionError, match="not of the printed figure's size"):
        at_printed(other.arms[0])


def test_a_fit_at_another_size_has_its_regrets():
    whole = stored_experiment("explain_fit", [fitted(c, c, 0.01, 0.1, 1.1) for c in JDP])
    other = at_another_size(whole, {"K": 2000})
    assert FIT.table(other) == finals(other)
