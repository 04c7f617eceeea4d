"""Figure 1 and its tables, drawn from runs that are made up."""

import csv
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from dpucbvi.drawing.epsilon import check_certified, draw_epsilon, threshold
from dpucbvi.drawing.figure1 import as_printed, draw_figure1, nothing_learnt
from dpucbvi.errors import InputError
from dpucbvi.figure1 import LITERAL, PER_STEP, POOLED, PRIVATE_UCB_VI, compared, final, find
from dpucbvi.matching import printed_matches
from dpucbvi.printed import final_regrets, printed_curves
from dpucbvi.reports.figure1 import write_figure1
from dpucbvi.reports.files import markdown
from dpucbvi.reports.matching import write_matching
from dpucbvi.stats import three_digits
from dpucbvi.store import StoredArm, StoredExperiment, StoredRun
from dpucbvi.tables import table
from dpucbvi.trace import Trace

ROOT = Path(__file__).resolve().parents[2]
ENV = {"name": "riverswim", "S": 6, "H": 20, "variant": "chowdhury_zhou", "rewards": "deterministic"}
EPISODES = np.unique(np.geomspace(1, 50_000, 60).astype(np.int64))


def run(seed: int, regret: np.ndarray, model: str, epsilon: float | None, env=ENV) -> StoredRun:
    config = {"env": env, "K": 50_000, "seed": seed, "bonus": {"scale": 0.1}, "confidence": {"scale": 0.1}}
    doubled = None if epsilon is None else 2.0 * epsilon
    certificate = {"model": model, "add_remove": epsilon, "replace_one": doubled}
    zeros = np.zeros_like(EPISODES)
    trace = Trace(EPISODES, regret, zeros, zeros, np.zeros((20, 6, 2)), np.zeros((20, 6, 2)), {})
    return StoredRun(config, {"certificate": certificate}, trace)


def arm(label, panel, curve, regret, epsilon=None, runs=3) -> StoredArm:
    model = "none" if epsilon is None else curve[:3].upper()
    made = [run(seed, (1.0 + 0.001 * seed) * regret, model, epsilon) for seed in range(runs)]
    return StoredArm(f"{panel}_{label}_{curve}", label, {}, label, curve, panel, made)


def figure1(**changes) -> StoredExperiment:
    """Panel a linear but for UCBVI; panel b with the shape and the end of the printed curves."""
    arms = []
    for curve, printed in printed_curves().items():
        shape = np.interp(EPISODES, np.append(0, printed.episodes), np.append(0, printed.regret))
        if curve == "non_private":
            arms += [arm("UCBVI", "a", curve, 0.1 * shape), arm("UCBVI, literal", "a", curve, 3.0 * EPISODES)]
            arms += [arm("UCBVI", "b", curve, shape), arm("UCBVI, pooled", "b", curve, shape)]
            continue
        epsilon = changes.get(curve, float(curve[-1]))
        for label in (PER_STEP.private, POOLED.private, PRIVATE_UCB_VI.private, LITERAL.private):
            arms.append(arm(label, "a", curve, 3.0 * EPISODES, epsilon))
        for label, factor in ((PER_STEP.private, 300.0), (POOLED.private, 10.0)):
            arms.append(arm(label, "b", curve, shape, factor * epsilon))
    return StoredExperiment("riverswim", {"kind": "figure1", "x": "log", "y": "log"}, arms)


def epsilon_grid() -> StoredExperiment:
    """Regret 10⁶/ε, for UCBVI 10⁵ × scale."""
    arms = [arm("UCBVI", None, "non_private", 1e-3 * EPISODES)._replace(of="ucbvi")]
    for of in ("ucbvi_scales", "pooled_ucbvi_scales"):
        for scale in (0.01, 0.1, 1.0):
            made = arm("UCBVI", None, "non_private", 2.0 * scale * EPISODES)
            arms.append(made._replace(key=f"{of}{scale}", of=of, point={"bonus.scale": scale}))
    for curve in ("dp_ucbvi", "private_ucb_vi", "pooled"):
        for model in ("jdp", "ldp"):
            for epsilon in (1.0, 10.0, 100.0, 1000.0):
                made = arm(curve, None, model, 20.0 / epsilon * EPISODES, epsilon)
                point = {"privatizer.epsilon": epsilon}
                arms.append(made._replace(key=f"{curve}{model}{epsilon}", of=f"{curve}_{model}", point=point))
    return StoredExperiment("epsilon", {"kind": "epsilon", "x": "log", "y": "log"}, arms)


def texts(figure) -> str:
    return "\n".join(
        text.get_text() for axes in figure.axes for text in [axes.title, axes._left_title, *axes.texts]
    )


def test_an_arm_is_found_by_panel_variant_and_curve():
    made = figure1()
    assert find(made, "a", PER_STEP, "jdp_eps1").key == "a_DP-UCBVI_jdp_eps1"
    assert find(made, "b", POOLED, "non_private").label == "UCBVI, pooled"
    assert (
        find(made, "b", PRIVATE_UCB_VI, "ldp_eps2") is None and find(made, "b", LITERAL, "non_private") is None
    )
    assert compared(made, "b", PRIVATE_UCB_VI) is None
    with pytest.raises(AssertionError, match="twice"):
        find(made._replace(arms=made.arms * 2), "a", PER_STEP, "jdp_eps1")


