"""The smallest river with the printed constants: both panels show the stored regret, at the right label."""

from itertools import pairwise

import numpy as np
import pytest
from drawn import at_edge, bands, end_labels, is_log, labelled, lines
from made_up import RIVER, grid, half_width, mean, stored_arm, stored_experiment
from matplotlib.colors import to_hex
from mutants import test_no_falsified_figure_passes  # noqa: F401  (they run here)

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.literal import episodes_needed, literal_setup
from experiments.studies.literal_learns import STUDY, per_episode

ENV = {**RIVER, "S": 2, "H": 2}
K = 10_000_000
EPISODES = grid(K).astype(float)
POWERS = {"UCBVI, not private": 0.1, "JDP ε = 10": 0.8, "LDP ε = 3": 1.0, "JDP ε = 40, pooled": 0.6}


def arms() -> list[StoredArm]:
    settings = [
        {"label": "UCBVI", "agent": "ucbvi_bf", "model": "non_private"},
        {"label": "DP-UCBVI", "epsilon": 10.0},
        {"label": "DP-UCBVI", "epsilon": 3.0, "model": "local"},
        {"label": "DP-UCBVI, pooled", "epsilon": 40.0, "pooled": True},
    ]
    return [
        stored_arm(f"arm{i}", 0.3 * EPISODES**power + np.minimum(EPISODES, 1e6), K=K, env=ENV, **own)
        for i, (power, own) in enumerate(zip(POWERS.values(), settings, strict=True))
    ]


def experiment() -> StoredExperiment:
    return stored_experiment("literal_learns", arms())


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(experiment())


def test_every_arm_has_its_regret_with_its_interval_on_the_left(figure):
    left, right = figure.axes
    assert is_log(left) == (True, True)
    labels, filled = end_labels(right), bands(left)
    assert list(labels) == list(POWERS) and len(filled) == len(POWERS)
    drawn = zip(arms(), labels.values(), lines(left, 2), filled, strict=True)
    for arm, label, line, band in drawn:
        assert line.colour == label.colour == band.colour
        np.testing.assert_array_equal(line.x, EPISODES)
        np.testing.assert_allclose(line.y, mean(arm), rtol=1e-12)
        np.testing.assert_allclose(band.low, mean(arm) - half_width(arm), rtol=1e-9)
        np.testing.assert_allclose(band.high, mean(arm) + half_width(arm), rtol=1e-9)


def test_every_arm_has_its_regret_of_one_episode_on_the_right(figure):
    right = figure.axes[1]
    assert is_log(right) == (True, True)
    for arm, line in zip(arms(), labelled(right).values(), strict=True):
        at = {float(k): i for i, k in enumerate(EPISODES)}
        edges = [k for k in at if k >= 1000]  # the grid is coarser than the windows: each is one step of it
        middles = [np.sqrt(a * b) for a, b in pairwise(edges)]
        rates = [(mean(arm)[at[b]] - mean(arm)[at[a]]) / (b - a) for a, b in pairwise(edges)]
        np.testing.assert_allclose(line.x, middles, rtol=1e-12)
        np.testing.assert_allclose(line.y, rates, rtol=1e-6)


def test_a_linear_and_a_flattening_curve_are_told_apart(figure):
    last = EPISODES >= K / np.sqrt(10)
    for arm, label in zip(arms(), end_labels(figure.axes[1]).values(), strict=True):
        fits = [np.polyfit(np.log(EPISODES[last]), np.log(run.trace.regret[last]), 1)[0] for run in arm.runs]
        half = 4.302652729911275 * np.std(fits, ddof=1) / np.sqrt(3)
        assert label.detail == f"slope {np.mean(fits):.2f} ± {half:.2f}"


def test_a_pin_marks_the_K_from_which_the_bonus_is_below_H(figure):
    right = figure.axes[1]
    colours = {name: label.colour for name, label in end_labels(right).items()}
    found = [(colour, float(x[0])) for x, _, colour in at_edge(right)]
    wanted = {"JDP ε = 10": ("central", 10.0, False), "LDP ε = 3": ("local", 3.0, False)}
    wanted["JDP ε = 40, pooled"] = ("central", 40.0, True)
    pins = [line for line in right.lines if line.get_transform() == right.get_xaxis_transform()]
    labels = end_labels(right)
    assert [pin.get_marker() for pin in pins] == [labels[name].marker for name in wanted]
    hollow = [to_hex(pin.get_markerfacecolor()) == "#ffffff" for pin in pins]
    assert hollow == [name.endswith("pooled") for name in wanted]  # as in all other figures
    assert found == [
        (
            colours[name],
            episodes_needed(literal_setup({"env": ENV, "beta": 0.05}, pooled, model, epsilon), 2.0),
        )
        for name, (model, epsilon, pooled) in wanted.items()
    ]


def test_the_words(figure):
    titles = [axes.get_title("left") for axes in figure.axes]
    assert titles == ["(a) paid so far", "(b) still paid in an episode"]
    assert [axes.get_ylabel() for axes in figure.axes] == ["cumulative regret", "regret of one episode"]
    words = STUDY.caption(experiment())
    assert "S = 2, A = 2, H = 2" in words and "mean of 3 runs" in words


def test_regret_per_episode():
    k = np.arange(1.0, 1001.0)
    at, rate = per_episode(k, np.array([3 * k, k**2]), 10.0)
    np.testing.assert_allclose(rate[0], 3.0)
    np.testing.assert_allclose(rate[1], 2 * at, rtol=0.05)


def test_an_episode_without_regret_is_drawn_at_the_floor():
    flat = stored_arm(
        "UCBVI", np.minimum(EPISODES, 5e3), K=K, env=ENV, model="non_private", runs=1, agent="ucbvi_bf"
    )
    _, right = STUDY.draw(stored_experiment("literal_learns", [flat])).axes
    (line,) = labelled(right).values()
    assert line.y.min() >= 1e-8 and line.y[-1] < 1e-4


def test_an_arm_with_a_factor_is_refused():
    with pytest.raises(AssertionError, match="a factor is not 1"):
        STUDY.draw(stored_experiment("literal_learns", [stored_arm("a", 1.0, env=ENV, confidence=0.1)]))
