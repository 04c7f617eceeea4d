"""Table 1: ranks on runs made up for the purpose, and every dot and cell that shows them."""

import csv
import math
import re
from fractions import Fraction
from math import inf, sqrt
from pathlib import Path

import numpy as np
import pytest
from drawn import across, is_log, legend, lines, ticks
from made_up import RIVER, stored_arm, stored_experiment, with_regrets
from mutants import test_no_falsified_figure_passes, test_no_falsified_file_passes  # noqa: F401  (they run here)

from dpucbvi.agents import AGENTS
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import table1_private
from experiments.studies.shared.tables import in_thousands
from experiments.studies.table1 import STUDY
from experiments.studies.table1.bounds import BY_AGENT, LOWER_BOUND, PRIVATE_LOWER_BOUND, ROWS, Sizes

TREE = {"name": "hard_tree", "depth": 1, "A": 2, "H": 5, "gap": 0.25}
ENVIRONMENTS = {"riverswim": RIVER, "hard_tree": TREE}
NAMES = {"riverswim": "RiverSwim", "hard_tree": "hard instance"}
PRIVATIZERS = {"JDP": "central", "LDP": "local", "none": "non_private"}
# Regret by (agent, model) in both environments; the runs spread some percent about it. PUCB and Private-UCB-PO
# have equal bounds under JDP.
REGRETS = {
    ("pucb", "JDP"): (1000.0, 23_456.0),
    ("private_ucb_po", "JDP"): (5000.0, 41_000.0),
    ("private_ucb_vi", "JDP"): (3000.0, 9_800.0),
    ("dp_ucbvi", "JDP"): (2000.0, 7_100.0),
    ("ldp_obi", "LDP"): (6100.0, 88_000.0),
    ("private_ucb_vi", "LDP"): (4500.0, 120_300.0),
    ("dp_ucbvi", "LDP"): (4600.0, 64_000.0),
    ("ucbvi_ch", "none"): (600.0, 512.0),
    ("ucbvi_bf", "none"): (500.0, 700.0),
}
SIZES = {"riverswim": (6, 2, 20), "hard_tree": (3, 2, 5)}
K = 50_000
# What the uniformly random policy loses in an episode of RiverSwim and of the tree, times K.
UNIFORM = {"riverswim": (3.3973 - 0.0438) * K, "hard_tree": 0.375 * K}


def arm(agent: str, model: str, env: str, regret: float, factors: tuple[float, ...] = ()) -> StoredArm:
    S, A, H = SIZES[env]
    settings = {"agent": agent, "model": PRIVATIZERS[model], "epsilon": 500.0, "env": ENVIRONMENTS[env]}
    point = {"env.name": env} | dict(zip(("bonus.scale", "confidence.scale"), factors, strict=False))
    return stored_arm(f"{agent}_{model}", regret, point=point, shape=(H, S, A), K=K, **settings)


def experiment(regrets=REGRETS) -> StoredExperiment:
    arms = [arm(*system, env, of[i]) for system, of in regrets.items() for i, env in enumerate(ENVIRONMENTS)]
    return stored_experiment("table1", arms)


FACTORS = ((1e-4, 1e-3, 1e-2), (1e-3, 1e-2, 1e-1))  # on the bonus and on E


def objective_at(agent: str, env: str, bonus: float, confidence: float | None) -> float:
    """Least in the middle of the grid; PUCB's is least at its lower left corner on the hard instance, and
    DP-UCBVI's is as good one step up and one step down the diagonal."""
    middle = (1e-4, 1e-3) if (agent, env) == ("pucb", "hard_tree") else (1e-3, 1e-2)
    up, right = math.log10(bonus / middle[0]), math.log10((confidence or middle[1]) / middle[1])
    away = abs(up + right) if agent == "dp_ucbvi" else abs(up) + abs(right)
    return 1000.0 * (1.0 + away)


