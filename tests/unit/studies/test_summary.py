"""README's picture, from runs that are made up: every mark, tick, interval and number in it is theirs."""

import numpy as np
import pytest
from drawn import across, is_log, lines
from made_up import grid, stored_arm, stored_experiment
from mutants import test_no_falsified_figure_passes  # noqa: F401  (it runs here)

from dpucbvi import riverswim
from dpucbvi.drawing.style import BLACK, BLUE, VERMILLION
from dpucbvi.planning import uniform_loss
from dpucbvi.stats import bootstrap
from experiments.studies.artifact.figures import draw_summary as draw
from experiments.studies.shared.printed import printed_bands, printed_curves

CURVES = ("jdp_eps1", "jdp_eps2", "ldp_eps2", "non_private")
MODELS = {"jdp": ("central", "batches"), "ldp": ("local", "one_question"), "non": ("non_private",) * 2}
LEVELS = {"proven": 120_000.0, "others": 3000.0}
SPREAD = (-0.07, 0.01, 0.09, 0.03)


def made(panel: str, curve: str, regret: float, label: str = "DP-UCBVI"):
    model = MODELS[curve[:3]][panel == "others"]
    epsilon = float(curve[-1]) if curve[-1].isdigit() else 1.0
    settings = {"label": label, "panel": panel, "printed": curve, "model": model, "epsilon": epsilon}
    return stored_arm(f"{panel}_{label}_{curve}", regret * grid(50_000) / 50_000, runs=4, **settings)


@pytest.fixture(scope="module")
def experiment():
    """Figure 1 with a level of its own for every arm, and the arms that are not to be drawn."""
    arms = [made(p, c, level * (1 + i / 9)) for p, level in LEVELS.items() for i, c in enumerate(CURVES)]
    arms += [made("proven", "jdp_eps1", 7e4, "Private-UCB-VI"), made("fitted", "jdp_eps1", 6000.0)]
    return stored_experiment("riverswim", arms)


def pooled(of: str, epsilon: float, regret: float):
    model = "local" if "local" in of else "central"
    return stored_arm(of, regret, panel="pooled", model=model, epsilon=epsilon, replaced=True, runs=4)


HOLLOW = {"jdp_eps1": 90_000.0, "jdp_eps2": 50_000.0, "ldp_eps2": 80_000.0}


@pytest.fixture(scope="module")
def figure(experiment):
    arms = [pooled("pooled_paper", e, regret) for e, regret in ((1, 9e4 + 1), (2, 9e4), (4, 5e4), (8, 2e4))]
    arms += [pooled("pooled_local_paper", 4, 8e4), pooled("pooled_batches", 2, 4e3)]
    return draw(experiment, stored_experiment("mechanisms", arms))


def runs_of(level: float) -> np.ndarray:
    return level * (1.0 + np.array(SPREAD))


@pytest.mark.parametrize(("row", "curve"), list(enumerate(CURVES)))
def test_every_row_has_the_reported_value_and_the_runs_of_its_arms(figure, row, curve):
    (axes,) = figure.axes
    marks = [line for line in lines(axes) if abs(line.y[0] - row) < 0.5]
    drawn = [(BLACK, None, False)]
    drawn += [(VERMILLION, HOLLOW[curve], True)] if curve in HOLLOW else []
    drawn += [
        (VERMILLION, LEVELS["proven"] * (1 + row / 9), False),
        (BLUE, LEVELS["others"] * (1 + row / 9), False),
    ]
    found = {}
    for line in marks:
        kind = "runs" if line.marker == "|" else "interval" if line.marker == "None" else "mean"
        found.setdefault((line.colour, kind, kind == "mean" and not line.filled), []).append(line)
    for hue, level, hollow in drawn:
        hue = hue.lower()
        if level is None:
            numbers = [printed_curves()[curve].regret[-1], *printed_bands()[curve]]
        else:
            runs = runs_of(level)
            numbers = [runs.mean(), *(float(end[0]) for end in bootstrap(runs[:, None])[1:])]
            assert any(np.allclose(line.x, runs) for line in found[hue, "runs", False])
        (mean,) = found[hue, "mean", hollow]
        np.testing.assert_allclose(mean.x, numbers[0])
        assert any(np.allclose(line.x, numbers[1:]) for line in found[hue, "interval", False])
    lanes = {line.y[0] - row for line in marks}
    assert sorted(lanes) == pytest.approx([-0.27, 0.0, 0.27])
    order = [line.y[0] for hue in (BLACK, VERMILLION, BLUE) for line in found[hue.lower(), "mean", False]]
    assert order == sorted(order) and all(len(set(line.y)) == 1 for line in marks)
    count = {BLACK: 1, VERMILLION: 1 + (curve in HOLLOW), BLUE: 1}
    assert len(marks) == sum(3 * n for n in count.values()) - 1  # the paper shows no runs


def test_every_mark_has_its_number_and_the_first_row_its_words(figure):
    (axes,) = figure.axes
    texts = {text.get_text(): (text.get_color(), text.xy) for text in axes.texts}
    for row, curve in enumerate(CURVES):
        told = {
            f"{printed_curves()[curve].regret[-1]:,.0f}": (BLACK, -0.27),
            f"{np.mean(runs_of(LEVELS['proven'] * (1 + row / 9))):,.0f}": (VERMILLION, 0.0),
            f"{np.mean(runs_of(LEVELS['others'] * (1 + row / 9))):,.0f}": (BLUE, 0.27),
        }
        for number, (hue, lane) in told.items():
            assert texts[number][0] == hue and texts[number][1][1] == pytest.approx(row + lane)
    words = {"reported": BLACK, "Section 5's noise": VERMILLION, "pooled": VERMILLION, "other mechanisms": BLUE}
    assert {word: texts[word][0] for word in words} == words
    assert {round(texts[word][1][1], 6) for word in words} == {-0.27, 0.0, 0.27}
    assert texts["pooled"][1][0] == pytest.approx(np.mean(runs_of(HOLLOW["jdp_eps1"])))
    assert len(texts) == 3 * len(CURVES) + len(words) + 1 and "random actions" in texts


def test_axes_and_guide(figure):
    (axes,) = figure.axes
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == ["JDP\nε = 1", "JDP\nε = 2", "LDP\nε = 2", "not\nprivate"]
    assert list(axes.get_yticks()) == [0, 1, 2, 3] and axes.yaxis_inverted()
    assert is_log(axes) == (True, False) and axes.get_xlabel() == "regret after 50,000 episodes"
    assert across(axes)["x"] == pytest.approx([50_000 * uniform_loss(riverswim())])


def test_a_row_without_its_arm_is_an_error(experiment):
    fewer = [arm for arm in experiment.arms if arm.key != "others_DP-UCBVI_ldp_eps2"]
    with pytest.raises(AssertionError):
        draw(experiment._replace(arms=fewer), stored_experiment("mechanisms", []))
