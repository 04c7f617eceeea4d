"""The figure for any experiment: what it draws and says is true of the runs."""

import numpy as np
import pytest
from drawn import bands, end_labels, is_log, labelled, legend, lines, said
from made_up import RIVER, grid, mean, stored_arm, stored_experiment, stored_run

import dpucbvi as dp
from dpucbvi.stats import bootstrap
from experiments import studies
from experiments.lab.runner import learnt_nothing
from experiments.lab.store import StoredArm, StoredExperiment, results
from experiments.studies.regret import STUDY
from experiments.studies.shared.arms import check_same_grid, names
from experiments.studies.shared.printed import printed_beside, printed_curves
from experiments.studies.shared.tables import aligned

EPISODES = grid(50_000)
UNIFORM = "uniform policy (the best policy has 0)"


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


def drawn(arms: list[StoredArm]):
    (axes,) = STUDY.draw(stored_experiment("regret", arms)).axes
    return axes


def test_every_arm_has_its_curve_at_its_label():
    arms = three_arms()
    axes = drawn(arms)
    assert is_log(axes) == (True, True)
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
        _, low, high = bootstrap(arm.regret)
        np.testing.assert_allclose([band.low, band.high], [low, high], rtol=1e-9, atol=1e-9)


def test_printed_curves_are_dashed_beside_their_arms():
    axes = drawn(three_arms())
    curves = labelled(axes, least=len(EPISODES))
    dashed = {line.colour: line for line in lines(axes) if len(line.x) == 7}
    assert set(dashed) == {curves[name].colour for name in NAMES[:2]}
    for name, printed in zip(NAMES[:2], ("non_private", "jdp_eps1"), strict=True):
        line = dashed[curves[name].colour]
        assert line.look == legend(axes)["reported in the paper's Figure 1"].look
        np.testing.assert_array_equal((line.x, line.y), printed_curves()[printed])


def one(seed: int = 0, **settings) -> StoredArm:
    run = stored_run(seed, 1.0 * grid(settings.get("K", 50_000)), **settings)
    return StoredArm("key", "key", {}, "DP-UCBVI", "jdp_eps1", None, [run])


def experiment(*arms: StoredArm) -> StoredExperiment:
    return stored_experiment("regret", list(arms))


@pytest.mark.parametrize("change", [{"H": 10}, {"S": 5}, {"variant": "strehl_littman"}, {"name": "random"}])
def test_a_printed_curve_is_not_drawn_beside_another_environment(change):
    assert printed_beside(one(env={**RIVER, **change})) is None


def test_names_tell_what_is_certified():
    assert names([one()]) == [("DP-UCBVI, JDP ε = 1", "ε = 2 if a user is replaced")]
    assert names([one(model="non_private")]) == [("DP-UCBVI", "no privacy")]
    told = names([one(model="toeplitz", epsilon=1000.0, delta=1e-6)])
    assert told == [("DP-UCBVI, JDP ε = 600", "ε = 1,000 if a user is replaced, δ = 1e-6")]


def grid_of(key: str, values: list, name: str, **settings) -> list[StoredArm]:
    """Arms without a label at the points of a grid over one setting."""
    return [
        stored_arm("dp_ucbvi", (1.0 + i) * EPISODES**0.6, point={key: value}, **{name: value}, **settings)
        for i, value in enumerate(values)
    ]


def test_arms_of_a_grid_are_told_apart_by_it():
    factors = names(grid_of("bonus.scale", [1e-6, 0.001, 1.0], "bonus"))
    assert [name for name, _ in factors] == [
        "DP-UCBVI, JDP ε = 1, bonus × 1e-6",
        "DP-UCBVI, JDP ε = 1, bonus × 0.001",
        "DP-UCBVI, JDP ε = 1, bonus × 1",
    ]
    epsilons = names(grid_of("privatizer.epsilon", [0.5, 1000.0], "epsilon"))
    assert [name for name, _ in epsilons] == ["DP-UCBVI, JDP ε = 0.5", "DP-UCBVI, JDP ε = 1,000"]


def test_the_uniform_policy_is_drawn_beside_them():
    """RiverSwim: it loses 3.3973 - 0.0438 in every episode (tests of the environments and of Table 1)."""
    axes = drawn(three_arms())
    (line,) = [line for line in lines(axes) if line.look == legend(axes)[UNIFORM].look]
    np.testing.assert_allclose(line.y, (3.3973 - 0.0438) * line.x, rtol=1e-4)
    assert line.x[-1] == 50_000


