"""What a figure says is true of the runs it draws."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from dpucbvi import drawing
from dpucbvi.drawing.end_labels import spread
from dpucbvi.drawing.regret import caption, check_same_grid, draw_regret, names, printed_beside, setting
from dpucbvi.figures import KINDS
from dpucbvi.printed import printed_curves
from dpucbvi.store import StoredArm, StoredExperiment, StoredRun
from dpucbvi.tables import table
from dpucbvi.trace import Trace

ENV = {"name": "riverswim", "S": 6, "H": 20, "variant": "chowdhury_zhou", "rewards": "deterministic"}


def test_the_kinds_are_what_can_be_drawn():
    stems = [path.stem for path in Path(drawing.__path__[0]).glob("*.py")]
    can = {stem for stem in stems if hasattr(import_module(f"dpucbvi.drawing.{stem}"), f"draw_{stem}")}
    assert can - {"end_labels"} == set(KINDS)


def stored(seed=0, slope=1.0, env=ENV, K=50_000, private=True, bonus=1.0, confidence=1.0) -> StoredRun:
    config = {
        "env": env,
        "K": K,
        "seed": seed,
        "privatizer": {"name": "central" if private else "non_private"},
        "bonus": {"scale": bonus},
        "confidence": {"scale": confidence},
    }
    episodes = np.unique(np.geomspace(1, K, 50).astype(np.int64))
    zeros = np.zeros_like(episodes)
    trace = Trace(episodes, slope * episodes, zeros, zeros, np.zeros((20, 6, 2)), np.zeros((20, 6, 2)), {})
    epsilons = {"add_remove": 1.0, "replace_one": 2.0} if private else {"add_remove": None, "replace_one": None}
    return StoredRun(config, {"certificate": {"model": "JDP" if private else "none", **epsilons}}, trace)


def arm(*runs: StoredRun, printed: str | None = None) -> StoredArm:
    return StoredArm("key", "key", {}, "DP-UCBVI", printed, None, list(runs))


def experiment(*arms: StoredArm, **axes: str) -> StoredExperiment:
    return StoredExperiment("name", {"kind": "regret", "x": "log", "y": "log", **axes}, list(arms))


def test_printed_curves_are_those_of_the_file():
    curves = printed_curves()
    assert set(curves) == {"non_private", "jdp_eps1", "jdp_eps2", "ldp_eps2"}
    assert (curves["jdp_eps1"].episodes[0], curves["jdp_eps1"].regret[0]) == (2000, 3330)
    assert (curves["ldp_eps2"].episodes[-1], curves["ldp_eps2"].regret[-1]) == (50_000, 15_120)


def test_a_printed_curve_goes_as_far_as_the_arm():
    assert len(printed_beside(arm(stored(), printed="jdp_eps1")).episodes) == 7
    assert printed_beside(arm(stored(K=10_000), printed="jdp_eps1")).episodes[-1] == 10_000
    assert printed_beside(arm(stored(K=100), printed="jdp_eps1")) is None


@pytest.mark.parametrize("change", [{"H": 10}, {"S": 5}, {"variant": "strehl_littman"}, {"name": "random"}])
def test_a_printed_curve_is_not_drawn_beside_another_environment(change):
    assert printed_beside(arm(stored(env={**ENV, **change}), printed="jdp_eps1")) is None


def test_names_tell_what_is_certified():
    assert names(arm(stored())) == ("DP-UCBVI, JDP ε = 1", "ε = 2 if a user is replaced")
    assert names(arm(stored(private=False))) == ("DP-UCBVI", "no privacy")


def test_the_caption_tells_scales_only_if_they_are_not_the_papers():
    assert "caled" not in caption(experiment(arm(stored())))
    both = caption(
        experiment(arm(stored(bonus=0.0025, confidence=0.01)), arm(stored(bonus=0.5, confidence=0.01)))
    )
    assert "bonus × 0.0025 to 0.5" in both and "$E$ × 0.01 (" in both
    assert "$E$" not in caption(experiment(arm(stored(private=False, bonus=0.1))))


def test_the_title_names_an_environment_only_if_all_arms_share_it():
    assert setting(experiment(arm(stored()))) == "Regret on RiverSwim, $S=6$, $A=2$, $H=20$"
    other = arm(stored(env={**ENV, "variant": "strehl_littman"}))
    assert "several" in setting(experiment(arm(stored()), other))


def test_a_mean_over_different_settings_is_refused():
    check_same_grid(experiment(arm(stored(0), stored(1))))
    with pytest.raises(AssertionError, match="different settings"):
        check_same_grid(experiment(arm(stored(0), stored(1, bonus=0.5))))
    with pytest.raises(AssertionError, match="a seed twice"):
        check_same_grid(experiment(arm(stored(0), stored(0))))


@pytest.mark.parametrize("axis", ["log", "linear"])
@pytest.mark.parametrize("runs", [1, 3])
def test_it_draws_one_line_per_arm_and_printed_curve(axis, runs):
    arms = [
        arm(*(stored(seed, slope) for seed in range(runs)), printed="jdp_eps1") for slope in (0.0, 1.0, 1.0)
    ]
    figure = draw_regret(experiment(*arms, x=axis, y=axis))
    (axes,) = figure.axes
    curves = [
        line for line in axes.lines if line.get_transform() == axes.transData and len(line.get_xdata()) == 7
    ]
    assert len(curves) == 3
    labels = [text for text in axes.texts if text.get_text().startswith("DP-UCBVI")]
    heights = sorted(text.get_window_extent().y0 for text in labels)
    assert len(labels) == 3
    assert min(np.diff(heights)) > max(text.get_window_extent().height for text in labels)


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
    rows = table(experiment(arm(stored(0), stored(1)), arm(stored(private=False)))).splitlines()
    assert rows[1].split() == ["key", "50,000", "0", "JDP", "1", "2"]
    assert rows[2].split() == ["key", "50,000", "-", "none", "∞", "∞"]
