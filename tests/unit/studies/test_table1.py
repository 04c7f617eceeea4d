"""Table 1: ranks and disagreements on runs made up for the purpose, and every dot and cell that shows them."""

import csv
import math
import re
from pathlib import Path

import numpy as np
import pytest
from drawn import across, is_log, legend, lines, said, ticks
from made_up import RIVER, end, stored_arm, stored_experiment
from omegaconf import OmegaConf

from dpucbvi.lab.store import StoredArm, StoredExperiment
from dpucbvi.studies import study
from dpucbvi.studies.table1 import STUDY
from dpucbvi.studies.table1.bounds import BY_AGENT, ROWS, Sizes
from dpucbvi.studies.table1.cells import regret_cell, thousands
from dpucbvi.studies.table1.factors import best_factors
from dpucbvi.studies.table1.measurements import Measurement, disagreements, tabulate

ROOT = Path(__file__).resolve().parents[3]
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


def arm(agent: str, model: str, env: str, regret: float, factor: float | None = None) -> StoredArm:
    S, A, H = SIZES[env]
    settings = {"agent": agent, "model": PRIVATIZERS[model], "epsilon": 500.0, "env": ENVIRONMENTS[env]}
    point = {"env.name": env} | ({} if factor is None else {"bonus.scale": factor})
    return stored_arm(f"{agent}_{model}", regret, point=point, shape=(H, S, A), K=K, **settings)


def experiment(regrets=REGRETS) -> StoredExperiment:
    arms = [arm(*system, env, of[i]) for system, of in regrets.items() for i, env in enumerate(ENVIRONMENTS)]
    return stored_experiment("table1", arms)


FACTORS = {0.001: 1.3, 0.01: 0.25, 0.1: 2.0}  # how a factor changes the regret; PUCB is best at the first


def elsewhere() -> StoredExperiment:
    """Every system at three factors on the hard instance, where PUCB is best at another one than the others."""
    arms = [
        arm(agent, model, "hard_tree", of[1] * (0.05 if (agent, factor) == ("pucb", 0.001) else share), factor)
        for (agent, model), of in REGRETS.items()
        for factor, share in FACTORS.items()
    ]
    return stored_experiment("calibrate_environments", arms)


BEST = {  # factor and rank under each model on the hard instance
    ("pucb", "JDP"): (0.001, 1),
    ("private_ucb_po", "JDP"): (0.01, 4),
    ("private_ucb_vi", "JDP"): (0.01, 3),
    ("dp_ucbvi", "JDP"): (0.01, 2),
    ("ldp_obi", "LDP"): (0.01, 2),
    ("private_ucb_vi", "LDP"): (0.01, 3),
    ("dp_ucbvi", "LDP"): (0.01, 1),
    ("ucbvi_ch", "none"): (0.01, 1),
    ("ucbvi_bf", "none"): (0.01, 2),
}
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


def mean_and_half(agent: str, model: str, env: str) -> tuple[float, float]:
    return end(arm(agent, model, env, REGRETS[agent, model][list(ENVIRONMENTS).index(env)]))


def cell(agent: str, model: str, env: str, plus_minus: str = " ± ") -> str:
    """Written here again, from the numbers."""
    mean, half = mean_and_half(agent, model, env)
    digits = 2 if mean < 10_000 else 1 if mean < 100_000 else 0
    return f"{mean / 1000:.{digits}f}{plus_minus}{half / 1000:.{digits}f}"


@pytest.fixture(scope="module")
def figure():
    return STUDY.draw(experiment())


