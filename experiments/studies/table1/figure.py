"""Table 1 as dots: the regret of every system under both models, a panel for each environment."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.lab.store import StoredExperiment
from experiments.studies.shared.sheet import PAGE, Margins, Sheet, lay_out, write_title
from experiments.studies.shared.style import DASHED, DOTTED, MARKER, PRIVACY, QUIET, SMALL
from experiments.studies.table1.bounds import LOWER_BOUND, ROWS, Row
from experiments.studies.table1.cells import own_noise_text
from experiments.studies.table1.measurements import ENVIRONMENT_NAMES, Measurement, Table, tabulate

MARKS = {"JDP": "s", "LDP": "D", "none": "o"}
SHIFT = {"JDP": -0.16, "LDP": 0.16, "none": 0.0}
A_ROW = 2  # panels


def draw(experiment: StoredExperiment, sheet: Sheet = PAGE) -> Figure:
    """One dot for every system, model and environment."""
    return draw_dots(experiment, "Factors on bonus and $E$ chosen in each environment.", sheet)


def draw_dots(experiment: StoredExperiment, factors: str, sheet: Sheet = PAGE) -> Figure:
    """Systems from top to bottom in the order of the table; the caption says which factors they have."""
    table = tabulate(experiment)
    count, margins = len(table.environments), Margins(left=1.34, inner=0.15)
    columns = min(A_ROW, count)
    heights = [2.2 * sheet.scale**2] * count
    figure, panels = lay_out(sheet, heights, columns, margins, _caption(table, factors), [_legend(table)])
    for i, (axes, env) in enumerate(zip(panels, table.environments, strict=True)):
        _draw_environment(axes, table, env)
        names = (
            [_system(row) for row in ROWS] if i % columns == 0 or sheet.across < columns else [""] * len(ROWS)
        )
        axes.set_yticks(range(len(ROWS)), names)
        axes.set_ylim(len(ROWS) - 0.5, -0.5)
    return figure


def _draw_environment(axes: Axes, table: Table, env: str) -> None:
    for m in table.measurements:
        if m.env == env:
            _draw_dot(axes, m)
    at = table.sizes(env)
    assert LOWER_BOUND.jdp is not None
    axes.axvline(LOWER_BOUND.jdp.value(at), color=QUIET, linewidth=0.9, linestyle=DOTTED, zorder=1)
    axes.axvline(table.uniform[env], color=QUIET, linewidth=0.9, linestyle=DASHED, zorder=1)
    axes.set_xscale("log")
    axes.grid(True, axis="x")
    name = ENVIRONMENT_NAMES[env]
    write_title(axes, f"{name}, $S={at.S}$, $A={at.A}$, $H={at.H}$", SMALL + 0.5)
    axes.set_xlabel("regret")
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
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
    lines = [
        Line2D([], [], color=QUIET, linewidth=0.9, linestyle=DOTTED, label=r"$\sqrt{SAH^2T}$"),
        Line2D([], [], color=QUIET, linewidth=0.9, linestyle=DASHED, label="uniformly random policy"),
    ]
    return [*dots, *lines]


def _caption(table: Table, factors: str) -> str:
    return (
        f"Regret after {table.K:,} episodes, mean and 95% bootstrap interval of {table.runs} runs, each run a "
        "tick. ε: as certified if a user is added or removed (twice that if she is replaced)"
        f"{own_noise_text(table)}. {factors} § reconstructed (paper/DEVIATIONS.md)."
    )
