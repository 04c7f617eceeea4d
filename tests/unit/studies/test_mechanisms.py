"""Every privatizer at equal certified ε: the figure and the tables, from runs that are made up."""

from functools import cache

import numpy as np
import pytest
from drawn import Line, bands, is_log, labelled, lines, ticks
from made_up import RIVER, stored_arm, stored_experiment
from mutants import test_no_falsified_figure_passes, test_no_falsified_file_passes  # noqa: F401  (they run here)

from dpucbvi import garnet, riverswim
from dpucbvi.planning import uniform_loss
from dpucbvi.stats import bootstrap, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.epsilon import match
from experiments.studies.mechanisms import STUDY
from experiments.studies.shared.style import PRIVACY

POINT = "privatizer.epsilon"
EPSILONS = (8, 0.5, 2, 1, 4)  # the figure and the tables put them in order
MEAN, MEDIAN, LARGEST = 1.015, 1.02, 1.09  # of four runs, of what the arm is made with
DELTA = 1e-6
# Label, privatizer, δ, and the regret a·ε^-p of pooled counts. No two arms are alike.
MECHANISMS = {
    "JDP": {
        "paper": ("Section 5's noise", "central", 0.0, 40_000.0, 0.5),
        "tree": ("binary tree", "central", 0.0, 9000.0, 0.4),
        "kary_tree": ("k-ary tree", "kary_tree", 0.0, 12_000.0, 0.6),
        "toeplitz": ("Toeplitz, δ = 1e-6", "toeplitz", DELTA, 7000.0, 0.3),
        "batches": ("batches", "batches", 0.0, 5000.0, 0.2),
        "gaussian_batches": ("Gaussian batches, δ = 1e-6", "batches", DELTA, 4000.0, 0.1),
    },
    "LDP": {
        "local_paper": ("Section 5's noise", "local", 0.0, 90_000.0, 0.3),
        "local": ("noise of every user", "local", 0.0, 41_900.0, 0.5),
        "one_question": ("one question", "one_question", 0.0, 20_000.0, 0.35),
    },
}
COUNTS = {"pooled": "pooled counts", "step": "counts per step"}
PER_STEP = 1.37  # times the regret of pooled counts
PRINTED = {"JDP": {2: 5170.0, 1: 5970.0}, "LDP": {2: 15_120.0}}
LEVERS = {"all levers": 3000.0, "Q at most H": 3600.0, "no zeroing": 2910.0}
STREHL = {**RIVER, "variant": "strehl_littman"}
GARNET = {"name": "garnet", "S": 6, "A": 2, "H": 20, "branching": 3, "seed": 1, "rewards": "deterministic"}
ELSEWHERE = {
    "strehl_batches": (STREHL, "JDP", "batches", 1, 2100.0),
    "strehl_one_question": (STREHL, "LDP", "one_question", 2, 4400.0),
    "garnet1_toeplitz": (GARNET, "JDP", "toeplitz", 1, 1710.0),
    "garnet2_batches": ({**GARNET, "seed": 2}, "JDP", "batches", 1, 1900.0),
}


def level(panel: str, model: str, name: str, epsilon: float) -> float:
    *_, a, p = MECHANISMS[model][name]
    return a * epsilon**-p * (PER_STEP if panel == "step" else 1.0)


def made(of: str, panel: str, model: str, name: str, epsilon: float, regret: float, **settings) -> StoredArm:
    label, privatizer, delta, *_ = MECHANISMS[model][name]
    settings = {"label": label, "bonus": 0.0001, "confidence": 0.001, **settings}
    settings |= {"model": privatizer, "epsilon": float(epsilon), "delta": delta, "replaced": True}
    if "paper" not in name:
        settings |= {"cap": "steps_left", "families": "tuned"}
    return stored_arm(of, regret, point={POINT: epsilon}, panel=panel, runs=4, **settings)


@cache
def experiment(**settings) -> StoredExperiment:
    arms = [
        made(f"{panel}_{name}", panel, model, name, e, level(panel, model, name, e), **settings)
        for model, names in MECHANISMS.items()
        for panel in COUNTS
        for name in names
        for e in EPSILONS
    ]
    for label, regret in LEVERS.items():
        arms.append(
            made(f"lever {label}", "levers", "JDP", "batches", 1, regret, **{**settings, "label": label})
        )
    for of, (env, model, name, epsilon, regret) in ELSEWHERE.items():
        shape = (20, 6, 2)
        arms.append(
            made(of, "elsewhere", model, name, epsilon, regret, **{**settings, "env": env, "shape": shape})
        )
    return stored_experiment("mechanisms", arms)