@pytest.mark.parametrize("panel", [0, 1])
def test_every_system_has_its_dot_its_interval_and_its_runs(figure, panel):
    axes, env = figure.axes[panel], list(ENVIRONMENTS)[panel]
    assert is_log(axes) == (True, False)
    rows = {text.removesuffix(" §"): at for at, text in ticks(figure.axes[0])[1].items()}
    assert list(rows) == [row.name for row in ROWS]
    colours = {label: entry.colour for label, entry in legend(figure).items()}
    models = {"JDP": "JDP, ε = 500", "LDP": "LDP, ε = 500", "none": "no privacy"}
    dots = [line for line in lines(axes) if len(line.x) == 1]
    assert len(dots) == len(REGRETS)
    for agent, model in REGRETS:
        mean, half = mean_and_half(agent, model, env)
        here = [
            line
            for line in lines(axes)
            if line.colour == colours[models[model]] and abs(line.y[0] - rows[BY_AGENT[agent].name]) < 0.5
        ]
        runs, interval, dot = here
        made = arm(agent, model, env, REGRETS[agent, model][panel])
        np.testing.assert_allclose(runs.x, [run.trace.regret[-1] for run in made.runs], rtol=1e-12)
        np.testing.assert_allclose(interval.x, [mean - half, mean + half], rtol=1e-9)
        assert dot.x[0] == pytest.approx(mean) and dot.marker == legend(figure)[models[model]].marker
        assert set(runs.y) == set(interval.y) == set(dot.y)


def test_systems_go_from_top_to_bottom(figure):
    bottom, top = figure.axes[0].get_ylim()
    assert bottom > top
    marked = [text for text in ticks(figure.axes[0])[1].values() if text.endswith(" §")]
    assert marked == [f"{row.name} §" for row in ROWS if row.reconstructed]


@pytest.mark.parametrize("panel", [0, 1])
def test_the_two_upright_lines(figure, panel):
    axes, env = figure.axes[panel], list(ENVIRONMENTS)[panel]
    S, A, H = SIZES[env]
    dotted, dashed = (line for line in axes.lines if float(line.get_xdata()[0]) in across(axes)["x"])
    assert dotted.get_xdata()[0] == pytest.approx(math.sqrt(S * A * H**2 * H * K))
    assert dashed.get_xdata()[0] == pytest.approx(tabulate(experiment()).uniform[env])
    entries = legend(figure)
    assert str(dotted._unscaled_dash_pattern) == entries[r"$\sqrt{SAH^2T}$"].look[2]
    assert str(dashed._unscaled_dash_pattern) == entries["uniformly random policy"].look[2]
    assert axes.get_title("left") == f"{NAMES[env]}, $S={S}$, $A={A}$, $H={H}$"


def test_the_words(figure):
    words = said(figure)
    for part in ("50,000 episodes, mean and 95% interval of 3 runs", "if a user is added\nor removed"):
        assert part in words
    assert "Factors on bonus and $E$ chosen on RiverSwim." in words


def test_every_factor_has_its_dot():
    made = elsewhere()
    (axes,) = study("calibrate_environments").draw(made).axes
    found = sorted(float(line.x[0]) for line in lines(axes) if len(line.x) == 1)
    assert found == pytest.approx(sorted(end(arm)[0] for arm in made.arms)) and len(found) == 27
    runs = sorted(float(x) for line in lines(axes) if len(line.x) == 3 for x in line.x)
    assert runs == pytest.approx(sorted(run.trace.regret[-1] for arm in made.arms for run in arm.runs))
    words = said(axes.figure)
    assert "A dot for every factor on the bonus." in words and "chosen on RiverSwim" not in words


def test_every_dot_of_a_factor_is_in_the_row_of_its_system():
    made = elsewhere()
    figure = study("calibrate_environments").draw(made)
    (axes,) = figure.axes
    rows = {at: text.removesuffix(" §") for at, text in ticks(axes)[1].items()}
    colours = {entry.colour: label[:3] for label, entry in legend(figure).items() if entry.marker != "None"}
    shown = {
        (rows[round(float(line.y[0]))], colours[line.colour], round(float(line.x[0]), 6))
        for line in lines(axes)
        if len(line.x) == 1
    }
    models = {"JDP": "JDP", "LDP": "LDP", "none": "no "}
    assert shown == {
        (
            BY_AGENT[a.runs[0].config["agent"]["name"]].name,
            models[a.runs[0].certificate.model],
            round(end(a)[0], 6),
        )
        for a in made.arms
    }


