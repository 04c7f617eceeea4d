"""What privacy costs: the longest runs on the left, the cost at the end of every run on the right."""

import numpy as np
import pytest
from drawn import bands, end_labels, is_log, labelled, lines
from made_up import grid, mean, stored_arm, stored_experiment
from mutants import test_no_falsified_figure_passes  # noqa: F401  (they run here)

from dpucbvi.stats import bootstrap
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.privacy_for_free import STUDY, episodes_until_free

STEPS = {"counts per step": (16_000, 1000, 4000), "pooled counts": (1000, 4000, 16_000, 64_000)}
# What privacy adds to UCBVI's 3 k^0.4, by model and ε.
ADDED = {
    ("central", 10.0): lambda k: 900.0 * np.tanh(k / 900.0),
    ("central", 100.0): lambda k: 200.0 * np.tanh(k / 300.0),
    ("local", 10.0): lambda k: 60.0 * k**0.5,
    ("local", 100.0): lambda k: 7.0 * k**0.5,
}
NAMES = {
    ("central", 10.0): "JDP ε = 10",
    ("central", 100.0): "JDP ε = 100",
    ("local", 10.0): "LDP ε = 10",
    ("local", 100.0): "LDP ε = 100",
}


def own(panel: str, K: int, which: tuple[str, float] | None = None) -> StoredArm:
    k, level = grid(K), 1.0 if panel == "counts per step" else 0.6
    regret = 3.0 * k**0.4 + (ADDED[which](k) if which else 0.0)
    model, epsilon = which or ("non_private", 1.0)
    settings = {"panel": panel, "K": K, "model": model, "epsilon": epsilon, "point": {"K": K}}
    return stored_arm("ucbvi" if which is None else model, level * regret, label="UCBVI", **settings)


def experiment() -> StoredExperiment:
    arms = [own(panel, K, which) for panel, Ks in STEPS.items() for which in (None, *ADDED) for K in Ks]
    return stored_experiment("privacy_for_free", arms)


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(experiment())


@pytest.mark.parametrize("row", [0, 1])
def test_the_longest_runs_are_on_the_left(figure, row):
    axes, panel = figure.axes[2 * row], list(STEPS)[row]
    assert axes.get_title("left") == f"Regret, {panel}" and is_log(axes) == (True, True)
    K = max(STEPS[panel])
    curves = labelled(axes)
    assert list(curves) == ["UCBVI", *NAMES.values()]
    filled = bands(axes)
    assert len(filled) == len(curves)
    for which, (name, line), band in zip((None, *ADDED), curves.items(), filled, strict=True):
        arm = own(panel, K, which)
        np.testing.assert_array_equal(line.x, grid(K))
        np.testing.assert_allclose(line.y, mean(arm), rtol=1e-12, err_msg=name)
        assert band.colour == line.colour
        _, low, high = bootstrap(arm.regret)
        np.testing.assert_allclose(band.low, np.maximum(low, 1e-3 * mean(arm)), rtol=1e-9)
        np.testing.assert_allclose(band.high, high, rtol=1e-9)


def excess(panel: str, which: tuple[str, float]) -> np.ndarray:
    """[run, K], run by run beyond UCBVI with the same seed."""
    pairs = [(own(panel, K, which).runs, own(panel, K).runs) for K in sorted(STEPS[panel])]
    return np.array(
        [[a.trace.regret[-1] - b.trace.regret[-1] for a, b in zip(*p, strict=True)] for p in pairs]
    ).T


@pytest.mark.parametrize("row", [0, 1])
def test_the_costs_are_on_the_right(figure, row):
    axes, panel = figure.axes[2 * row + 1], list(STEPS)[row]
    assert is_log(axes) == (True, True)
    curves, labels = labelled(axes), end_labels(axes)
    assert list(curves) == list(NAMES.values())
    filled = bands(axes)
    assert len(filled) == len(curves)
    for which, band in zip(ADDED, filled, strict=True):
        line, cost = curves[NAMES[which]], excess(panel, which)
        wanted, low, high = cost.mean(axis=0), *bootstrap(cost)[1:]
        np.testing.assert_array_equal(line.x, sorted(STEPS[panel]))
        np.testing.assert_allclose(line.y, wanted, rtol=1e-9)
        np.testing.assert_allclose(band.low, np.maximum(low, 1e-3 * wanted), rtol=1e-9)
        np.testing.assert_allclose(band.high, high, rtol=1e-9)
        assert line.marker == labels[NAMES[which]].marker != ""
        K = np.array(sorted(STEPS[panel]), dtype=float)
        last = K >= K[-1] / 16.0
        slopes = np.array([np.polyfit(np.log(K[last]), np.log(run[last]), 1)[0] for run in cost])
        half = 4.302652729911275 * slopes.std(ddof=1) / np.sqrt(3)
        assert labels[NAMES[which]].detail == f"slope {slopes.mean():.2f} ± {half:.2f}"
    assert axes.get_title("left") == f"At the end, {panel}"


@pytest.mark.parametrize("row", [0, 1])
def test_the_guide_has_slope_one_half(figure, row):
    axes = figure.axes[2 * row + 1]
    named = {line.colour for line in labelled(axes).values()}
    (guide,) = [line for line in lines(axes, 2) if line.colour not in named]
    assert np.polyfit(np.log(guide.x), np.log(guide.y), 1)[0] == pytest.approx(0.5)
    (name,) = [text.get_text() for text in axes.texts if text.xy == guide.end]
    assert guide.y.min() > 0 and name == r"$\sqrt{K}$"


def test_the_threshold_is_the_papers():
    K = episodes_until_free(10.0, S=6, A=2, H=20)
    assert 6**1.5 * 2**0.5 * 20**2 / np.sqrt(K * 20) == pytest.approx(10.0)