def test_final_is_mean_and_interval_of_the_last_regrets():
    mean, half_width = final(find(figure1(), "b", PER_STEP, "jdp_eps1"))
    assert mean == pytest.approx(1.001 * 5970) and 0.0 < half_width < 20.0


def test_the_figure_says_as_printed_and_nothing_learnt_only_if_so():
    made, other = figure1(), figure1(jdp_eps1=5.0)
    assert as_printed(made) and not as_printed(other)
    assert "ε as printed" in texts(draw_figure1(made)) and "ε as printed" not in texts(draw_figure1(other))
    assert nothing_learnt(made) and "nothing learnt" in texts(draw_figure1(made))
    learnt = [a._replace(panel="a") if a.key == "b_DP-UCBVI_jdp_eps1" else a for a in made.arms]
    learnt = made._replace(arms=[a for a in learnt if a.key != "a_DP-UCBVI_jdp_eps1"])
    assert not nothing_learnt(learnt) and "nothing learnt" not in texts(draw_figure1(learnt))


@pytest.mark.parametrize("panel", ["a", "b"])
def test_a_panel_may_be_empty(panel):
    made = figure1()
    said = texts(draw_figure1(made._replace(arms=[arm for arm in made.arms if arm.panel == panel])))
    assert ("nothing learnt" in said) == (panel == "a")


def test_the_figure_names_what_every_curve_certifies():
    said = texts(draw_figure1(figure1()))
    for name in ("JDP ε = 600", "JDP ε = 300", "LDP ε = 600", "printed as ε = 1\npooled 10"):
        assert name in said


def test_the_axes_of_the_epsilon_figure_are_what_is_certified():
    made = epsilon_grid()
    check_certified(made)
    wrong = made.arms[-1]._replace(point={"privatizer.epsilon": 7.0})
    with pytest.raises(AssertionError, match="certifies"):
        draw_epsilon(made._replace(arms=[*made.arms[:-1], wrong]))


def test_the_thresholds_balance_the_two_terms_of_the_bounds():
    S, A, H, K = 6, 2, 20, 50_000
    T = K * H
    central, local = (threshold(model, S, A, H, K).epsilon for model in ("JDP", "LDP"))
    assert S**2 * A * H**3 / central == pytest.approx(np.sqrt(S * A * H**2 * T))
    assert S**2 * A * np.sqrt(H**5 * T) / local == pytest.approx(np.sqrt(S * A * H**2 * T))


def test_matches_are_found_written_and_drawn(tmp_path):
    made = epsilon_grid()
    found = {(m.curve, m.label): m.match.x for m in printed_matches(made)}
    assert found["jdp_eps1", "dp_ucbvi"] == pytest.approx(1.001e6 / 5970)
    assert found["non_private", "UCBVI"] == pytest.approx(4280 / 1.001e5)
    (path,) = write_matching(made, tmp_path)
    rows = list(csv.DictReader(path.open()))
    assert len(rows) == 2 + 3 * 3 and float(rows[0]["value"]) == pytest.approx(0.04276)
    assert "168" in table(made) and len(draw_epsilon(made).axes) == 2


def test_the_report_has_the_three_tables(tmp_path):
    with pytest.raises(InputError, match="matching"):
        write_figure1(figure1(), tmp_path)
    write_matching(epsilon_grid(), tmp_path)
    text, data = write_figure1(figure1(), tmp_path)
    said = text.read_text()
    assert "| non-private | 4,280 | 428 ± " in said and "| ε = 168 (" in said
    verdict = "| larger ε has smaller regret | cannot be told | cannot be told | reproduces | reproduces |"
    assert verdict in said
    assert len(list(csv.DictReader(data.open()))) == len(figure1().arms)


def test_printed_regrets_are_told_for_their_own_size_only():
    config = {"env": ENV, "K": 50_000}
    assert final_regrets(config)["jdp_eps1"] == 5970.0
    assert final_regrets({**config, "K": 40_000}) == {} == final_regrets({**config, "env": {**ENV, "H": 10}})


def test_three_digits_without_a_power_of_ten():
    assert [three_digits(x) for x in (1496.2, 22.08, 0.01352, 1e6)] == ["1,500", "22.1", "0.0135", "1,000,000"]


def test_markdown():
    assert markdown(("a", "b"), [("1", "2")]) == "| a | b |\n| :-- | --: |\n| 1 | 2 |"


def test_only_tables_that_exist_can_be_asked_for(tmp_path):
    spec = importlib.util.spec_from_file_location("cli_tables", ROOT / "experiments" / "tables.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.write([], tmp_path / "results", tmp_path / "paper") == []
    with pytest.raises(InputError, match="no table"):
        script.write(["pie"], tmp_path, tmp_path)
    with pytest.raises(InputError, match="not \\(completely\\) stored"):
        script.write(["calibrate"], tmp_path, tmp_path)