def calibrated() -> StoredExperiment:
    """Every system at nine points, three without privacy, in both environments."""
    arms = [
        arm(agent, model, env, objective_at(agent, env, b, c), (b,) if c is None else (b, c))
        for agent, model in REGRETS
        for env in ENVIRONMENTS
        for b in FACTORS[0]
        for c in ((None,) if model == "none" else FACTORS[1])
    ]
    return stored_experiment("calibrate_table1", arms)


def factors_wanted(agent: str, model: str, env: str, ten: str, power) -> tuple[str, bool, int]:
    """What is chosen, whether it is at an edge, and how many points are as good; written here again."""
    corner = (agent, env) == ("pucb", "hard_tree")
    chosen = (-4, -3) if corner else (-3,) if model == "none" else (-3, -2)
    return "; ".join(ten + power(x) for x in chosen), corner, 3 if agent == "dp_ucbvi" else 1


# By bound and by regret, on RiverSwim and on the hard instance; starred where the orders disagree.
RANKS = {
    ("pucb", "JDP"): ("3 → 1*", "3 → 3"),
    ("private_ucb_po", "JDP"): ("3 → 4", "3 → 4"),
    ("private_ucb_vi", "JDP"): ("2 → 3*", "2 → 2"),
    ("dp_ucbvi", "JDP"): ("1 → 2*", "1 → 1"),
    ("ldp_obi", "LDP"): ("3 → 3", "3 → 2*"),
    ("private_ucb_vi", "LDP"): ("2 → 1*", "2 → 3*"),
    ("dp_ucbvi", "LDP"): ("1 → 2*", "1 → 1"),
    ("ucbvi_ch", "none"): ("2 → 2", "2 → 1*"),
    ("ucbvi_bf", "none"): ("1 → 1", "1 → 2*"),
}


def bound_value(agent: str, model: str, env: str) -> float:
    S, A, H = SIZES[env]
    epsilon = math.inf if model == "none" else 500.0
    return BY_AGENT[agent].bound(model).value(Sizes(S, A, H, H * K, epsilon))


def interval(agent: str, model: str, env: str) -> tuple[float, float, float]:
    """Mean and percentiles of 2,000 resamples of the three runs."""
    regret = REGRETS[agent, model][list(ENVIRONMENTS).index(env)]
    finals = np.array([run.trace.regret[-1] for run in arm(agent, model, env, regret).runs])
    picks = np.random.default_rng(0).integers(3, size=(2000, 3))
    low, high = np.quantile(finals[picks].mean(axis=1), [0.025, 0.975])
    return float(finals.mean()), float(low), float(high)


def cell(agent: str, model: str, env: str) -> str:
    """Written here again, from the numbers."""
    mean, low, high = interval(agent, model, env)
    digits = 2 if mean < 10_000 else 1 if mean < 100_000 else 0
    return f"{mean / 1000:.{digits}f} ({low / 1000:.{digits}f}–{high / 1000:.{digits}f})"


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(experiment())


@pytest.mark.parametrize("panel", [0, 1])
def test_every_system_has_its_dot_its_interval_and_its_runs(figure, panel):
    axes, env = figure.axes[panel], list(ENVIRONMENTS)[panel]
    assert is_log(axes) == (True, False) and figure.axes[0].yaxis_inverted()
    rows = {text.removesuffix(" §"): at for at, text in ticks(figure.axes[0])[1].items()}
    assert list(rows) == [row.name for row in ROWS]
    colours = {label: entry.colour for label, entry in legend(figure).items()}
    models = {"JDP": "JDP, ε = 500", "LDP": "LDP, ε = 500", "none": "no privacy"}
    assert len([line for line in lines(axes) if len(line.x) == 1]) == len(REGRETS)
    for agent, model in REGRETS:
        mean, low, high = interval(agent, model, env)
        row = BY_AGENT[agent]
        runs, bar, dot = [
            line
            for line in lines(axes)
            if line.colour == colours[models[model]] and abs(line.y[0] - rows[row.name]) < 0.5
        ]
        made = arm(agent, model, env, REGRETS[agent, model][panel])
        np.testing.assert_allclose(runs.x, [run.trace.regret[-1] for run in made.runs], rtol=1e-12)
        np.testing.assert_allclose(bar.x, [low, high], rtol=1e-9)
        assert dot.x[0] == pytest.approx(mean) and dot.marker == legend(figure)[models[model]].marker
        assert set(runs.y) == set(bar.y) == set(dot.y)
    assert across(axes)["x"] == pytest.approx([UNIFORM[env]], rel=1e-3)
    S, A, H = SIZES[env]
    assert axes.get_title("left") == f"{NAMES[env]}\n$S={S}$, $A={A}$, $H={H}$"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    others = {"calibrate_table1": calibrated()}
    return STUDY.report(experiment(), tmp_path_factory.mktemp("report"), others.get)


