"""The paper's Table 1 with every row running: bounds, measured regret, and the order of both.

The figure has the regret of every system under both models as dots, a panel for each environment;
paper/tables/table1.{md,csv} have the table.
"""

from math import log10

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpucbvi.calibrate import Calibration
from dpucbvi.drawing.style import DASHED, MARKER, QUIET, SMALL
from experiments.lab.store import StoredExperiment
from experiments.studies import Rows, Stored, Study, table1_private
from experiments.studies.shared.arms import SHORT_ENVIRONMENTS
from experiments.studies.shared.style import PRIVACY, entry, legend_below, new_panels
from experiments.studies.shared.tables import in_thousands, markdown
from experiments.studies.table1.bounds import LOWER_BOUND, PRIVATE_LOWER_BOUND, ROWS, SUPERSCRIPTS, Row
from experiments.studies.table1.measurements import MODELS, Measurement, Table, chosen, tabulate

MARKS = {"JDP": "s", "LDP": "D", "none": "o"}
SHIFT = {"JDP": -0.16, "LDP": 0.16, "none": 0.0}
A_ROW = 2  # panels
NA = "NA"
Cells = list[list[str]]


def draw(experiment: StoredExperiment) -> Figure:
    """One dot for every system, model and environment; systems from top to bottom in the order of the table."""
    table = tabulate(experiment)
    columns = min(A_ROW, len(table.environments))
    rows = -(-len(table.environments) // columns)
    figure, panels = new_panels([2.5] * rows, columns, sharey=True)
    names = {model: f"{model}, ε = {table.epsilon:g}" for model in ("JDP", "LDP")} | {"none": "no privacy"}
    dots = [entry(names[m], color=PRIVACY[m], marker=MARKS[m], linestyle="", **MARKER) for m in MARKS]
    uniform = entry("uniformly random policy", color=QUIET, linewidth=0.9, linestyle=DASHED)
    legend_below(figure, [*dots, uniform], 3)
    for axes, env in zip(panels, table.environments, strict=False):
        _draw_environment(axes, table, env)
    for axes in panels[len(table.environments) :]:
        axes.set_axis_off()
    panels[0].set_yticks(range(len(ROWS)), [row.name + " §" * row.reconstructed for row in ROWS])
    panels[0].set_ylim(len(ROWS) - 0.5, -0.5)
    return figure


def _draw_environment(axes: Axes, table: Table, env: str) -> None:
    for m in table.measurements:
        if m.env == env:
            y, hue = ROWS.index(m.row) + SHIFT[m.model], PRIVACY[m.model]
            axes.plot(m.runs, [y] * len(m.runs), "|", color=hue, markersize=7, alpha=0.6)
            axes.plot([m.low, m.high], [y, y], color=hue, linewidth=1.6, zorder=3)
            axes.plot(m.regret, y, MARKS[m.model], color=hue, zorder=4, **MARKER)
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


def parts(experiment: StoredExperiment, stored: Stored) -> dict[str, object]:
    """The table for readers, with the parts on factors and on small ε if their experiments are stored."""
    table, calibrated, small = tabulate(experiment), stored("calibrate_table1"), stored("table1_private")
    names = [SHORT_ENVIRONMENTS[env] for env in table.environments]
    choices = chosen(calibrated) if calibrated else {}
    factors = [
        [row.name, model, *(factors_cell(choices[row, model, m.env]) for m in found)]
        for row, model, found in (systems(table) if choices else [])
    ]
    over = [m.over_lower_bound for m in table.measurements]
    return {
        "runs": table.runs,
        "least": f"{min(over):.1g}",
        "most": f"{max(over):.2g}",
        "epsilon": table.epsilon,
        "environments": environments_text(table),
        "bounds": markdown(bounds_rows(table)),
        "small": markdown(table1_private.table(small)) if small else "(not shipped yet)",
        "orders": markdown(orders_rows(table)),
        "factors": markdown([["System", "Model", *names], *factors]),
    }


def records(experiment: StoredExperiment) -> list[dict[str, object]]:
    """The table for programs."""
    return [_record(m) for m in tabulate(experiment).measurements]


# --- cells ---------------------------------------------------------------------------------------------------


def bounds_rows(table: Table) -> Cells:
    """The paper's columns, a number per environment beside every bound; lower bounds; what has no privacy."""
    names, blank = [SHORT_ENVIRONMENTS[env] for env in table.environments], [""] * (1 + len(table.environments))
    private, free = [row for row in ROWS if row.none is None], [row for row in ROWS if row.none]
    uniform = [in_thousands(table.uniform[env]) for env in table.environments]
    return [
        ["Algorithm", "Regret under ε-JDP", *names, "Regret under ε-LDP", *names, "Type of bonus"],
        *([_name(row), *_half(table, row, "JDP"), *_half(table, row, "LDP"), row.bonus] for row in private),
        *(
            [row.name, *_lower_half(table, row, "JDP"), *_lower_half(table, row, "LDP"), row.bonus]
            for row in (LOWER_BOUND, PRIVATE_LOWER_BOUND)
        ),
        *([f"{row.name}, no privacy", *_half(table, row, "none"), *blank, row.bonus] for row in free),
        ["Uniformly random policy", "", *uniform, *blank, NA],
    ]


def orders_rows(table: Table) -> Cells:
    """The bounds' values and both ranks, model by model."""
    columns = [f"{SHORT_ENVIRONMENTS[env]}: {what}" for env in table.environments for what in ("bound", "rank")]
    made = [["System", "Model", *columns, "over √(SAH²T)"]]
    for row, model, found in systems(table):
        ranks = [cell for m in found for cell in (in_thousands(m.bound), bold(m.ranks, not m.in_order))]
        made.append([row.name, model, *ranks, f"{found[-1].over_lower_bound:.2f}"])
    return made


def factors_cell(made: Calibration) -> str:
    """Powers of ten, bold at an edge; in brackets, how many points are as good."""
    powers = [f"{round(log10(factor), 1):g}" for factor in made.choice]
    text = "; ".join("10" + power.translate(SUPERSCRIPTS) for power in powers)
    return f"{bold(text, made.at_edge)} ({len(made.valley)})"


def systems(table: Table) -> list[tuple[Row, str, list[Measurement]]]:
    """Every system under every model that it has, with its measurements in the order of the environments."""
    found = [
        (row, model, [m for env in table.environments if (m := table.find(row, model, env)) is not None])
        for model in MODELS
        for row in ROWS
    ]
    return [one for one in found if one[2]]


def _name(row: Row) -> str:
    return f"{row.name}{'§' * row.reconstructed} ({row.source})"


def _half(table: Table, row: Row, model: str) -> list[str]:
    bound = row.bound(model)
    if bound is None:
        return [NA] * (1 + len(table.environments))
    found = [table.find(row, model, env) for env in table.environments]
    cells = [NA if m is None else in_thousands(m.regret, m.low, m.high) for m in found]
    return [bound.text.replace("*", "\\*"), *cells]


def _lower_half(table: Table, row: Row, model: str) -> list[str]:
    """The value of a lower bound, with the constant 1, stands where others have their regret."""
    bound = row.bound(model)
    assert bound is not None
    sizes = [table.sizes(env)._replace(epsilon=table.epsilon) for env in table.environments]
    return [bound.text, *(f"*{in_thousands(bound.value(at))}*" for at in sizes)]


def bold(text: str, stands_out: bool) -> str:
    return f"**{text}**" if stands_out else text


def environments_text(table: Table) -> str:
    """The environments and their sizes."""
    sizes = {env: table.sizes(env) for env in table.environments}
    return "; ".join(f"{SHORT_ENVIRONMENTS[env]} S={at.S}, A={at.A}, H={at.H}" for env, at in sizes.items())


def in_order(experiment: StoredExperiment) -> Rows:
    """Every row of the paper's table: its bound, its ranks, and whether these agree in every environment."""
    table = tabulate(experiment)
    made: Rows = [("system", "model", "reported bound", "rank by bound → by regret", "reproduces")]
    for row, model, found in systems(table):
        bound = row.bound(model)
        assert bound is not None
        ranks = ", ".join(m.ranks for m in found)
        agrees = "yes" if all(m.in_order for m in found) else "no"
        made.append((row.name, model, bound.text, ranks, agrees if row.printed else "-"))
    return made


def _record(m: Measurement) -> dict[str, object]:
    bound, (S, A, H, T, epsilon) = m.row.bound(m.model), m.at
    assert bound is not None
    numbers = {"regret": m.regret, "low_95": m.low, "high_95": m.high, "bound_value": m.bound}
    return {
        **{"agent": m.row.agent, "name": m.row.name, "model": m.model, "bonus": m.row.bonus},
        **{"reconstructed": int(m.row.reconstructed), "bound": bound.text, "environment": m.env},
        **{"S": S, "A": A, "H": H, "T": T, "epsilon_add_remove": epsilon},
        **{key: f"{value:.1f}" for key, value in numbers.items()},
        **{"rank_bound": m.rank_bound, "rank_measured": m.rank_measured},
        "regret_over_sqrt_SAH2T": f"{m.over_lower_bound:.4f}",
    }


STUDY = Study(draw, in_order, parts, records, folder="tables")