def written(tmp_path: Path, factors: bool = True) -> dict[str, str]:
    others = {"calibrate_environments": elsewhere()} if factors else {}
    paths = STUDY.report(experiment(), tmp_path, others.get)
    assert [path.name for path in paths] == ["table1.md", "table1.tex", "table1.csv"]
    return {path.suffix[1:]: path.read_text() for path in paths}


def parts(text: str) -> list[list[list[str]]]:
    """The tables of a Markdown text, cell by cell, without their rules."""
    blocks = re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE)
    tables = [[line.strip("| ").split(" | ") for line in block.strip().splitlines()] for block in blocks]
    return [[[c.strip() for c in line] for line in [table[0], *table[2:]]] for table in tables]


def systems(model: str) -> list[str]:
    """The agents of a model in the order of the table."""
    return [row.agent for row in ROWS if (row.agent, model) in REGRETS]


def test_markdown_has_every_regret_beside_its_bound(tmp_path):
    header, *rows = parts(written(tmp_path)["md"])[0]
    private = ["RiverSwim", "hard instance"]
    assert header == [
        "Algorithm",
        "Regret under ε-JDP",
        *private,
        "Regret under ε-LDP",
        *private,
        "Type of bonus",
    ]
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
                cells = [cell(row.agent, model, env) if made else "NA" for env in ENVIRONMENTS]
                assert half == [bound.text().replace("*", r"\*"), *cells]
        assert own[6] == row.bonus
    for agent in ("ucbvi_ch", "ucbvi_bf"):
        row = BY_AGENT[agent]
        cells = [cell(agent, "none", env) for env in ENVIRONMENTS]
        assert by_name[f"{row.name}, no privacy"] == [row.none.text(), *cells, "", "", "", row.bonus]
    uniform = tabulate(experiment()).uniform
    assert by_name["Uniformly random policy"][1:3] == [thousands(uniform[env]) for env in ENVIRONMENTS]
    # √(SAH²T) is 69,282 and 6,124; √(HSAT)/ε adds 5 to the latter under LDP, and 31 to the former.
    plain = ["Ω(√(SAH²T))", "*69.3*", "*6.12*"]
    assert by_name["Lower bound without DP"] == [*plain, *plain, "NA"]
    private = ["Ω̃(√(SAH²T) + SAH/ε)", "*69.3*", "*6.12*", "Ω̃(√(SAH²T) + √(SAHT)/ε)", "*69.3*", "*6.13*"]
    assert by_name["Lower bound with DP"] == [*private, "NA"]
    assert len(rows) == 6 + 2 + 2 + 1


def test_markdown_has_both_ranks_of_every_system(tmp_path):
    _, *rows = parts(written(tmp_path)["md"])[1]
    found = iter(rows)
    for model in ("JDP", "LDP", "none"):
        for agent in systems(model):
            ranks = [f"**{text[:-1]}**" if text.endswith("*") else text for text in RANKS[agent, model]]
            bounds = [thousands(bound_value(agent, model, env)) for env in ENVIRONMENTS]
            over = mean_and_half(agent, model, "hard_tree")[0] / math.sqrt(3 * 2 * 25 * 5 * K)
            cells = [bounds[0], ranks[0], bounds[1], ranks[1], f"{over:.2f}"]
            assert next(found) == [BY_AGENT[agent].name, model, *cells]
    assert list(found) == []


