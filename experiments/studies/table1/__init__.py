"""The paper's Table 1 with every row running: bounds, measured regret, and where their orders disagree.

The figure has the regret of every system under both models as dots, a panel for each environment;
paper/tables/table1.{md,csv} have the table.
"""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.lab.store import StoredExperiment
from experiments.studies import Rows, Stored, Study, table1_private
from experiments.studies.shared.arms import SHORT_ENVIRONMENTS
from experiments.studies.shared.style import DASHED, MARKER, PRIVACY, QUIET, SMALL, legend_below, new_panels
from experiments.studies.shared.tables import markdown, write_csv, write_page
from experiments.studies.table1 import cells
from experiments.studies.table1.bounds import ROWS, Row
from experiments.studies.table1.measurements import Measurement, Table, chosen, tabulate

MARKS = {"JDP": "s", "LDP": "D", "none": "o"}
SHIFT = {"JDP": -0.16, "LDP": 0.16, "none": 0.0}
A_ROW = 2  # panels


def draw(experiment: StoredExperiment) -> Figure:
    """One dot for every system, model and environment; systems from top to bottom in the order of the table."""
    table = tabulate(experiment)
    columns = min(A_ROW, len(table.environments))
    rows = -(-len(table.environments) // columns)
    figure, panels = new_panels([2.5] * rows, columns, sharey=True)
    legend_below(figure, _legend(table), 3)
    for axes, env in zip(panels, table.environments, strict=False):
        _draw_environment(axes, table, env)
    for axes in panels[len(table.environments) :]:
        axes.set_axis_off()
    panels[0].set_yticks(range(len(ROWS)), [_system(row) for row in ROWS])
    panels[0].set_ylim(len(ROWS) - 0.5, -0.5)
    return figure


def _draw_environment(axes: Axes, table: Table, env: str) -> None:
    for m in table.measurements:
        if m.env == env:
            _draw_dot(axes, m)
    at = table.sizes(env)
    axes.axvline(table.uniform[env], color=QUIET, linewidth=0.9, linestyle=DASHED, zorder=1)
    axes.set_xscale("log")
    axes.grid(False, axis="y")
    axes.set_title(f"{SHORT_ENVIRONMENTS[env]}\n$S={at.S}$, $A={at.A}$, $H={at.H}$", fontsize=SMALL)
    axes.set_xlabel("regret")
    axes.tick_params(axis="y", length=0, labelsize=SMALL)
    axes.spines["left"].set_visible(False)
    for i in range(len(ROWS) - 1):
        axes.axhline(i + 0.5, color="#EFEFEF", linewidth=0.6, zorder=0)


def _draw_dot(axes: Axes, m: Measurement) -> None:
    y, hue = ROWS.index(m.row) + SHIFT[m.model], PRIVACY[m.model]
    axes.plot(m.runs, [y] * len(m.runs), color=hue, marker="|", markersize=7, linestyle="", alpha=0.6)
    axes.plot([m.low, m.high], [y, y], color=hue, linewidth=1.6, zorder=3)
    axes.plot(m.regret, y, color=hue, marker=MARKS[m.model], linestyle="", zorder=4, **MARKER)


def _system(row: Row) -> str:
    return f"{row.name}{' §' * row.reconstructed}"


def _legend(table: Table) -> list[Line2D]:
    names = {
        "JDP": f"JDP, ε = {table.epsilon:g}",
        "LDP": f"LDP, ε = {table.epsilon:g}",
        "none": "no privacy",
    }
    dots = [
        Line2D([], [], color=PRIVACY[model], marker=mark, linestyle="", label=names[model], **MARKER)
        for model, mark in MARKS.items()
    ]
    return [
        *dots,
        Line2D([], [], color=QUIET, linewidth=0.9, linestyle=DASHED, label="uniformly random policy"),
    ]


def write(experiment: StoredExperiment, folder: Path, stored: Stored) -> list[Path]:
    """The table for readers and for programs, with the part on factors if +exp=calibrate_table1 is stored."""
    table, calibrated, small = tabulate(experiment), stored("calibrate_table1"), stored("table1_private")
    names = [SHORT_ENVIRONMENTS[env] for env in table.environments]
    factors = cells.factors_rows(table, chosen(calibrated)) if calibrated else []
    page = write_page(
        folder,
        "table1",
        K=f"{table.K:,}",
        runs=table.runs,
        epsilon=table.epsilon,
        environments=cells.environments_text(table),
        bounds=markdown(cells.bounds_header(table), cells.bounds_rows(table)),
        small=_small(table1_private.table(small)) if small else "(not shipped yet)",
        orders=markdown(cells.orders_header(table), cells.orders_rows(table)),
        disagreements=cells.disagreement_lines(table),
        reversals=cells.reversal_lines(table),
        factors=markdown(["System", "Model", *names], factors),
    )
    return [page, write_csv(folder / "table1.csv", map(_record, table.measurements))]


def _small(rows: Rows) -> str:
    header, *body = rows
    return markdown(header, body)


def in_order(experiment: StoredExperiment) -> Rows:
    """Every row of the paper's table: its bound, its ranks, and whether these agree in every environment."""
    table = tabulate(experiment)
    made: Rows = [("system", "model", "reported bound", "rank by bound → by regret", "reproduces")]
    for row, model, found in cells.systems(table):
        bound = row.bound(model)
        assert bound is not None
        ranks = ", ".join(f"{m.rank_bound} → {m.rank_measured}" for m in found)
        agrees = "yes" if all(m.in_order for m in found) else "no"
        made.append((row.name, model, bound.text(), ranks, agrees if row.printed else "-"))
    return made


def _record(m: Measurement) -> dict[str, object]:
    bound, (S, A, H, T, epsilon) = m.row.bound(m.model), m.at
    assert bound is not None
    numbers = {"regret": m.regret, "low_95": m.low, "high_95": m.high, "bound_value": m.bound}
    ranks = {"rank_bound": m.rank_bound, "rank_measured": m.rank_measured}
    return {
        **{"agent": m.row.agent, "name": m.row.name, "model": m.model, "bonus": m.row.bonus},
        **{"reconstructed": int(m.row.reconstructed), "bound": bound.text(), "environment": m.env},
        **{"S": S, "A": A, "H": H, "T": T, "epsilon_add_remove": epsilon},
        **{key: f"{value:.1f}" for key, value in numbers.items()},
        **ranks,
        "regret_over_sqrt_SAH2T": f"{m.over_lower_bound:.4f}",
    }


STUDY = Study(draw, in_order, write, folder="tables", needs=("calibrate_table1", "table1_private"))