@cache
def ends(of: str, epsilon: float) -> np.ndarray:
    """The final regrets of the runs."""
    (arm,) = [a for a in experiment().arms if a.of == of and a.point[POINT] == epsilon]
    return np.array([run.trace.regret[-1] for run in arm.runs])


PANELS = [(panel, model) for panel in COUNTS for model in MECHANISMS]


# --- the figure -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(experiment())


def curves(figure, panel: int) -> dict:
    """The curves of a panel by the names at their ends."""
    return labelled(figure.axes[panel])


def look(line: Line) -> tuple:
    return line.colour, line.marker, line.look


@pytest.mark.parametrize("place", range(4))
def test_every_mechanism_has_its_means_and_intervals_at_its_certified_epsilon(figure, place):
    panel, model = PANELS[place]
    axes, found = figure.axes[place], curves(figure, place)
    assert set(found) == {label for label, *_ in MECHANISMS[model].values()}
    for (name, (label, *_)), band in zip(MECHANISMS[model].items(), bands(axes), strict=True):
        line = found[label]
        runs = np.array([ends(f"{panel}_{name}", e) for e in sorted(EPSILONS)]).T
        np.testing.assert_array_equal([line.x, band.x], [sorted(EPSILONS)] * 2)
        np.testing.assert_allclose([line.y, band.low, band.high], bootstrap(runs), rtol=1e-12)
        assert band.colour == line.colour
    assert is_log(axes) == (True, True)
    assert axes.get_title("left") == f"{model}, {COUNTS[panel]}"


@pytest.mark.parametrize("place", range(4))
def test_stars_are_at_the_printed_regrets(figure, place):
    stars = [line for line in lines(figure.axes[place]) if (line.marker, line.colour) == ("*", "#000000")]
    assert {star.end: len(star.x) for star in stars} == dict.fromkeys(PRINTED[PANELS[place][1]].items(), 1)


def test_one_star_says_what_stars_are(figure):
    said = [
        [note.xy for note in axes.texts if note.get_text() == "reported\nin Figure 1"] for axes in figure.axes
    ]
    assert said == [[], [], [], list(PRINTED["LDP"].items())]


@pytest.mark.parametrize("place", range(4))
def test_gaussian_noise_is_dashed_and_the_papers_mechanisms_have_their_models_colour(figure, place):
    model = PANELS[place][1]
    entries, names = curves(figure, place), MECHANISMS[model].values()
    dashed = {label for label, entry in entries.items() if entry.look[0] == "--"}
    assert dashed == {label for label, _, delta, *_ in names if delta}
    assert entries["Section 5's noise"].colour == PRIVACY[model].lower()


def test_no_two_mechanisms_look_alike(figure):
    """Nor in the other model's panels, beside which they stand."""
    entries = [*curves(figure, 0).values(), *curves(figure, 1).values()]
    assert len({look(entry) for entry in entries}) == len(entries)
    assert len({(entry.colour, entry.marker) for entry in entries}) == len(entries)


def test_one_scale_for_all_panels(figure):
    assert ticks(figure.axes[2])[0] == {0.5: "0.5", 1.0: "1", 2.0: "2", 4.0: "4", 8.0: "8"}
    assert len({axes.get_ylim() for axes in figure.axes}) == 1  # one scale for all panels


# --- the tables -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return STUDY.report(experiment(), tmp_path_factory.mktemp("report"), {}.get)


def sections(path) -> dict[str, list[list[str]]]:
    """The tables of a Markdown file by the heading above them."""
    found: dict[str, list[list[str]]] = {}
    for line in path.read_text().splitlines():
        if line.startswith("### "):
            rows = found[line[4:]] = []
        elif line.startswith("| :--"):
            assert len(rows) == 1 and line.count("|") == len(rows[0]) + 1
        elif line.startswith("| "):
            rows.append(line.strip("| ").split(" | "))
    return found


