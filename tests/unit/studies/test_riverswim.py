"""Figure 1 and its tables, from runs that are made up: every curve, number and verdict is theirs."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from drawn import Line, bands, end_labels, is_log, labelled, legend, lines, said, texts
from made_up import RIVER, end, grid, half_width, mean, stored_arm, stored_experiment
from mutants import test_no_falsified_figure_passes, test_no_falsified_file_passes  # noqa: F401  (they run here)

from dpucbvi.errors import InputError
from experiments.lab.shipped import Shipped
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.riverswim import (
    LITERAL,
    OTHERS,
    PER_STEP,
    POOLED,
    PRIVATE_UCB_VI,
    STUDY,
    find,
)
from experiments.studies.shared.printed import final_regrets, printed_curves

STRAIGHT = ("DP-UCBVI", "Private-UCB-VI", "DP-UCBVI, literal", "UCBVI, literal")
EPISODES = grid(50_000)
CURVES = ("non_private", "jdp_eps2", "jdp_eps1", "ldp_eps2")
PRIVATE = CURVES[1:]
# Panel a is linear but for UCBVI and pooled JDP; panel b has about the shape and the end of the printed curves.
# Every arm has a level of its own, so that no two curves are alike.
SLOPES = {
    ("DP-UCBVI", "jdp_eps2"): 3.30,
    ("DP-UCBVI", "jdp_eps1"): 3.31,
    ("DP-UCBVI", "ldp_eps2"): 3.32,
    ("DP-UCBVI, pooled", "jdp_eps2"): 1.12,
    ("DP-UCBVI, pooled", "jdp_eps1"): 2.20,
    ("DP-UCBVI, pooled", "ldp_eps2"): 3.05,
    ("Private-UCB-VI", "jdp_eps2"): 3.41,
    ("Private-UCB-VI", "jdp_eps1"): 3.42,
    ("Private-UCB-VI", "ldp_eps2"): 3.43,
    ("DP-UCBVI, literal", "jdp_eps2"): 3.21,
    ("DP-UCBVI, literal", "jdp_eps1"): 3.22,
    ("DP-UCBVI, literal", "ldp_eps2"): 3.23,
}
MATCHED = {  # ε, and how far from the printed curve
    ("DP-UCBVI", "jdp_eps2"): (620.0, 0.97),
    ("DP-UCBVI", "jdp_eps1"): (570.0, 0.96),
    ("DP-UCBVI", "ldp_eps2"): (460.0, 0.95),
    ("DP-UCBVI, pooled", "jdp_eps2"): (22.0, 1.03),
    ("DP-UCBVI, pooled", "jdp_eps1"): (19.0, 1.04),
    ("DP-UCBVI, pooled", "ldp_eps2"): (14.0, 1.05),
    ("Private-UCB-VI", "jdp_eps2"): (1800.0, 1.07),
    ("Private-UCB-VI", "jdp_eps1"): (1500.0, 1.08),
}
EXPLAINED = {  # ε, and how far from the printed curve
    "jdp_eps2": (1920.0, 0.91),
    "jdp_eps1": (960.0, 0.92),
    "ldp_eps2": (1000.0, 0.93),
}
OTHER, ITS_REFERENCE = "DP-UCBVI, pooled, other privatizers", "DP-UCBVI, pooled, not private"
CERTIFIED = {  # privatizer, ε of a user who is replaced, and how far from the printed curve
    "non_private": ("non_private", None, 0.21),
    "jdp_eps2": ("batches", 2.0, 0.22),
    "jdp_eps1": ("batches", 1.0, 0.26),
    "ldp_eps2": ("one_question", 2.0, 0.33),
}


def straight(arm: StoredArm) -> StoredArm:
    """Runs that are multiples of k."""
    runs = [
        run._replace(trace=run.trace._replace(regret=run.trace.regret[-1] / 50_000 * EPISODES))
        for run in arm.runs
    ]
    return arm._replace(runs=runs)


def made(
    label: str, panel: str, curve: str, values: np.ndarray, epsilon: float | None = None, **settings
) -> StoredArm:
    model = "non_private" if epsilon is None else "central" if curve.startswith("jdp") else "local"
    settings = {"model": model, **settings}
    settings |= {"epsilon": epsilon or 1.0, "label": label, "panel": panel, "printed": curve}
    arm = stored_arm(f"{panel}_{label}_{curve}", values, **settings)
    return straight(arm) if panel == "a" and label != "UCBVI" else arm


def shape(curve: str) -> np.ndarray:
    printed = printed_curves()[curve]
    return np.interp(EPISODES, np.append(0, printed.episodes), np.append(0, printed.regret))


def experiment(**changes) -> StoredExperiment:
    arms = [
        made("UCBVI", "a", "non_private", 0.05 * shape("non_private"), bonus=0.0003),
        made("UCBVI, literal", "a", "non_private", 3.2 * EPISODES),
        made("UCBVI", "matched", "non_private", 0.98 * shape("non_private"), bonus=0.014),
        made("UCBVI, pooled", "matched", "non_private", 1.02 * shape("non_private"), bonus=0.14, pooled=True),
        made("DP-UCBVI, not private", "b", "non_private", 0.9 * shape("non_private"), bonus=0.0105),
    ]
    for (label, curve), slope in SLOPES.items():
        epsilon = changes.get(curve, float(curve[-1]))
        factors = {} if label.endswith("literal") else {"bonus": 0.0001, "confidence": 0.01}
        arms.append(made(label, "a", curve, slope * EPISODES, epsilon, **factors))
    for (label, curve), (epsilon, level) in MATCHED.items():
        arms.append(made(label, "matched", curve, level * shape(curve), epsilon, bonus=0.0001, confidence=0.01))
    for curve, (epsilon, level) in EXPLAINED.items():
        values = level * shape(curve)
        arm = made("DP-UCBVI", "b", curve, values, epsilon, bonus=0.0105, confidence=0.0001)
        noise = changes.get("noise", 1.0) * 960.0 / epsilon  # as in a tree with H = 20 and 16 levels
        runs = [run._replace(trace=run.trace._replace(noise_scale=noise)) for run in arm.runs]
        arms.append(arm._replace(runs=runs))
    for curve, (privatizer, epsilon, level) in CERTIFIED.items():
        label, factors = OTHER if epsilon else ITS_REFERENCE, {"bonus": 0.0003, "confidence": 0.002}
        factors |= {"model": privatizer, **changes.get("c", {}).get(curve, {})}
        epsilon = factors.pop("epsilon", epsilon)
        arms.append(made(label, "c", curve, level * shape(curve), epsilon, **factors))
        for run in arms[-1].runs:
            run.config["agent"]["cap"], run.config["postprocess"] = "steps_left", {"zero": 3.0}
            run.config["privatizer"] |= {"families": "tuned"} if privatizer == "batches" else {}
    return stored_experiment("riverswim", arms)


@cache
def whole() -> StoredExperiment:
    return experiment()


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(whole())


def hues(figure) -> dict[str, str]:
    """The colour of every printed curve, as the labels beside panel b say it."""
    names = {"not": "non_private", "JDP1": "jdp_eps1", "JDP2": "jdp_eps2", "LDP2": "ldp_eps2"}
    found = {}
    for name, label in end_labels(figure.axes[1]).items():
        private = label.detail.startswith("printed as ε = ")
        found[names[name[:3] + label.detail[len("printed as ε = ")] if private else "not"]] = label.colour
    assert sorted(found) == sorted(CURVES) and len(set(found.values())) == 4
    return found


def drawn(figure, panel: int) -> dict[tuple[str, str], Line]:
    """By the algorithm that the legend says for the line, and the printed curve that the colour means."""
    looks = {entry.look: label for label, entry in legend(figure).items()}
    colours = {colour: curve for curve, colour in hues(figure).items()}
    found = {}
    for line in lines(figure.axes[panel], len(EPISODES)):
        key = looks[line.look], colours[line.colour]
        assert key not in found
        found[key] = line
    return found


VARIANTS = {
    "DP-UCBVI": PER_STEP,
    "DP-UCBVI, pooled": POOLED,
    "Private-UCB-VI": PRIVATE_UCB_VI,
    "DP-UCBVI, literal": LITERAL,
    OTHER: OTHERS,
}
PANELS = [(0, "a"), (1, "b"), (2, "c")]


@pytest.mark.parametrize(("panel", "letter"), PANELS)
def test_every_arm_of_a_panel_has_its_curve(figure, panel, letter):
    arms = {
        (label, curve): arm
        for label, variant in VARIANTS.items()
        for curve in CURVES
        if (arm := find(whole(), letter, variant, curve)) is not None
    }
    assert {arm.key for arm in arms.values()} == {arm.key for arm in whole().arms if arm.panel == letter}
    found = drawn(figure, panel)
    for key, arm in arms.items():
        np.testing.assert_array_equal(found[key].x, EPISODES)
        np.testing.assert_allclose(found[key].y, mean(arm), rtol=1e-12, err_msg=str(key))
    assert set(found) == set(arms)
    assert is_log(figure.axes[panel]) == (True, True)


@pytest.mark.parametrize(("panel", "letter"), PANELS)
def test_the_papers_own_algorithm_and_other_privatizers_have_their_intervals(figure, panel, letter):
    filled = {band.colour: band for band in bands(figure.axes[panel])}
    assert set(filled) == set(hues(figure).values()) and len(bands(figure.axes[panel])) == len(filled)
    for curve, colour in hues(figure).items():
        arm = find(whole(), letter, OTHERS if letter == "c" else PER_STEP, curve)
        np.testing.assert_array_equal(filled[colour].x, EPISODES)
        low = np.maximum(mean(arm) - half_width(arm), 1e-3 * mean(arm))
        np.testing.assert_allclose(filled[colour].low, low, rtol=1e-9)
        np.testing.assert_allclose(filled[colour].high, mean(arm) + half_width(arm), rtol=1e-9)


@pytest.mark.parametrize("panel", [1, 2])
def test_printed_curves_are_dashed_in_panels_b_and_c(figure, panel):
    look = legend(figure)["printed in the paper"].look
    assert [line for line in lines(figure.axes[0]) if line.look == look] == []
    dashed = {line.colour: line for line in lines(figure.axes[panel]) if line.look == look}
    assert set(dashed) == set(hues(figure).values())
    for curve, colour in hues(figure).items():
        np.testing.assert_array_equal((dashed[colour].x, dashed[colour].y), printed_curves()[curve])


def test_the_labels_of_panel_b_say_what_is_certified_and_what_was_printed(figure):
    labels = end_labels(figure.axes[1])
    assert {name: label.detail for name, label in labels.items()} == {
        "DP-UCBVI": "not private",
        "JDP ε = 1,920": "printed as ε = 2",
        "JDP ε = 960": "printed as ε = 1",
        "LDP ε = 1,000": "printed as ε = 2",
    }
    ends = labelled(figure.axes[1], len(EPISODES))
    for name, curve in zip(labels, CURVES, strict=True):
        assert ends[name].colour == hues(figure)[curve]
        np.testing.assert_allclose(ends[name].y, mean(find(whole(), "b", PER_STEP, curve)))


def test_the_labels_of_panel_c_say_what_is_certified_if_a_user_is_replaced(figure):
    arms = {curve: find(whole(), "c", OTHERS, curve) for curve in CURVES}
    ended = {curve: f"{end(arm)[0]:,.0f}" for curve, arm in arms.items()}
    named = {
        "JDP ε = 2": ("jdp_eps2", "batches"),
        "JDP ε = 1": ("jdp_eps1", "batches"),
        "LDP ε = 2": ("ldp_eps2", "one question"),
    }
    labels, ends = end_labels(figure.axes[2]), labelled(figure.axes[2], len(EPISODES))
    assert {name: label.detail for name, label in labels.items()} == {
        name: f"{by}\nends at {ended[curve]}" for name, (curve, by) in named.items()
    }
    for name, (curve, _) in named.items():
        assert ends[name].colour == hues(figure)[curve]
        np.testing.assert_allclose(ends[name].y, mean(arms[curve]))
    assert arms["non_private"].label == ITS_REFERENCE
    below = f"without privacy: ends at\n{ended['non_private']}, below this axis"
    assert below in texts(figure.axes[2])


def test_curves_that_lie_apart_are_named(figure):
    found = {t.get_text(): t.xy[1] for t in figure.axes[0].texts if hasattr(t, "xy")}
    assert found == {
        "UCBVI, calibrated": pytest.approx(end(find(whole(), "a", PER_STEP, "non_private"))[0]),
        "pooled\nJDP ε = 2": pytest.approx(end(find(whole(), "a", POOLED, "jdp_eps2"))[0]),
    }


def test_the_words(figure):
    titles = [axes.get_title("left") for axes in figure.axes]
    assert titles == [
        "(a) noise as proven, ε as printed",
        "(b) JDP: Lap(1/ε), LDP: Lap(0.075), fitted",
        "(c) ε as printed, other privatizers",
    ]
    assert "bonus × 0.0105, $E$ × 0.0001" in said(figure)
    assert "on one line, linear, nothing learnt:\nall but pooled counts and UCBVI" in texts(figure.axes[0])
    assert "Means of 3 runs, band: 95% interval" in STUDY.caption(whole())
    changed = STUDY.draw(whole()._replace(changed=("K=200",)))
    assert "nothing learnt" not in said(changed)


def test_what_the_words_say_of_the_runs_that_ship_is_so():
    """Noise, factors, certificates and changes of the algorithm that titles and captions name."""
    shipped = Shipped(Path(__file__).resolve().parents[3] / "paper" / "results")
    arms = {arm.key: arm for arm in shipped.load_experiment("riverswim").arms}
    noise = {key: arm.runs[0].trace.noise_scale for key, arm in arms.items() if key.startswith("explained")}
    assert [noise[f"explained_{curve}"] for curve in PRIVATE] == pytest.approx([0.5, 1.0, 0.075])
    for key in noise:
        bonus, confidence = arms[key].config["bonus"]["scale"], arms[key].config["confidence"]["scale"]
        assert (bonus, confidence if key[-1].isdigit() else 0.0001) == (0.0105, 0.0001)
    legend = {"jdp_eps2": ("JDP", 2.0), "jdp_eps1": ("JDP", 1.0), "ldp_eps2": ("LDP", 2.0)}
    for curve, (model, epsilon) in legend.items():
        certified, proven = arms[f"certified_{curve}"], arms[curve].certificate
        assert certified.certificate[:1] == (model,) and certified.certificate.delta == 0.0
        assert certified.certificate.replace_one == pytest.approx(epsilon)
        assert (proven.model, proven.add_remove) == (model, pytest.approx(epsilon))
        config = certified.config
        assert (config["agent"]["cap"], config["postprocess"]["zero"]) == ("steps_left", 3.0)
    straight = [
        arm for arm in arms.values() if arm.panel == "a" and arm.label in STRAIGHT and "ucbvi" != arm.key
    ]
    halves = [np.mean(half) / np.mean(full) for half, full in (arm.half_and_full for arm in straight)]
    assert len(halves) == 10 and np.abs(np.array(halves) - 0.5).max() < 0.03


def test_an_arm_is_found_by_panel_variant_and_curve():
    made = experiment()
    assert find(made, "a", PER_STEP, "jdp_eps1").key == "a_DP-UCBVI_jdp_eps1"
    assert find(made, "matched", POOLED, "non_private").label == "UCBVI, pooled"
    assert find(made, "matched", PRIVATE_UCB_VI, "ldp_eps2") is None
    assert find(made, "b", LITERAL, "non_private") is None
    with pytest.raises(AssertionError, match="twice"):
        find(made._replace(arms=made.arms * 2), "a", PER_STEP, "jdp_eps1")


def test_regret_is_told_at_half_the_episodes_and_at_the_end():
    half, full = find(experiment(), "a", PER_STEP, "jdp_eps1").half_and_full
    np.testing.assert_allclose(full, 3.31 * 50_000 * np.array([0.93, 1.01, 1.09]))
    np.testing.assert_allclose(half, full / 2)


@pytest.mark.parametrize("panel", ["a", "b", "c"])
def test_panels_may_be_empty(panel):
    made = experiment()
    figure = STUDY.draw(made._replace(arms=[arm for arm in made.arms if arm.panel == panel]))
    assert [axes.axison for axes in figure.axes] == [panel == "a", panel == "b", panel == "c"]
    assert [bool(lines(axes)) for axes in figure.axes] == [panel == "a", panel == "b", panel == "c"]
    assert any("nothing learnt" in text for text in texts(figure.axes[0])) == (panel == "a")


MATCHING = """\
curve,printed_regret,algorithm,setting,value,low,high
non_private,4280,UCBVI,bonus.scale,0.01352,0.01344,0.0136
jdp_eps2,5170,DP-UCBVI,privatizer.epsilon,623.2,499.3,711.2
ldp_eps2,15120,Private-UCB-VI,privatizer.epsilon,,,
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> list:
    folder = tmp_path_factory.mktemp("report")
    (folder / "epsilon.csv").write_text(MATCHING)
    return STUDY.report(whole(), folder, {}.get)