def written(report: list[Path]) -> dict[str, str]:
    assert [path.name for path in report] == ["table1.md", "table1.csv"]
    return {path.suffix[1:]: path.read_text() for path in report}


def parts(text: str) -> list[list[list[str]]]:
    """The tables of a Markdown text, cell by cell, without their rules."""
    blocks = re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE)
    tables = [[line.strip("| ").split(" | ") for line in block.strip().splitlines()] for block in blocks]
    return [[[c.strip() for c in line] for line in [table[0], *table[2:]]] for table in tables]


def systems(model: str) -> list[str]:
    """The agents of a model in the order of the table."""
    return [row.agent for row in ROWS if (row.agent, model) in REGRETS]


def test_markdown_has_every_regret_beside_its_bound(report):
    _, *rows = parts(written(report)["md"])[0]
    by_name = {row[0]: row[1:] for row in rows}
    for row in ROWS:
        if row.none is not None:
            continue
        own = by_name[f"{row.name}{'§' * row.reconstructed} ({row.source})"]
        for model, half in (("JDP", own[:3]), ("LDP", own[3:6])):
            bound = row.bound(model)
            if bound is None:
                assert half == ["NA"] * 3
            else:
                made = (row.agent, model) in REGRETS
                cells = [cell(row.agent, model, e) if made else "NA" for e in ENVIRONMENTS]
                assert half == [bound.text.replace("*", r"\*"), *cells]
        assert own[6] == row.bonus
    for agent in ("ucbvi_ch", "ucbvi_bf"):
        row = BY_AGENT[agent]
        cells = [cell(agent, "none", env) for env in ENVIRONMENTS]
        assert by_name[f"{row.name}, no privacy"] == [row.none.text, *cells, "", "", "", row.bonus]
    levels = [in_thousands(UNIFORM[env]) for env in ENVIRONMENTS]
    assert by_name["Uniformly random policy"] == ["", *levels, "", "", "", "NA"]
    # √(SAH²T) is 69,282 and 6,124; √(HSAT)/ε adds 5 to the latter under LDP, and 31 to the former.
    plain = ["Ω(√(SAH²T))", "*69.3*", "*6.12*"]
    assert by_name["Lower bound without DP"] == [*plain, *plain, "NA"]
    private = ["Ω̃(√(SAH²T) + SAH/ε)", "*69.3*", "*6.12*", "Ω̃(√(SAH²T) + √(SAHT)/ε)", "*69.3*", "*6.13*"]
    assert by_name["Lower bound with DP"] == [*private, "NA"]
    refined = BY_AGENT["ucbvi_refined"]
    assert by_name["UCBVI, refined, no privacy"] == [refined.none.text, "NA", "NA", "", "", "", refined.bonus]
    assert len(rows) == 5 + 2 + 3 + 1
    certified = "Every private run certifies pure ε = 500 if a user is added or removed, twice that if she is"
    assert certified in written(report)["md"]


