"""Table 1 as dots: the regret of every system under both models, a panel for each environment."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpucbvi.lab.store import StoredExperiment
from dpucbvi.studies.shared.style import DASHED, DOTTED, MARKER, QUIET, colour, marker
from dpucbvi.studies.table1.bounds import LOWER_BOUND, ROWS, Row
from dpucbvi.studies.table1.measurements import ENVIRONMENT_NAMES, Measurement, Table, tabulate

LOOK = {"JDP": 1, "LDP": 3, "none": 0}  # index of colour and marker
SHIFT = {"JDP": -0.16, "LDP": 0.16, "none": 0.0}
A_ROW = 2  # panels
LEFT, BELOW = 0.175, 0.85  # of the width; inches for the last axis and the caption
ROW, REST = 2.3, 1.1  # inches


def draw(experiment: StoredExperiment) -> Figure:
    """One dot for every system, model and environment."""
    return draw_dots(experiment, "Factors on bonus and $E$ chosen in each environment.")


def draw_dots(experiment: StoredExperiment, factors: str) -> Figure:
    """Systems from top to bottom in the order of the table; the caption says which factors they have."""
    table = tabulate(experiment)
    rows = -(-len(table.environments) // A_ROW)
    figure = Figure(figsize=(7.2, ROW * rows + REST))
    panels = figure.subplots(rows, min(A_ROW, len(table.environments)), sharey=True, squeeze=False)
    height = figure.get_figheight()
    figure.subplots_adjust(
        left=LEFT, right=0.985, top=1.0 - 0.5 / height, bottom=BELOW / height, wspace=0.1, hspace=0.36
    )
    for axes in panels.flat[len(table.environments) :]:
        axes.set_axis_off()
    for axes, env in zip(panels.flat, table.environments, strict=False):
        _draw_environment(axes, table, env)
    panels[0, 0].set_yticks(range(len(ROWS)), [_system(row) for row in ROWS])
    panels[0, 0].set_ylim(len(ROWS) - 0.5, -0.5)
    figure.legend(
        handles=_legend(table),
        loc="upper right",
        bbox_to_anchor=(0.99, 1.0),
        ncols=5,
        frameon=False,
        columnspacing=1.5,
    )
    figure.text(LEFT, 0.09 / height, _caption(table, factors), fontsize=7, color=QUIET, linespacing=1.4)
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
    axes.set_title(f"{name}, $S={at.S}$, $A={at.A}$, $H={at.H}$", loc="left", fontsize=7.5, pad=5)
    axes.set_xlabel("regret")
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    for i in range(len(ROWS) - 1):
        axes.axhline(i + 0.5, color="#EFEFEF", linewidth=0.6, zorder=0)


def _draw_dot(axes: Axes, m: Measurement) -> None:
    y, look = ROWS.index(m.row) + SHIFT[m.model], LOOK[m.model]
    axes.plot(m.runs, [y] * len(m.runs), color=colour(look), marker="|", markersize=7, linestyle="", alpha=0.6)
    axes.plot([m.low, m.high], [y, y], color=colour(look), linewidth=1.6, zorder=3)
    axes.plot(m.regret, y, color=colour(look), marker=marker(look), linestyle="", zorder=4, **MARKER)


def _system(row: Row) -> str:
    return f"{row.name}{' §' * row.reconstructed}"


def _legend(table: Table) -> list[Line2D]:
    names = {
        "JDP": f"JDP, ε = {table.epsilon:g}",
        "LDP": f"LDP, ε = {table.epsilon:g}",
        "none": "no privacy",
    }
    dots = [
        Line2D([], [], color=colour(i), marker=marker(i), linestyle="", label=names[model], **MARKER)
        for model, i in LOOK.items()
    ]
    lines = [
        Line2D([], [], color=QUIET, linewidth=0.9, linestyle=DOTTED, label=r"$\sqrt{SAH^2T}$"),
        Line2D([], [], color=QUIET, linewidth=0.9, linestyle=DASHED, label="uniformly random policy"),
    ]
    return [*dots, *lines]


def _caption(table: Table, factors: str) -> str:
    return (
        f"Regret after {table.K:,} episodes, mean and 95% bootstrap interval of {table.runs} runs, each run a "
        f"tick. ε: as certified if a user is\nadded or removed. {factors} § reconstructed "
        "(paper/DEVIATIONS.md)."
    )
