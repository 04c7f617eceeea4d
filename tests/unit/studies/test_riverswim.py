"""Figure 1 and its tables, from runs that are made up: every curve, number and verdict is theirs."""

from pathlib import Path

import numpy as np
import pytest
from drawn import bands, is_log, legend, lines, said
from made_up import RIVER, grid, mean, shape, stored_arm, stored_experiment, with_regrets
from mutants import test_no_falsified_figure_passes, test_no_falsified_file_passes  # noqa: F401  (they run here)
from scipy.stats import binomtest

from dpucbvi.stats import bootstrap, paired
from experiments.lab.shipped import Shipped
from experiments.studies.riverswim import STUDY
from experiments.studies.riverswim.report import NUMBERS, columns, reproduces, settled, tail
from experiments.studies.riverswim.verdicts import SENTENCES, judge
from experiments.studies.shared.printed import final_regrets, printed_bands, printed_curves
from experiments.studies.shared.style import HUES
from experiments.studies.shared.tables import as_regret

EPISODES = grid(50_000)
CURVES = ("non_private", "jdp_eps2", "jdp_eps1", "ldp_eps2")
PANELS = ("proven", "fitted", "others")
MODELS = {"jdp": ("central", "batches"), "ldp": ("local", "one_question")}


def made(panel: str, curve: str, level: float, label: str = "DP-UCBVI", runs: int = 4):
    models = MODELS.get(curve[:3], ("non_private", "non_private"))
    model = models[panel == "others"]
    epsilon = {"proven": 1.0, "fitted": 960.0, "others": 1.0}.get(panel, 1.0) * float(
        curve[-1:].strip("e") or 1
    )
    settings = {"label": label, "panel": panel, "printed": curve, "model": model, "epsilon": epsilon}
    return stored_arm(f"{panel}_{label}_{curve}", shape(curve, level), runs=runs, **settings)


LEVELS = {"proven": 30.0, "fitted": 1.02, "others": 0.8}


@pytest.fixture(scope="module")
def experiment():
    """Every arm has a level of its own, so that no two curves are alike."""
    arms = []
    for panel in PANELS:
        for i, curve in enumerate(CURVES):
            level = 0.05 if (panel, curve) == ("proven", "non_private") else LEVELS[panel] * (1 + i / 50)
            arms.append(made(panel, curve, level, "UCBVI" if curve == "non_private" else "DP-UCBVI"))
    arms += [made("proven", curve, 25.0 + i, "Private-UCB-VI") for i, curve in enumerate(CURVES[1:])]
    arms += [made("literal", "jdp_eps1", 33.0)]
    return stored_experiment("riverswim", arms)


@pytest.fixture(scope="module")
def figure(experiment):
    return STUDY.draw(experiment)


@pytest.mark.parametrize(("place", "panel"), list(enumerate(PANELS)))
def test_every_arm_of_a_panel_has_its_curve_and_its_interval(figure, experiment, place, panel):
    axes, arms = figure.axes[place], [arm for arm in experiment.arms if arm.panel == panel]
    found, filled = lines(axes, len(EPISODES)), bands(axes)
    assert len(found) == len(filled) == len(arms) and is_log(axes) == (True, True)
    looks = {entry.look: label for label, entry in legend(figure).items()}
    for arm, line, band in zip(arms, found, filled, strict=True):
        np.testing.assert_array_equal(line.x, EPISODES)
        np.testing.assert_allclose(line.y, mean(arm), rtol=1e-12)
        _, low, high = bootstrap(arm.regret)
        np.testing.assert_allclose(band.high, high, rtol=1e-9)
        np.testing.assert_allclose(band.low, np.maximum(low, 1e-3 * mean(arm)), rtol=1e-9)
        assert line.colour == band.colour == HUES[arm.printed].lower()
        baseline = arm.label == "Private-UCB-VI"
        assert (looks[line.look] == "Private-UCB-VI") == baseline


