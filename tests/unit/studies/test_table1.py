"""Table 1's ranks, disagreements and cells, on runs made up for the purpose."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from dpucbvi.bounds import BY_AGENT, ROWS, Sizes
from dpucbvi.reports.table1 import as_markdown, write_table1
from dpucbvi.reports.table1_cells import regret_cell, thousands
from dpucbvi.reports.table1_latex import latex
from dpucbvi.store import StoredArm, StoredExperiment, StoredRun
from dpucbvi.table1 import Measurement, best_factors, disagreements, table1
from dpucbvi.trace import Trace

# Final regrets of two runs by (agent, model); PUCB and Private-UCB-PO have equal bounds under JDP.
REGRETS = {
    ("pucb", "JDP"): (1000.0, 1010.0),
    ("private_ucb_po", "JDP"): (5000.0, 5010.0),
    ("private_ucb_vi", "JDP"): (3000.0, 3010.0),
    ("dp_ucbvi", "JDP"): (2000.0, 2010.0),
    ("private_ucb_vi", "LDP"): (4000.0, 5000.0),
    ("dp_ucbvi", "LDP"): (4400.0, 4800.0),
    ("ucbvi_bf", "none"): (500.0, 510.0),
}
ROOT = Path(__file__).resolve().parents[2]
PRIVATIZERS = {"JDP": "central", "LDP": "local", "none": "non_private"}


def run(agent: str, model: str, seed: int, regret: float) -> StoredRun:
    env = {"name": "riverswim", "S": 6, "H": 20, "variant": "chowdhury_zhou", "rewards": "deterministic"}
    config = {
        "env": env,
        "agent": {"name": agent},
        "privatizer": {"name": PRIVATIZERS[model]},
        "K": 100,
        "seed": seed,
    }
    epsilon = None if model == "none" else 500.0
    certificate = {"model": model, "add_remove": epsilon, "replace_one": epsilon and 2 * epsilon}
    end = np.array([100])
    trace = Trace(end, np.array([regret]), end, end, np.zeros((20, 6, 2)), np.zeros((20, 6, 2)), {})
    return StoredRun(config, {"certificate": certificate}, trace)


@pytest.fixture
def experiment() -> StoredExperiment:
    arms = [
        StoredArm(
            f"{agent}_{model}",
            agent,
            {},
            agent,
            None,
            None,
            [run(agent, model, i, r) for i, r in enumerate(rs)],
        )
        for (agent, model), rs in REGRETS.items()
    ]
    return StoredExperiment("table1", {"kind": "table1"}, arms)


def test_ranks_and_where_they_disagree(experiment):
    table = table1(experiment)
    ranks = {(m.row.agent, m.model): (m.rank_bound, m.rank_measured) for m in table.measurements}
    assert ranks["pucb", "JDP"] == (3, 1) and ranks["private_ucb_po", "JDP"] == (3, 4)
    assert ranks["private_ucb_vi", "JDP"] == (2, 3) and ranks["dp_ucbvi", "JDP"] == (1, 2)
    out_of_order = {(m.row.agent, m.model) for m in table.measurements if not m.in_order}
    assert out_of_order == {
        ("pucb", "JDP"),
        ("private_ucb_vi", "JDP"),
        ("dp_ucbvi", "JDP"),
        *[(agent, "LDP") for agent in ("private_ucb_vi", "dp_ucbvi")],
    }
    pairs = [(d.better.row.agent, d.worse.row.agent, d.better.model, d.clear) for d in disagreements(table)]
    assert pairs == [
        ("private_ucb_vi", "pucb", "JDP", True),
        ("dp_ucbvi", "pucb", "JDP", True),
        ("dp_ucbvi", "private_ucb_vi", "LDP", False),
    ]


def test_what_a_row_is_measured_against(experiment):
    table = table1(experiment)
    (m,) = [m for m in table.measurements if (m.row.agent, m.model) == ("dp_ucbvi", "JDP")]
    assert m.at == Sizes(6, 2, 20, 2000, 500.0) and m.regret == 2005.0
    assert m.half_width == pytest.approx(12.706204736 * 5.0)  # t_{.975,1} · s/√2, s = 10/√2
    assert m.bound == pytest.approx(math.sqrt(12 * 400 * 2000) + 36 * 2 * 8000 / 500)
    assert m.over_lower_bound == pytest.approx(2005 / math.sqrt(12 * 400 * 2000))
    assert table.epsilon == 500.0
    # Of the possible 3.3973 an episode, the uniformly random policy loses most.
    assert 0.9 * 339.73 < table.uniform["riverswim"] < 339.73


def test_cells():
    assert [thousands(x) for x in (41, 9_590, 12_340, 164_863)] == ["0.04", "9.59", "12.3", "165"]
    m = Measurement(BY_AGENT["pucb"], "JDP", "riverswim", Sizes(6, 2, 20, 2000, 500.0), 12_340.0, 456.0, ())
    assert regret_cell(m, " ± ") == "12.3 ± 0.5"
    assert regret_cell(m._replace(half_width=math.nan), " ± ") == "12.3"
    assert regret_cell(None, " ± ") == "NA"


def test_the_table_in_markdown(experiment):
    text = as_markdown(table1(experiment), {})
    line = next(line for line in text.splitlines() if line.startswith("| PUCB (Vietri"))
    assert line.split(" | ")[1:] == ["Õ(√(S²AH³T) + S²AH³/ε)\\*", "1.00 ± 0.06", "NA", "NA", "Hoeffding |"]
    assert "| Private-UCB-VI§ (" in text and "| DP-UCBVI (" in text
    assert "**3 → 1**" in text and "| 3 → 4 |" in text
    assert "DP-UCBVI has a smaller bound" in text and "(the intervals meet)" in text


def test_the_table_in_latex(experiment):
    text = latex(table1(experiment), {})
    assert r"PUCB \citep{vietri2020private} & $\widetilde{O}(\sqrt{S^2AH^3T}+S^2AH^3/\epsilon)^\star$" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2
    assert text.count("{") == text.count("}") and text.count("$") % 2 == 0
    for part in text.split(r"\begin{tabular}")[1:]:
        rows = [line for line in part.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
        assert len({line.count("&") for line in rows}) == 1
    assert all(row.citation in text for row in ROWS)


def test_all_three_files_are_written(experiment, tmp_path):
    paths = write_table1(experiment, None, tmp_path / "tables")
    assert [path.name for path in paths] == ["table1.md", "table1.tex", "table1.csv"]
    lines = paths[2].read_text().splitlines()
    assert len(lines) == 1 + len(REGRETS) and len({line.count(",") for line in lines}) == 1
    assert lines[1].startswith(
        "pucb,PUCB,JDP,Hoeffding,0,Õ(√(S²AH³T) + S²AH³/ε)*,riverswim,6,2,20,2000,500.0,1005.0,"
    )


def test_the_best_factor_of_every_system(experiment):
    """At factor .1 every regret is a third; PUCB's stays."""
    arms = [arm._replace(point={"bonus.scale": 1.0}) for arm in experiment.arms]
    for arm in experiment.arms:
        share = 2.0 if arm.of == "pucb" else 1 / 3
        runs = [r._replace(trace=r.trace._replace(regret=share * r.trace.regret)) for r in arm.runs]
        arms.append(arm._replace(point={"bonus.scale": 0.1}, runs=runs))
    best = best_factors(experiment._replace(arms=arms))
    found = {(row.agent, model): tuple(b) for (row, model, _), b in best.items()}
    assert found["pucb", "JDP"] == (1005.0, 1.0, 3)
    assert found["dp_ucbvi", "JDP"] == (pytest.approx(2005 / 3), 0.1, 1)
    table = table1(experiment)
    assert "| PUCB | JDP | 1.00 | 1.00 | 10⁰ | 1 → 3 |" in as_markdown(table, best)
    assert r"PUCB & $\epsilon$-JDP & $1.00$ & $1.00$ & $10^{0}$ & $1\to3$ \\" in latex(table, best)


def test_the_arms_have_the_calibrated_scales():
    """Least objective over the same 25 points for every system of +exp=calibrate_table1."""
    with (ROOT / "paper" / "tables" / "calibration.csv").open() as file:
        rows = list(csv.DictReader(file))
    agents = ("pucb", "ldp_obi", "private_ucb_po", "dp_nash_vi")
    arms = [OmegaConf.load(ROOT / "conf" / "arm" / f"{agent}.yaml") for agent in agents]
    assert {row["algorithm"] for row in rows} == {arm.label for arm in arms}
    for arm in arms:
        points = [row for row in rows if row["algorithm"] == arm.label]
        best = min(points, key=lambda row: float(row["objective"]))
        assert len(points) == 25 and best["chosen"] == "1"
        assert (arm.bonus.scale, arm.confidence.scale) == (
            float(best["bonus_scale"]),
            float(best["confidence_scale"]),
        )