def test_an_arm_that_learnt_nothing_says_so():
    H = np.full((20, 6, 2), 20.0)
    lost = stored_arm("lost", 2.0 * EPISODES, Q=H)
    capped = stored_arm("capped", 2.1 * EPISODES, Q=np.arange(20, 0, -1.0)[:, None, None] * np.ones((1, 6, 2)))
    won = stored_arm("won", 1.0 * EPISODES, Q=np.where(np.arange(2) == 1, 19.9, H))
    axes = drawn([lost, capped, won])
    details = [label.detail for label in end_labels(axes).values()]
    assert [detail.endswith("; nothing was learnt") for detail in details] == [True, True, False]


@pytest.mark.parametrize("known", [0, 1], ids=["unknown", "partly unknown"])
def test_where_Q_is_not_known_nothing_is_said_of_what_was_learnt(known):
    """Results that ship have a Q of nan."""
    H = np.full((20, 6, 2), 20.0)
    arm = stored_arm("shipped", 2.0 * EPISODES, Q=H)
    bare = [run._replace(trace=run.trace._replace(Q=np.full_like(H, np.nan))) for run in arm.runs[known:]]
    arm = arm._replace(runs=[*arm.runs[:known], *bare])
    assert [run.trace.learnt for run in arm.runs] == [False] * known + [None] * len(bare)
    experiment = stored_experiment("regret", [arm])
    assert learnt_nothing(experiment) == []
    assert "learnt" not in said(dp.plot(results(experiment)))


def test_plot_draws_runs_by_their_names(tmp_path):
    river = dp.riverswim(S=3, H=4)
    one, two = (
        dp.run(river, dp.DPUCBVI(), dp.Central(epsilon=e), K=6, seed=range(3), engine="reference")
        for e in (1, 10)
    )
    figure = dp.plot({"mine": one, "hers": two}, river, tmp_path / "both.png")
    curves = labelled(figure.axes[0], least=6)
    assert list(curves) == ["mine, JDP ε = 1", "hers, JDP ε = 10"]
    np.testing.assert_allclose(curves["hers, JDP ε = 10"].y, two.regret.mean(axis=0))
    assert "Regret on riverswim-chowdhury_zhou, $S=3$, $A=2$, $H=4$" in said(figure)
    assert (tmp_path / "both.png").stat().st_size > 10_000
    assert UNIFORM in legend(figure.axes[0]) and UNIFORM not in legend(dp.plot(one).axes[0])
    assert is_log(figure.axes[0]) == (True, True)
    assert is_log(dp.plot(one, x="linear").axes[0]) == (False, True)
    (linear,) = dp.plot(one, river, y="linear").axes
    assert is_log(linear) == (True, False) and "the axis is the best policy's" in " ".join(legend(linear))
    for wrong in ({}, {"a": one.runs[0]}, one.runs[0]):
        with pytest.raises(dp.InputError, match="plot: it takes runs over several seeds"):
            dp.plot(wrong)
    with pytest.raises(dp.InputError, match="y: 'cubic' is not one of log, linear"):
        dp.plot(one, y="cubic")


def test_a_mean_over_different_settings_is_refused():
    first, second = one(0).runs[0], one(1).runs[0]
    arm = one()
    check_same_grid(experiment(arm._replace(runs=[first, second])))
    with pytest.raises(AssertionError, match="different settings"):
        studies.drawn(experiment(arm._replace(runs=[first, one(1, bonus=0.5).runs[0]])))
    with pytest.raises(AssertionError, match="a seed twice"):
        studies.drawn(experiment(arm._replace(runs=[first, first])))


def test_the_table_has_a_row_per_arm():
    told = {"bonus": 0.01, "confidence": 0.5, "pooled": True, "epsilon": 1000.0}
    arms = [stored_arm("two", 1000.0, runs=2, **told), stored_arm("one", 3.25, runs=1, model="non_private")]
    header, *rows = STUDY.table(experiment(*arms))
    assert header[-3:] == ("δ", "ε (a user added or removed)", "ε (replaced)")
    # 930 and 1010: a quarter of all resamples is the lower one twice, a quarter the higher one
    assert rows[0] == ("two", "970 (930 to 1,010)", "0.01", "0.5", "pooled", "JDP", "0", "1,000", "2,000")
    assert rows[1] == ("one", "3.02", "1", "-", "per step", "none", "0", "∞", "∞")
    first, second, _ = aligned([header, *rows]).splitlines()
    assert first.endswith("ε (replaced)") and second.endswith("       2,000") and len(first) == len(second)