@pytest.mark.parametrize("place", range(3))
def test_printed_curves_are_dashed_and_their_bands_stand_at_the_right(figure, place):
    entry = legend(figure)["reported"]
    short = [line for line in lines(figure.axes[place]) if len(line.x) < len(EPISODES)]
    dashed = {line.colour: line for line in short if line.look == entry.look}
    upright = {line.colour: line for line in short if line.look != entry.look}
    assert len(short) == len(dashed) + len(upright) == 8
    for curve, hue in HUES.items():
        np.testing.assert_array_equal((dashed[hue.lower()].x, dashed[hue.lower()].y), printed_curves()[curve])
        assert tuple(upright[hue.lower()].y) == printed_bands()[curve]
    places = [upright[hue.lower()].x for hue in HUES.values()]
    np.testing.assert_allclose(places, [[50_000 * 1.13**i] * 2 for i in (1, 2, 3, 4)])


def test_the_words(figure, experiment):
    certified = ["ε: JDP 1, 2; LDP 2", "ε: JDP 960, 1,920; LDP 1,920", "ε: JDP 1, 2; LDP 2"]
    assert [axes.get_title("left").split("\n")[1] for axes in figure.axes] == certified
    entries = legend(figure)
    names = ["not private", "JDP, reported as ε = 2", "JDP, reported as ε = 1", "LDP, reported as ε = 2"]
    assert [entries[name].colour for name in names] == [hue.lower() for hue in HUES.values()]
    assert [name for name, entry in entries.items() if entry.marker == "|"] == ["reported band"]
    assert "nothing is learnt" in said(figure)
    assert "nothing is learnt" not in said(STUDY.draw(experiment._replace(changed=("K=200",))))


@pytest.mark.parametrize(("power", "settles"), [(0.0, True), (0.4, True), (0.6, False), (1.0, False)])
def test_a_run_is_settled_if_its_end_grows_slower_than_the_square_root(power, settles):
    episodes = np.arange(1, 10_001)
    assert settled(episodes, 100.0 * episodes**power) == settles


def test_a_mean_reproduces_if_it_lies_in_the_printed_band(experiment):
    by_key = {arm.key: arm for arm in experiment.arms}
    assert reproduces(by_key["fitted_DP-UCBVI_jdp_eps1"]) == "yes (fitted)"
    assert reproduces(by_key["others_DP-UCBVI_jdp_eps1"]) == "yes"
    assert reproduces(by_key["proven_DP-UCBVI_jdp_eps1"]) == "no, above"
    assert reproduces(by_key["proven_Private-UCB-VI_jdp_eps1"]) == "-"
    arm = made("others", "jdp_eps1", 1.0)  # its band is 3,800 to 8,100
    around = np.linspace(0.7, 1.3, len(arm.runs))
    levels = (2_000, 3_900, 6_000, 8_000, 20_000)
    moved = [with_regrets(arm, [level / arm.mean * x * arm.regret[0] for x in around]) for level in levels]
    open_ = "cannot be told"
    assert [reproduces(one) for one in moved] == ["no, below", open_, "yes", open_, "no, above"]


def tables(text: str) -> list[list[list[str]]]:
    blocks = [block for block in text.split("\n\n") if block.startswith("| ")]
    rows = [[line.strip("| ").split(" | ") for line in block.splitlines()] for block in blocks]
    return [[table[0], *table[2:]] for table in rows]


@pytest.fixture(scope="module")
def report(experiment, tmp_path_factory) -> list[Path]:
    return STUDY.report(experiment, tmp_path_factory.mktemp("report"), {}.get)