def test_markdown_says_what_the_best_factors_bring(tmp_path):
    _, *rows = parts(written(tmp_path)["md"])[2]
    assert len(rows) == len(REGRETS)
    powers = {0.001: "10⁻³", 0.01: "10⁻²"}
    for name, model, table, best, factor, rank in rows:
        (agent,) = [row.agent for row in ROWS if row.name == name]
        chosen, best_rank = BEST[agent, model]
        share = 0.05 if agent == "pucb" else 0.25
        assert table == thousands(mean_and_half(agent, model, "hard_tree")[0])
        assert best == thousands(share * mean_and_half(agent, model, "hard_tree")[0])
        assert factor == powers[chosen]
        assert rank == f"{RANKS[agent, model][1].strip('*').split(' → ')[1]} → {best_rank}"
    assert "How much hangs on the factors" not in written(tmp_path, factors=False)["md"]


def test_markdown_lists_the_disagreements(tmp_path):
    text = written(tmp_path)["md"]
    lines = [line for line in text.splitlines() if "has a smaller bound" in line]
    pairs = [
        re.search(r"- (.*), (\w+): (\S+) has .* than (\S+?)( \(the intervals meet\))?\.$", line)
        for line in lines
    ]
    assert [(p[1], p[2], p[3], p[4], p[5] is None) for p in pairs] == [
        ("RiverSwim", "JDP", "Private-UCB-VI", "PUCB", True),
        ("RiverSwim", "JDP", "DP-UCBVI", "PUCB", True),
        ("RiverSwim", "LDP", "DP-UCBVI", "Private-UCB-VI", False),
        ("hard instance", "LDP", "Private-UCB-VI", "LDP-OBI", False),
        ("hard instance", "none", "UCBVI-BF", "UCBVI-CH", False),
    ]
    a, b = bound_value("dp_ucbvi", "JDP", "riverswim"), bound_value("pucb", "JDP", "riverswim")
    assert f"({thousands(a)} < {thousands(b)}) and a larger regret (2.02 > 1.01) than PUCB." in lines[1]


def latex_tables(text: str) -> list[list[list[str]]]:
    """The cells of every tabular, without its rules and heads over several columns."""
    found = []
    for body in re.findall(r"\\begin\{tabular\}.*?\n(.*?)\\end\{tabular\}", text, re.DOTALL):
        rows = [line.removesuffix(r" \\") for line in body.splitlines() if line.endswith(r" \\")]
        found.append([row.split(" & ") for row in rows if "multicolumn" not in row])
    return found


def math_mode(text: str) -> str:
    return f"${text}$".replace(",", "{,}")


def test_latex_has_every_regret_beside_its_bound(tmp_path):
    header, *rows = latex_tables(written(tmp_path)["tex"])[0]
    names = ["RiverSwim", "hard instance"]
    assert header == ["Algorithm", "bound", *names, "bound", *names, "Type of bonus"]
    found = iter(rows)
    for row in (row for row in ROWS if row.none is None):
        first, *own, bonus = next(found)
        mark = r"$^\S$" if row.reconstructed else ""
        assert (first, bonus) == (rf"{row.name}{mark} \citep{{{row.citation}}}", row.bonus)
        for model, half in (("JDP", own[:3]), ("LDP", own[3:])):
            bound = row.bound(model)
            made = (row.agent, model) in REGRETS
            cells = [cell(row.agent, model, env, r" \pm ") if made else "NA" for env in ENVIRONMENTS]
            assert half == (["NA"] * 3 if bound is None else [bound.latex(), *map(math_mode, cells)])
    for name, last in (("Lower bound without DP", "6.12"), ("Lower bound with DP", "6.13")):
        first, *own, bonus = next(found)
        assert first.startswith(name) and bonus == "NA"
        assert own[1:3] == [r"$\mathit{69.3}$", r"$\mathit{6.12}$"]
        assert own[4:6] == [r"$\mathit{69.3}$", rf"$\mathit{{{last}}}$"]
    for agent in ("ucbvi_ch", "ucbvi_bf"):
        row = BY_AGENT[agent]
        cells = [math_mode(cell(agent, "none", env, r" \pm ")) for env in ENVIRONMENTS]
        first = rf"{row.name} \citep{{{row.citation}}}, no privacy"
        assert next(found) == [first, row.none.latex(), *cells, "", "", "", row.bonus]
    uniform = tabulate(experiment()).uniform
    cells = [math_mode(thousands(uniform[env])) for env in ENVIRONMENTS]
    assert next(found) == ["Uniformly random policy", "", *cells, "", "", "", "NA"]
    assert list(found) == []