def tables(text: str) -> list[list[list[str]]]:
    blocks = [block for block in text.split("\n\n") if block.startswith("| ")]
    rows = [[line.strip("| ").split(" | ") for line in block.splitlines()] for block in blocks]
    return [[table[0], *table[2:]] for table in rows]


COLUMNS = {
    "(a) DP-UCBVI": ("a", "DP-UCBVI", "UCBVI"),
    "(a) literal constants": ("a", "DP-UCBVI, literal", "UCBVI, literal"),
    "(a) pooled": ("a", "DP-UCBVI, pooled", "UCBVI"),
    "(a) Private-UCB-VI": ("a", "Private-UCB-VI", "UCBVI"),
    "(b) explained": ("b", "DP-UCBVI", "DP-UCBVI, not private"),
    "(c) other privatizers": ("c", OTHER, ITS_REFERENCE),
    "matched": ("matched", "DP-UCBVI", "UCBVI"),
    "matched, pooled": ("matched", "DP-UCBVI, pooled", "UCBVI, pooled"),
    "matched, Private-UCB-VI": ("matched", "Private-UCB-VI", "UCBVI"),
}
PRINTED = {"non_private": "4,280", "jdp_eps2": "5,170", "jdp_eps1": "5,970", "ldp_eps2": "15,120"}