def cell(regret: float) -> str:
    return f"{MEAN * regret:,.0f} ({MEDIAN * regret:,.0f}; {LARGEST * regret:,.0f})"


def interval(of: str, epsilon: float) -> str:
    return "{:,.0f} to {:,.0f}".format(*bounds(of, epsilon))


@cache
def bounds(of: str, epsilon: float) -> tuple[float, float]:
    _, (low,), (high,) = bootstrap(ends(of, epsilon)[:, None])
    return low, high


@cache
def crossing(panel: str, model: str, name: str, wanted: float) -> tuple[str, str]:
    """Where MEAN·a·ε^-p is the wanted regret: a straight line of logarithms."""
    *_, a, p = MECHANISMS[model][name]
    at = (MEAN * a * (PER_STEP if panel == "step" else 1.0) / wanted) ** (1 / p)
    if not 0.5 <= at <= 8:
        return ("below 0.5" if at < 0.5 else "above 8"), "-"
    runs = np.array([ends(f"{panel}_{name}", e) for e in sorted(EPSILONS)])
    found = match(np.array(sorted(EPSILONS)), runs, wanted, 100.0)
    if np.isnan(found.low):
        return f"about {three_digits(at)}", "not by all resamples"
    return three_digits(at), f"{three_digits(found.low)} to {three_digits(found.high)}"


@pytest.mark.parametrize(("panel", "model"), PANELS)
def test_the_report_has_every_regret(report, panel, model):
    header, *rows = sections(report[0])[f"{model}, {COUNTS[panel]}: mean regret (median; largest)"]
    assert header == ["mechanism", "ε = 0.5", "ε = 1", "ε = 2", "ε = 4", "ε = 8"]
    assert rows == [
        [label, *(cell(level(panel, model, name, e)) for e in sorted(EPSILONS))]
        for name, (label, *_) in MECHANISMS[model].items()
    ]


def test_the_report_has_every_crossing(report):
    header, *rows = sections(report[0])["The ε at which the regret equals the reported one, a user replaced"]
    assert header == ["reported curve", "counts", "mechanism", "reached at ε (replaced)", "95% interval"]
    assert rows == [
        [
            f"{model} ε = {epsilon}: {wanted:,.0f}",
            COUNTS[panel],
            MECHANISMS[model][name][0],
            *crossing(panel, model, name, wanted),
        ]
        for model, curves in PRINTED.items()
        for epsilon, wanted in curves.items()
        for panel in COUNTS
        for name in MECHANISMS[model]
    ]
    assert {"above 8", "below 0.5"} < {row[3] for row in rows} and "not by all resamples" in {
        row[4] for row in rows
    }


def test_the_levers_have_their_ratios(report):
    _, *rows = sections(report[0])["What each change buys: pooled batches, pure ε = 1, a user replaced"]
    smallest_p = "0.25"  # 2/2⁴ of 4 runs, times 2 by Holm
    ratios = [["1", "-"], ["1.20 (1.20 to 1.20)", smallest_p], ["0.97 (0.97 to 0.97)", smallest_p]]
    assert rows == [
        [label, cell(regret), interval(f"lever {label}", 1), *ratio]
        for (label, regret), ratio in zip(LEVERS.items(), ratios, strict=True)
    ]


def test_elsewhere_is_told_beside_the_uniform_policy(report):
    _, *rows = sections(report[0])["Elsewhere, with the factors chosen on RiverSwim"]
    names = ["riverswim strehl_littman", "riverswim strehl_littman", "garnet 1", "garnet 2"]
    certified = ["JDP ε = 1, pure", "LDP ε = 2, pure", "JDP ε = 1, δ = 1e-6", "JDP ε = 1, pure"]
    strehl = riverswim(variant="strehl_littman")
    mdps = [strehl, strehl, garnet(seed=1), garnet(seed=2)]
    uniform = [f"{50_000 * uniform_loss(mdp):,.0f}" for mdp in mdps]
    assert len(set(uniform)) == 3
    assert rows == [
        [where, MECHANISMS[model][name][0], what, cell(regret), interval(of, epsilon), at_random]
        for where, what, at_random, (of, (_, model, name, epsilon, regret)) in zip(
            names, certified, uniform, ELSEWHERE.items(), strict=True
        )
    ]
