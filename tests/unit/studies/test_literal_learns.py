"""The smallest river with the printed constants: the stored regret at the right label, and its table."""

import numpy as np
import pytest
from drawn import bands, end_labels, is_log, labelled
from made_up import RIVER, grid, half_width, mean, stored_arm, stored_experiment
from mutants import test_no_falsified_figure_passes, test_no_falsified_file_passes  # noqa: F401  (they run here)

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


def slope(arm: StoredArm) -> str:
    last = EPISODES >= K / np.sqrt(10)
    fits = [np.polyfit(np.log(EPISODES[last]), np.log(run.trace.regret[last]), 1)[0] for run in arm.runs]
    return f"{np.mean(fits):.2f} ± {4.302652729911275 * np.std(fits, ddof=1) / np.sqrt(3):.2f}"


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(experiment())


def test_every_arm_has_its_regret_with_its_interval_and_its_slope(figure):
    (axes,) = figure.axes
    assert is_log(axes) == (True, True)
    curves, labels, filled = labelled(axes), end_labels(axes), bands(axes)
    assert list(curves) == list(POWERS)
    for arm, (name, line), band in zip(arms(), curves.items(), filled, strict=True):
        np.testing.assert_array_equal(line.x, EPISODES)
        np.testing.assert_allclose(line.y, mean(arm), rtol=1e-12)
        np.testing.assert_allclose(band.low, mean(arm) - half_width(arm), rtol=1e-9)
        np.testing.assert_allclose(band.high, mean(arm) + half_width(arm), rtol=1e-9)
        assert band.colour == line.colour and labels[name].detail == f"slope {slope(arm)}"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return STUDY.report(experiment(), tmp_path_factory.mktemp("report"), {}.get)


def test_the_report_says_what_an_episode_still_costs_and_when_a_bonus_is_below_H(report):
    text = report[0].read_text()
    _, _, *rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    kinds = [None, ("central", 10.0, False), ("local", 3.0, False), ("central", 40.0, True)]
    shown = np.flatnonzero(EPISODES >= 1000)  # the grid is coarser than the windows: each is one step of it
    for row, name, arm, kind in zip(rows, POWERS, arms(), kinds, strict=True):
        first, last = (
            (mean(arm)[i + 1] - mean(arm)[i]) / (EPISODES[i + 1] - EPISODES[i]) for i in shown[[0, -2]]
        )
        needed = "-"
        if kind is not None:
            model, epsilon, pooled = kind
            setup = literal_setup({"env": ENV, "beta": 0.05}, pooled, model, epsilon)
            needed = f"{episodes_needed(setup, 2.0):,}"
        assert row == [name, f"{mean(arm)[-1]:,.0f}", slope(arm), needed, f"{first:.1g}", f"{last:.1g}"]


def test_regret_per_episode():
    k = grid(50_000)
    at, rate = per_episode(stored_arm("a", k**2.0, runs=1, env=ENV))
    shape = 1 + SPREAD * np.interp(at, k, np.linspace(0.5, 1.0, len(k)))
    np.testing.assert_allclose(rate, 2 * at * shape, rtol=0.1)


SPREAD = -0.07  # of the first run that is made up


def test_an_arm_with_a_factor_is_refused():
    with pytest.raises(AssertionError, match="a factor is not 1"):
        STUDY.draw(stored_experiment("literal_learns", [stored_arm("a", 1.0, env=ENV, confidence=0.1)]))