def test_every_cell_of_the_report(experiment, report):
    (path,) = report
    numbered, pairs, verdicts = tables(path.read_text())
    assert tuple(numbered[0]) == NUMBERS and len(numbered) == 1 + len(experiment.arms)
    for row, arm in zip(numbered[1:], experiment.arms, strict=True):
        found, model = tail(arm), arm.certificate.model
        relation = "replaced" if arm.panel == "others" else "added or removed"
        epsilon = f"{float(arm.config['privatizer'].get('epsilon', 0)):,.0f}"
        assert row == [
            arm.key,
            "not private" if model == "none" else f"{model} ε = {epsilon} ({relation})",
            "1",
            "-" if model == "none" else "1",
            as_regret(printed_curves()[arm.printed].regret[-1]),
            "{} ({} to {})".format(*map(as_regret, arm.interval)),
            as_regret(np.median(arm.finals)),
            as_regret(arm.finals.max()),
            f"{found.unsettled} of 4 ({found.low:.0%} to {found.high:.0%})",
            reproduces(arm),
        ]
    by_key = {arm.key: arm for arm in experiment.arms}
    against = {"proven": "proven_UCBVI_non_private", "others": "others_UCBVI_non_private"}
    against["fitted"] = "fitted_UCBVI_non_private"
    private = [a for p in ("proven", "others", "fitted") for a in experiment.arms if a.panel == p]
    private = [arm for arm in private if arm.printed != "non_private"]
    for row, arm in zip(pairs[1:], private, strict=True):
        reference = by_key[against[arm.panel]]
        one = paired(arm.finals, reference.finals)
        cost = (arm.finals - reference.finals).mean()
        better = np.mean(arm.finals[:, None] < reference.finals[None, :])
        assert row[:2] == [arm.key, reference.key] and float(row[3]) == pytest.approx(better, abs=0.005)
        assert row[2] == f"{as_regret(cost)} ({as_regret(one.low)} to {as_regret(one.high)})"
        assert row[4] == "1"  # of 4 runs each, and 12 comparisons
    assert verdicts[0][1:] == ["Section 5's noise", "other privatizers", "fitted, shape only"]
    judged = judge(columns(experiment), ["fitted, shape only"])
    assert verdicts[1:] == [[sentence, *(of[sentence] for of in judged.values())] for sentence in SENTENCES]
    assert verdicts[3][3] == "fitted"  # that a larger ε has the smaller regret was put in
    assert "Holm's correction over all\n23 contrasts" in path.read_text()  # 10 each, and 3 of shape


def test_a_panel_that_lacks_a_curve_is_not_judged(experiment):
    kept = [arm for arm in experiment.arms if arm.key != "others_DP-UCBVI_ldp_eps2"]
    assert list(columns(experiment._replace(arms=kept))) == ["Section 5's noise", "fitted, shape only"]


def test_what_the_words_say_of_the_runs_that_ship_is_so():
    """Noise, factors, certificates and changes of the algorithm that titles and captions name."""
    shipped = Shipped(Path(__file__).resolve().parents[3] / "paper" / "results")
    arms = {arm.key: arm for arm in shipped.load_experiment("riverswim").arms}
    noise = {curve: arms[f"fitted_{curve}"].runs[0].trace.noise_scale for curve in CURVES[1:]}
    assert list(noise.values()) == pytest.approx([0.5, 1.0, 0.075])
    factors = {
        (arms[f"fitted_{c}"].config["bonus"]["scale"], arms[f"fitted_{c}"].config["confidence"]["scale"])
        for c in noise
    }
    assert len(factors) == 1
    others = {"jdp_eps2": "batches", "jdp_eps1": "batches", "ldp_eps2": "one_question"}
    for curve, privatizer in others.items():
        model, epsilon = curve[:3].upper(), float(curve[-1])
        certified, proven = arms[f"{privatizer}_{curve}"], arms[curve].certificate
        assert (certified.certificate.model, certified.certificate.delta) == (model, 0.0)
        assert certified.certificate.replace_one == pytest.approx(epsilon)
        assert (proven.model, proven.add_remove) == (model, pytest.approx(epsilon))
        config = certified.config
        assert (config["agent"]["cap"], config["postprocess"]["zero"]) == ("steps_left", 3.0)
    straight = [arm for arm in arms.values() if arm.panel in ("proven", "literal") and arm.key != "ucbvi"]
    halves = [np.mean(half) / np.mean(full) for half, full in (arm.half_and_full for arm in straight)]
    assert len(halves) == 10 and np.abs(np.array(halves) - 0.5).max() < 0.03


def test_printed_regrets_are_told_for_their_own_size_only():
    config = {"env": RIVER, "K": 50_000}
    assert final_regrets(config)["jdp_eps1"] == 5970.0
    assert final_regrets({**config, "K": 40_000}) == {} == final_regrets({**config, "env": {**RIVER, "H": 10}})


def test_the_share_that_never_settles_has_clopper_and_pearsons_interval(experiment):
    arm = experiment.arms[2]
    found = tail(with_regrets(arm, [*[0.1 * EPISODES] * 3, arm.runs[3].trace.regret]))
    wanted = binomtest(3, 4).proportion_ci(0.95, "exact")
    assert (found.unsettled, found.runs) == (3, 4)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-6)
