"""The figure for any experiment: what it draws and says is true of the runs."""

import numpy as np
import pytest
from drawn import bands, end_labels, is_log, labelled, legend, lines, said
from made_up import RIVER, grid, half_width, mean, stored_arm, stored_experiment, stored_run

from dpucbvi.lab.store import StoredArm, StoredExperiment
from dpucbvi.studies.regret import STUDY, caption, names, setting
from dpucbvi.studies.shared.arms import check_same_grid
from dpucbvi.studies.shared.end_labels import spread
from dpucbvi.studies.shared.files import aligned
from dpucbvi.studies.shared.printed import printed_beside, printed_curves
from dpucbvi.studies.shared.style import thousands

EPISODES = grid(50_000)


def three_arms(**settings) -> list[StoredArm]:
    """Three curves that end apart; the first two have a printed one beside them."""
    return [
        stored_arm(
            "plain", 40.0 * EPISODES**0.5, label="UCBVI", printed="non_private", model="non_private", **settings
        ),
        stored_arm("jdp", 9.0 * EPISODES**0.7, label="DP-UCBVI", printed="jdp_eps1", epsilon=1.0, **settings),
        stored_arm("ldp", 2.0 * EPISODES, label="DP-UCBVI", model="local", epsilon=2.5, **settings),
    ]


NAMES = ["UCBVI", "DP-UCBVI, JDP ε = 1", "DP-UCBVI, LDP ε = 2.5"]


def drawn(arms: list[StoredArm], x: str = "log", y: str = "log"):
    (axes,) = STUDY.draw(stored_experiment("regret", arms, x, y)).axes
    return axes


@pytest.mark.parametrize("x", ["log", "linear"])
@pytest.mark.parametrize("y", ["log", "linear"])
def test_every_arm_has_its_curve_at_its_label(x, y):
    arms = three_arms()
    axes = drawn(arms, x, y)
    assert is_log(axes) == (x == "log", y == "log")
    curves = labelled(axes, least=len(EPISODES))
    assert list(curves) == NAMES
    for arm, name in zip(arms, NAMES, strict=True):
        np.testing.assert_array_equal(curves[name].x, EPISODES)
        np.testing.assert_allclose(curves[name].y, mean(arm), rtol=1e-12)