def test_the_report_has_every_final_regret(report):
    (header, *rows), _ = tables(report[0].read_text())
    assert header == ["printed curve", "printed", *COLUMNS]
    assert [row[0] for row in rows] == ["non-private", "JDP, ε = 2", "JDP, ε = 1", "LDP, ε = 2"]
    by_key = {arm.key: arm for arm in whole().arms}
    for row, curve in zip(rows, CURVES, strict=True):
        wanted = []
        for panel, private, reference in COLUMNS.values():
            label = reference if curve == "non_private" else private
            arm = by_key.get(f"{panel}_{label}_{curve}")
            wanted.append("-" if arm is None else "{:,.0f} ± {:,.0f}".format(*end(arm)))
        assert row[1:] == [PRINTED[curve], *wanted]
    assert rows[3][-1] == "-"  # Private-UCB-VI under LDP has no match


def test_the_report_quotes_the_matches(report):
    _, (header, *rows) = tables(report[0].read_text())
    assert header == [
        "printed curve",
        "algorithm",
        "matched at, a user added or removed",
        "the same, a user replaced",
    ]
    assert rows == [
        ["non-private", "UCBVI", "bonus × 0.0135 (0.0134 to 0.0136)", "not private"],
        ["JDP, ε = 2", "DP-UCBVI", "ε = 623 (499 to 711)", "ε = 1,250 (999 to 1,420)"],
        ["LDP, ε = 2", "Private-UCB-VI", "nowhere", "nowhere"],
    ]


def test_without_panel_c_its_columns_are_empty(tmp_path):
    (tmp_path / "epsilon.csv").write_text(MATCHING)
    every = whole()
    (text,) = STUDY.report(
        every._replace(arms=[arm for arm in every.arms if arm.panel != "c"]), tmp_path, {}.get
    )
    regrets, _ = tables(text.read_text())
    assert {row[regrets[0].index("(c) other privatizers")] for row in regrets[1:]} == {"-"}


def test_the_report_needs_the_matches(tmp_path):
    with pytest.raises(InputError, match=r"riverswim: its report needs .*epsilon\.csv"):
        STUDY.report(whole(), tmp_path, {}.get)
    assert list(tmp_path.iterdir()) == []


def test_printed_regrets_are_told_for_their_own_size_only():
    config = {"env": RIVER, "K": 50_000}
    assert final_regrets(config)["jdp_eps1"] == 5970.0
    assert final_regrets({**config, "K": 40_000}) == {} == final_regrets({**config, "env": {**RIVER, "H": 10}})