def test_markdown_has_both_ranks_of_every_system(report):
    _, *rows = parts(written(report)["md"])[1]
    found = iter(rows)
    for model in ("JDP", "LDP", "none"):
        for agent in systems(model):
            ranks = [f"**{text[:-1]}**" if text.endswith("*") else text for text in RANKS[agent, model]]
            bounds = [in_thousands(bound_value(agent, model, env)) for env in ENVIRONMENTS]
            over = interval(agent, model, "hard_tree")[0] / math.sqrt(3 * 2 * 25 * 5 * K)
            cells = [bounds[0], ranks[0], bounds[1], ranks[1], f"{over:.2f}"]
            assert next(found) == [BY_AGENT[agent].name, model, *cells]
    assert list(found) == []


def test_markdown_has_the_factors(report):
    _, *rows = parts(written(report)["md"])[2]
    assert [row[1] for row in rows] == [model for model in ("JDP", "LDP", "none") for _ in systems(model)]
    for name, model, *cells in rows:
        (agent,) = [row.agent for row in ROWS if row.name == name]
        for shown, env in zip(cells, ENVIRONMENTS, strict=True):
            text, edge, good = factors_wanted(agent, model, env, "10", lambda x: "⁻" + "⁰¹²³⁴"[-x])
            assert shown == f"{f'**{text}**' if edge else text} ({good})"


def test_the_csv_has_every_number(report):
    rows = list(csv.DictReader(written(report)["csv"].splitlines()))
    assert len(rows) == 2 * len(REGRETS)
    for row in rows:
        agent, model, env = row["agent"], row["model"], row["environment"]
        entry, epsilon = BY_AGENT, math.inf if model == "none" else 500.0
        mean, low, high = interval(agent, model, env)
        S, A, H = SIZES[env]
        bound = entry[agent].bound(model)
        value = bound.value(Sizes(S, A, H, H * K, epsilon))
        numbers = [row[key] for key in ("regret", "low_95", "high_95", "bound_value")]
        assert numbers == [f"{x:.1f}" for x in (mean, low, high, value)]
        assert (row["bound"], row["name"], row["bonus"]) == (
            bound.text,
            entry[agent].name,
            entry[agent].bonus,
        )
        assert row["reconstructed"] == str(int(entry[agent].reconstructed))
        assert [int(row[x]) for x in "SAHT"] == [S, A, H, H * K] and float(row["epsilon_add_remove"]) == epsilon
        ranks = RANKS[agent, model][list(ENVIRONMENTS).index(env)].strip("*")
        ranked = f"{row['rank_bound']} → {row['rank_measured']}"
        assert ranked == ranks
        assert row["regret_over_sqrt_SAH2T"] == f"{mean / math.sqrt(S * A * H**3 * K):.4f}"


def test_a_row_reproduces_if_its_ranks_agree_in_every_environment():
    header, *rows = STUDY.table(experiment())
    assert header[-1] == "reproduces" and len(rows) == len(REGRETS)
    agents = {row.name: row for row in ROWS}
    for name, model, bound, ranks, verdict in rows:
        wanted = RANKS[agents[name].agent, model]
        assert bound == agents[name].bound(model).text and ranks == ", ".join(wanted).replace("*", "")
        own = "yes" if "*" not in "".join(wanted) else "no"
        assert verdict == (own if agents[name].printed else "-")
    assert {row[-1] for row in rows} == {"yes", "no", "-"}


def small() -> StoredExperiment:
    """The first half of the runs says that factor 0.1 is best, the second half that it is not."""
    arms = []
    for factor, first, last in ((0.1, 1000.0, 9000.0), (0.2, 2000.0, 500.0)):
        for epsilon in (1.0, 10.0):
            made = stored_arm(
                "dp_ucbvi",
                np.array([1.0]),
                point={"bonus.scale": factor, "privatizer.epsilon": epsilon},
                runs=4,
                model="batches",
                epsilon=epsilon,
            )
            finals = np.array([first, first, last, 1.2 * last]) / epsilon
            arms.append(with_regrets(made, finals))
    return stored_experiment("table1_private", arms)