def test_every_mean_has_its_interval():
    arms = three_arms()
    axes = drawn(arms)
    curves, filled = labelled(axes, least=len(EPISODES)), {band.colour: band for band in bands(axes)}
    assert set(filled) == {curve.colour for curve in curves.values()}
    for arm, name in zip(arms, NAMES, strict=True):
        band = filled[curves[name].colour]
        np.testing.assert_array_equal(band.x, EPISODES)
        np.testing.assert_allclose(band.low, mean(arm) - half_width(arm), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(band.high, mean(arm) + half_width(arm), rtol=1e-9)


def test_a_single_run_has_no_interval():
    axes = drawn(three_arms(runs=1))
    assert bands(axes) == [] and list(labelled(axes, least=len(EPISODES))) == NAMES
    assert len(legend(axes)) == 2


def test_the_markers_lie_on_the_curve_and_are_those_of_the_label():
    axes = drawn(three_arms())
    curves, labels = labelled(axes, least=len(EPISODES)), end_labels(axes)
    for name, curve in curves.items():
        (marks,) = [line for line in lines(axes) if line.marker == labels[name].marker]
        assert marks.colour == curve.colour and len(marks.x) >= 4
        np.testing.assert_array_equal(marks.y, curve.y[np.searchsorted(curve.x, marks.x)])


def test_printed_curves_are_dashed_beside_their_arms():
    axes = drawn(three_arms())
    curves = labelled(axes, least=len(EPISODES))
    dashed = {line.colour: line for line in lines(axes) if len(line.x) == 7}
    assert set(dashed) == {curves[name].colour for name in NAMES[:2]}
    for name, printed in zip(NAMES[:2], ("non_private", "jdp_eps1"), strict=True):
        line = dashed[curves[name].colour]
        assert line.look == legend(axes)["printed in the paper's Figure 1"].look
        np.testing.assert_array_equal((line.x, line.y), printed_curves()[printed])


def test_the_labels_say_both_relations_and_do_not_overlap():
    axes = drawn([*three_arms(), stored_arm("again", 2.001 * EPISODES, label="Twin", epsilon=3.0)])
    labels = end_labels(axes)
    assert [label.detail for label in labels.values()] == [
        "no privacy",
        "ε = 2 if a user is replaced",
        "ε = 5 if a user is replaced",
        "ε = 6 if a user is replaced",
    ]
    boxes = [text.get_window_extent() for text in axes.texts if text.get_text() in labels]
    heights = sorted(box.y0 for box in boxes)
    assert min(np.diff(heights)) > max(box.height for box in boxes)


def one(seed: int = 0, **settings) -> StoredArm:
    run = stored_run(seed, 1.0 * grid(settings.get("K", 50_000)), **settings)
    return StoredArm("key", "key", {}, "DP-UCBVI", "jdp_eps1", None, [run])


def experiment(*arms: StoredArm) -> StoredExperiment:
    return stored_experiment("regret", list(arms))


def test_printed_curves_are_those_of_the_file():
    curves = printed_curves()
    assert set(curves) == {"non_private", "jdp_eps1", "jdp_eps2", "ldp_eps2"}
    assert (curves["jdp_eps1"].episodes[0], curves["jdp_eps1"].regret[0]) == (2000, 3330)
    assert (curves["ldp_eps2"].episodes[-1], curves["ldp_eps2"].regret[-1]) == (50_000, 15_120)


def test_a_printed_curve_goes_as_far_as_the_arm():
    assert len(printed_beside(one()).episodes) == 7
    assert printed_beside(one(K=10_000)).episodes[-1] == 10_000
    assert printed_beside(one(K=100)) is None
    assert printed_beside(one()._replace(printed=None)) is None


@pytest.mark.parametrize("change", [{"H": 10}, {"S": 5}, {"variant": "strehl_littman"}, {"name": "random"}])
def test_a_printed_curve_is_not_drawn_beside_another_environment(change):
    assert printed_beside(one(env={**RIVER, **change})) is None


def test_names_tell_what_is_certified():
    assert names(one()) == ("DP-UCBVI, JDP ε = 1", "ε = 2 if a user is replaced")
    assert names(one(model="non_private")) == ("DP-UCBVI", "no privacy")


def test_the_caption_tells_factors_only_if_they_are_not_the_papers():
    assert "actor" not in caption(experiment(one()))
    both = caption(experiment(one(bonus=0.0025, confidence=0.01), one(bonus=0.5, confidence=0.01)))
    assert "Factors: bonus × 0.0025 to 0.5, $E$ × 0.01 (1 in the paper)." in both
    assert "$E$" not in caption(experiment(one(model="non_private", bonus=0.1)))
    assert "if a user is added or removed" in both


def test_the_title_names_an_environment_only_if_all_arms_share_it():
    assert setting(experiment(one())) == "Regret on RiverSwim, $S=6$, $A=2$, $H=20$"
    assert "several" in setting(experiment(one(), one(env={**RIVER, "variant": "strehl_littman"})))


def test_title_and_caption_are_on_the_figure():
    made = experiment(*three_arms())
    words = said(STUDY.draw(made))
    assert setting(made) in words and caption(made) in words and "3 runs of each arm." in words


def test_a_mean_over_different_settings_is_refused():
    first, second = one(0).runs[0], one(1).runs[0]
    arm = one()
    check_same_grid(experiment(arm._replace(runs=[first, second])))
    with pytest.raises(AssertionError, match="different settings"):
        STUDY.draw(experiment(arm._replace(runs=[first, one(1, bonus=0.5).runs[0]])))
    with pytest.raises(AssertionError, match="a seed twice"):
        STUDY.draw(experiment(arm._replace(runs=[first, first])))


def test_ticks_count_in_thousands():
    assert [thousands(x, None) for x in (0.0, 500.0, 5000.0, 12_500.0)] == ["0", "500", "5k", "12.5k"]
    axes = drawn(three_arms(), "linear", "linear")
    assert axes.xaxis.get_major_formatter()(5000.0) == axes.yaxis.get_major_formatter()(5000.0) == "5k"


def test_spread_moves_only_what_overlaps():
    np.testing.assert_allclose(spread(np.array([5.0, 0.0, 5.2]), 1.0, -9, 9), [4.6, 0.0, 5.6])


def test_spread_keeps_order_gap_and_bounds():
    rng = np.random.default_rng(0)
    for _ in range(200):
        wanted = rng.uniform(0, 1, size=rng.integers(1, 8))
        placed = spread(wanted, 0.1, 0.0, 1.0)
        order = np.argsort(wanted)
        assert (np.diff(placed[order]) > 0.1 - 1e-12).all()
        assert placed.min() >= -1e-12 and placed.max() <= 1.0 + 1e-12


def test_the_table_has_a_row_per_arm():
    arms = [stored_arm("two", 1000.0, runs=2), stored_arm("one", 3.25, runs=1, model="non_private")]
    header, *rows = STUDY.table(experiment(*arms))
    assert header[-2:] == ("ε (a user added or removed)", "ε (replaced)")
    # 930 and 1010: t₀.₉₇₅ with 1 degree of freedom times s/√2 = 40
    assert rows[0] == ("two", "970", "508", "JDP", "1", "2")
    assert rows[1] == ("one", "3.02", "-", "none", "∞", "∞")
    first, second, _ = aligned([header, *rows]).splitlines()
    assert first.endswith("ε (replaced)") and second.endswith("           2") and len(first) == len(second)
