"""The headline comparisons, on runs that are made up: dots, intervals, tails and verdicts are theirs."""

import numpy as np
import pytest
from drawn import is_log, legend, lines
from made_up import grid, stored_arm, stored_experiment
from mutants import test_no_falsified_figure_passes  # noqa: F401  (they run here)
from scipy.stats import binomtest, trim_mean

from experiments.studies.headline import STUDY
from experiments.studies.headline.report import columns, numbers, settled, tail
from experiments.studies.shared.printed import printed_curves
from experiments.studies.shared.style import HUES
from experiments.studies.shared.tables import as_regret

EPISODES = grid(50_000)
CURVES = ("non_private", "jdp_eps2", "jdp_eps1", "ldp_eps2")
RUNS = 20


def spread(arm, runs: int = RUNS):
    """More runs than made_up has: the first one times 1 ± 10%, other in every arm."""
    factors = 1.0 + 0.1 * np.random.default_rng(len(arm.key)).uniform(-1, 1, runs)
    first = arm.runs[0]
    made = [
        first._replace(
            config={**first.config, "seed": seed},
            trace=first.trace._replace(regret=factor * first.trace.regret),
        )
        for seed, factor in enumerate(factors)
    ]
    return arm._replace(runs=made)


def shape(curve: str, level: float) -> np.ndarray:
    printed = printed_curves()[curve]
    return level * np.interp(EPISODES, np.append(0, printed.episodes), np.append(0, printed.regret))


def made(panel: str, curve: str, label: str, level: float = 1.0, model: str = "central"):
    model = "non_private" if curve == "non_private" else model
    values = shape(curve, level)
    return spread(
        stored_arm(f"{panel}_{curve}_{label}", values, panel=panel, printed=curve, label=label, model=model)
    )


@pytest.fixture(scope="module")
def experiment():
    arms = [
        made("matched", "non_private", "UCBVI"),
        made("matched", "non_private", "DP-UCBVI, not private", 0.05),
    ]
    arms += [made("matched", curve, "DP-UCBVI") for curve in CURVES[1:]]
    arms += [made("certified", "non_private", "DP-UCBVI, not private")]
    arms += [made("certified", curve, "DP-UCBVI", 0.9, "batches") for curve in CURVES[1:3]]
    arms += [made("certified", "ldp_eps2", "DP-UCBVI", 0.9, "one_question")]
    for arm in arms[-3:]:
        for run in arm.runs:
            run.config["agent"]["cap"], run.config["postprocess"] = "steps_left", {"zero": 3.0}
            run.config["privatizer"]["families"] = "tuned"
    return stored_experiment("headline", arms)


def test_the_numbers_of_an_arm(experiment):
    arm = experiment.arms[2]
    finals, found = np.array([run.trace.regret[-1] for run in arm.runs]), numbers(arm)
    assert found.mean.mean == pytest.approx(finals.mean()) and found.median == pytest.approx(np.median(finals))
    assert found.middle.mean == pytest.approx(trim_mean(finals, 0.25)) and found.largest == finals.max()
    assert found.mean.low < finals.mean() < found.mean.high


@pytest.mark.parametrize(("power", "settles"), [(0.0, True), (0.4, True), (0.6, False), (1.0, False)])
def test_a_run_is_settled_if_its_end_grows_slower_than_the_square_root(power, settles):
    episodes = np.arange(1, 10_001)
    assert settled(episodes, 100.0 * episodes**power) == settles


def test_the_share_that_never_settles_has_clopper_and_pearsons_interval(experiment):
    arm = experiment.arms[2]
    straight = [run._replace(trace=run.trace._replace(regret=0.1 * EPISODES)) for run in arm.runs[:3]]
    found = tail(arm._replace(runs=[*straight, *arm.runs[3:]]))
    wanted = binomtest(3, RUNS).proportion_ci(0.95, "exact")
    assert (found.unsettled, found.runs) == (3, RUNS)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-6)


def test_a_panel_is_judged_with_each_of_its_baselines(experiment):
    found = columns(experiment)
    assert list(found) == ["matched, against UCBVI", "matched, against itself", "certified, against itself"]
    assert found["matched, against itself"]["non_private"].full.mean() < 300