def test_at_a_small_epsilon_half_of_the_runs_choose_and_the_others_are_the_result():
    header, *rows = table1_private.table(small())
    assert header == ("system", "model", "ε (replaced)", "RiverSwim")
    assert [row[:3] for row in rows] == [("DP-UCBVI", "JDP", "1"), ("DP-UCBVI", "JDP", "10")]
    assert [row[3] for row in rows] == ["9.90 (9.00–10.80)", "0.99 (0.90–1.08)"]
    found = table1_private.chosen(small())
    assert {one.arm.point["bonus.scale"] for one in found.values()} == {0.1}


# --- the bounds: their reported cells, their numbers by hand, their exponents ---------------------------------


HALF = Fraction(1, 2)

# (name, JDP, LDP, bonus) as in the paper.
PRINTED = [
    ("PUCB", "Õ(√(S²AH³T) + S²AH³/ε)*", None, "Hoeffding"),
    ("LDP-OBI", None, "Õ(√(S²AH³T) + S²A√(H⁵T)/ε)†", "Hoeffding"),
    ("Private-UCB-PO", "Õ(√(S²AH³T) + S²AH³/ε)", "Õ(√(S²AH³T) + S²A√(H⁵T)/ε)", "Hoeffding"),
    ("Private-UCB-VI", "Õ(√(SAH³T) + S²AH³/ε)", "Õ(√(SAH³T) + S²A√(H⁵T)/ε)", "Hoeffding"),
    ("DP-UCBVI", "Õ(√(SAH²T) + S²AH³/ε)", "Õ(√(SAH²T) + S²A√(H⁵T)/ε)", "Bernstein"),
    ("Lower bound without DP", "Ω(√(SAH²T))", "Ω(√(SAH²T))", "NA"),
]


def test_the_papers_cells():
    rows = [*(row for row in ROWS if row.printed), LOWER_BOUND]
    cells = [(row.name, *(b and b.text for b in (row.jdp, row.ldp)), row.bonus) for row in rows]
    assert cells == PRINTED


def test_numbers_by_hand():
    """S=2, A=3, H=4, T=100, ε=2: √(SAH²T) = √9600, √(SAH³T) = √38400, S²AH³/ε = 384, S²A√(H⁵T)/ε = 6·320."""
    at = Sizes(2, 3, 4, 100, 2.0)
    assert BY_AGENT["dp_ucbvi"].jdp.value(at) == pytest.approx(sqrt(9600) + 384)
    assert BY_AGENT["dp_ucbvi"].ldp.value(at) == pytest.approx(sqrt(9600) + 1920)
    assert BY_AGENT["private_ucb_vi"].jdp.value(at) == pytest.approx(sqrt(38400) + 384)
    assert BY_AGENT["pucb"].jdp.value(at) == pytest.approx(sqrt(76800) + 384)
    assert LOWER_BOUND.jdp.value(at) == pytest.approx(sqrt(9600))
    assert PRIVATE_LOWER_BOUND.ldp.value(at) == pytest.approx(sqrt(9600) + sqrt(2400) / 2)
    assert BY_AGENT["ucbvi_bf"].none.value(at._replace(epsilon=inf)) == pytest.approx(sqrt(9600))


def test_the_cost_of_privacy_is_the_same_for_all():
    """Exponents that a fit is compared with: JDP S²AH³/ε, LDP S²A√(H⁵T)/ε."""
    jdp = [row.jdp.terms[1] for row in ROWS if row.jdp]
    ldp = [row.ldp.terms[1] for row in ROWS if row.ldp]
    assert jdp == [{"S": 2, "A": 1, "H": 3, "T": 0, "1/ε": 1}] * 4
    assert ldp == [{"S": 2, "A": 1, "H": 5 * HALF, "T": HALF, "1/ε": 1}] * 4


def test_every_row_is_a_system_that_takes_the_models_it_has_bounds_for():
    assert set(BY_AGENT) <= set(AGENTS)
    for row in ROWS:
        models = AGENTS[row.agent].models
        assert (row.jdp is not None, row.ldp is not None) == ("JDP" in models, "LDP" in models)