MODEL_NAMES = {"JDP": r"$\epsilon$-JDP", "LDP": r"$\epsilon$-LDP", "none": "no privacy"}


def test_latex_has_both_ranks_of_every_system(tmp_path):
    _, *rows = latex_tables(written(tmp_path)["tex"])[1]
    found = iter(rows)
    for model in ("JDP", "LDP", "none"):
        for agent in systems(model):
            ranks = [text.strip("*").replace(" → ", r"\to") for text in RANKS[agent, model]]
            bold = [
                rf"$\mathbf{{{r}}}$" if "*" in t else f"${r}$"
                for r, t in zip(ranks, RANKS[agent, model], strict=True)
            ]
            bounds = [math_mode(thousands(bound_value(agent, model, env))) for env in ENVIRONMENTS]
            over = mean_and_half(agent, model, "hard_tree")[0] / math.sqrt(3 * 2 * 25 * 5 * K)
            cells = [bounds[0], bold[0], bounds[1], bold[1], f"${over:.2f}$"]
            assert next(found) == [BY_AGENT[agent].name, MODEL_NAMES[model], *cells]
    assert list(found) == []


def test_latex_says_what_the_best_factors_bring(tmp_path):
    header, *rows = latex_tables(written(tmp_path)["tex"])[2]
    assert header == ["Algorithm", "Model", "table", "best", "factor", "rank"]
    found = iter(rows)
    for model in ("JDP", "LDP", "none"):
        for agent in systems(model):
            chosen, best_rank = BEST[agent, model]
            mean = mean_and_half(agent, model, "hard_tree")[0]
            best = (0.05 if agent == "pucb" else 0.25) * mean
            rank = RANKS[agent, model][1].strip("*").split(" → ")[1]
            cells = [
                math_mode(thousands(mean)),
                math_mode(thousands(best)),
                f"$10^{{{round(math.log10(chosen))}}}$",
            ]
            assert next(found) == [BY_AGENT[agent].name, MODEL_NAMES[model], *cells, rf"${rank}\to{best_rank}$"]
    assert list(found) == []
    assert len(latex_tables(written(tmp_path, factors=False)["tex"])) == 2


def test_latex_is_well_formed(tmp_path):
    text = written(tmp_path)["tex"]
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 3
    assert text.count("{") == text.count("}") and text.count("$") % 2 == 0
    for table in latex_tables(text):
        assert len({len(row) for row in table}) == 1
    assert all(row.citation in text for row in ROWS)
    assert r"$\epsilon=500$ if a user is added or removed ($1000$ if she is replaced)" in text
    assert "$K=50{,}000$ episodes" in text and "over 3 runs" in text


def test_the_csv_has_every_number(tmp_path):
    rows = list(csv.DictReader(written(tmp_path)["csv"].splitlines()))
    assert len(rows) == 2 * len(REGRETS)
    for row in rows:
        agent, model, env = row["agent"], row["model"], row["environment"]
        mean, half = mean_and_half(agent, model, env)
        S, A, H = SIZES[env]
        assert (row["regret"], row["half_width_95"]) == (f"{mean:.1f}", f"{half:.1f}")
        assert row["bound_value"] == f"{bound_value(agent, model, env):.1f}"
        assert row["bound"] == BY_AGENT[agent].bound(model).text() and row["name"] == BY_AGENT[agent].name
        assert [int(row[x]) for x in "SAHT"] == [S, A, H, H * K]
        assert float(row["epsilon_add_remove"]) == (math.inf if model == "none" else 500.0)
        ranks = RANKS[agent, model][list(ENVIRONMENTS).index(env)].strip("*")
        assert f"{row['rank_bound']} → {row['rank_measured']}" == ranks
        assert float(row["regret_over_sqrt_SAH2T"]) == pytest.approx(
            mean / math.sqrt(S * A * H**3 * K), abs=1e-4
        )