def test_the_report(experiment, tmp_path):
    """Against UCBVI the printed curves say what the paper says; against itself the cost is no constant."""
    (text,) = STUDY.report(experiment, tmp_path, {}.get)
    written = text.read_text().splitlines()
    constant = next(line for line in written if line.startswith("| the cost of privacy"))
    assert constant.split(" | ")[1:3] == ["reproduces", "does not"]
    header = next(line for line in written if line.startswith("| the paper's sentence"))
    assert "matched, against UCBVI (fitted)" in header and "certified, against itself (fitted)" not in header
    pairs = [line for line in written if "against itself" in line and line.startswith("| matched_")]
    assert len(pairs) == 3 and all(" | 0.00 | " in line for line in pairs)  # no private run is better
    assert "correction is over all\n30 contrasts" in text.read_text()
    assert numbers(experiment.arms[2]).mean.mean == pytest.approx(experiment.arms[2].finals.mean())


def test_the_figure_says_which_privatizers(figure):
    names = [[" ".join(t.get_text().split()) for t in axes.get_yticklabels()] for axes in figure.axes]
    assert names[0][2:] == ["DP-UCBVI, JDP ε = 1"] * 3  # all made with the same
    assert names[1] == [
        "DP-UCBVI, not private",
        *["batches, JDP ε = 1"] * 2,
        "one question, LDP ε = 1",
    ]


@pytest.fixture(scope="module")
def figure(experiment):
    return STUDY.draw(experiment)


MARKERS = {"mean, 95%": "o", "median": "|", "printed": "x"}


def test_the_figure_has_every_run_and_every_number_of_an_arm(figure, experiment):
    assert {label: entry.marker for label, entry in legend(figure).items()} == MARKERS
    panels = {name: [arm for arm in experiment.arms if arm.panel == name] for name in ("matched", "certified")}
    titles = [axes.get_title("right") for axes in figure.axes]
    assert titles == [
        "ε matched to the printed regret, counts per step",
        "ε as printed, certified, other privatizers",
    ]
    for axes, arms in zip(figure.axes, panels.values(), strict=True):
        assert is_log(axes) == (True, False) and len(lines(axes)) == 5 * len(arms)
        for row, arm in enumerate(arms):
            found, finals = numbers(arm), [run.trace.regret[-1] for run in arm.runs]
            dots, bar, mean, median, printed = [x for x in lines(axes) if abs(x.y.mean() - row) < 0.5]
            np.testing.assert_allclose(dots.x, finals)
            assert (np.abs(dots.y - row) <= 0.28).all() and len(set(dots.y)) == RUNS
            assert tuple(bar.x) == (found.mean.low, found.mean.high)
            numbered = {"o": mean, "|": median, "x": printed}
            assert [line.marker for line in numbered.values()] == list(numbered)
            last = printed_curves()[str(arm.printed)].regret[-1]
            assert [float(line.x[0]) for line in numbered.values()] == [found.mean.mean, found.median, last]
            assert {*bar.y, *mean.y, *median.y} == {row} and tuple(printed.y) == (row + 0.3,)
            hue = HUES[str(arm.printed)].lower()
            assert {x.colour for x in (dots, bar, mean, median)} == {hue} and printed.colour == "#000000"
    beside = [[t.get_text() for t in axes.texts if t.xy[0] > 1] for axes in figure.axes]
    assert beside == [["0 of 20"] * 5 + ["unsettled"], ["0 of 20"] * 4]  # the heading is over the first column


def test_figure_and_report_name_the_episodes_that_were_run(experiment, tmp_path):
    def shorter(run):
        return run._replace(config={**run.config, "K": 700})

    arms = [arm._replace(runs=[shorter(run) for run in arm.runs]) for arm in experiment.arms]
    assert "regret after 700 episodes" in STUDY.caption(experiment._replace(arms=arms))
    text = STUDY.report(experiment._replace(arms=arms), tmp_path, lambda _: None)[0].read_text()
    assert "### Regret after 700 episodes\n" in text and "50,000" not in text


def test_a_cost_below_zero_has_its_thousands_told_too():
    assert [as_regret(x) for x in (-2_130.4, 167_666.2, -22.51)] == ["-2,130", "167,666", "-22.5"]