def test_ranks_and_where_they_disagree():
    table = tabulate(experiment())
    assert len(table.measurements) == 2 * len(REGRETS)
    for m in table.measurements:
        text = RANKS[m.row.agent, m.model][list(ENVIRONMENTS).index(m.env)]
        assert (f"{m.rank_bound} → {m.rank_measured}", m.in_order) == (text.strip("*"), "*" not in text)
    pairs = [(d.better.row.agent, d.worse.row.agent, d.better.model, d.clear) for d in disagreements(table)]
    assert pairs[:3] == [
        ("private_ucb_vi", "pucb", "JDP", True),
        ("dp_ucbvi", "pucb", "JDP", True),
        ("dp_ucbvi", "private_ucb_vi", "LDP", False),
    ]


def test_what_a_row_is_measured_against():
    table = tabulate(experiment())
    (m,) = [m for m in table.measurements if (m.row.agent, m.model, m.env) == ("dp_ucbvi", "JDP", "riverswim")]
    assert m.at == Sizes(6, 2, 20, 10**6, 500.0) and m.regret == pytest.approx(2020.0)
    assert m.bound == pytest.approx(math.sqrt(12 * 400 * 10**6) + 36 * 2 * 8000 / 500)
    assert m.over_lower_bound == pytest.approx(2020 / math.sqrt(12 * 400 * 10**6))
    assert table.epsilon == 500.0
    # Of the possible 3.3973 an episode, the uniformly random policy loses most.
    assert 0.9 * 3.3973 * K < table.uniform["riverswim"] < 3.3973 * K


def test_cells():
    assert [thousands(x) for x in (41, 9_590, 12_340, 164_863)] == ["0.04", "9.59", "12.3", "165"]
    m = Measurement(BY_AGENT["pucb"], "JDP", "riverswim", Sizes(6, 2, 20, 2000, 500.0), 12_340.0, 456.0, ())
    assert regret_cell(m, " ± ") == "12.3 ± 0.5"
    assert regret_cell(m._replace(half_width=math.nan), " ± ") == "12.3"
    assert regret_cell(None, " ± ") == "NA"


def test_the_best_factor_of_every_system():
    best = best_factors(elsewhere())
    found = {(row.agent, model): (b.factor, b.rank) for (row, model, _), b in best.items()}
    assert found == BEST
    regrets = {(row.agent, model): b.regret for (row, model, _), b in best.items()}
    assert regrets["pucb", "JDP"] == pytest.approx(0.05 * 1.01 * 23_456.0)
    assert regrets["dp_ucbvi", "JDP"] == pytest.approx(0.25 * 1.01 * 7_100.0)


def test_the_arms_have_the_calibrated_factors():
    """Least objective over the same 25 points for every system of +exp=calibrate_table1."""
    with (ROOT / "paper" / "tables" / "calibrate_table1.csv").open() as file:
        rows = list(csv.DictReader(file))
    agents = ("pucb", "ldp_obi", "private_ucb_po", "dp_nash_vi")
    arms = [OmegaConf.load(ROOT / "conf" / "arm" / f"{agent}.yaml") for agent in agents]
    assert {row["algorithm"] for row in rows} == {arm.label for arm in arms}
    for arm in arms:
        points = [row for row in rows if row["algorithm"] == arm.label]
        best = min(points, key=lambda row: float(row["objective"]))
        assert len(points) == 25 and best["chosen"] == "1"
        assert arm.bonus.scale == float(best["bonus_factor"])
        assert arm.confidence.scale == float(best["confidence_factor"])
