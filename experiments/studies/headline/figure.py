"""Every run of every arm as a dot, with mean and its interval, median and interquartile mean."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.headline.numbers import CERTIFIED, PANELS, arm_of, numbers
from experiments.studies.headline.report import certified, mechanism
from experiments.studies.shared.arms import (
    check_same_grid,
    episodes_of,
    finals_of,
    laplace_of,
    levers_of,
    runs_text,
)
from experiments.studies.shared.printed import final_regrets
from experiments.studies.shared.sheet import PAGE, Margins, Sheet, lay_out, write_title
from experiments.studies.shared.style import BLACK, HUES, QUIET, SMALL, thousands

TITLES = {
    "matched": "ε matched to the printed regret, counts per step",
    "pooled": "the same, pooled counts",
    "explained": "JDP: Lap(1/ε) per node, {users}fitted",
    "certified": "ε as printed, certified, other privatizers",
}
ROW = 0.24  # inches
LONG = 26  # letters of a name: then it has two lines
JITTER = 0.28
BELOW = 0.3  # the printed regret, below the arm's own numbers: it often is the mean


def draw(experiment: StoredExperiment, sheet: Sheet = PAGE) -> Figure:
    check_same_grid(experiment)
    panels = [(name, [arm for arm in experiment.arms if arm.panel == name]) for name in PANELS]
    panels = [(name, arms) for name, arms in panels if arms]
    heights = [ROW * (len(arms) + (i == 0)) for i, (_, arms) in enumerate(panels)]  # the first has a heading
    margins = [Margins(left=1.72, right=0.64, bottom=0.25)] * len(panels)
    margins[-1] = margins[-1]._replace(bottom=0.45)
    figure, grid = lay_out(sheet, heights, 1, margins, _caption(experiment), [_legend()])
    for axes, (name, arms) in zip(grid, panels, strict=True):
        axes.sharex(grid[0])
        write_title(axes, TITLES[name].format(users=_users(experiment)))
        for y, arm in enumerate(arms):
            _draw_arm(axes, arm, y)
        _finish(axes, arms, (1.0, 3.0) if sheet.across > 1 else (1.0,))
    grid[0].set_ylim(top=-1.5)
    _write_beside(grid[0], -1.0, "unsettled")
    grid[-1].set_xlabel("cumulative regret")
    return figure


def _users(experiment: StoredExperiment) -> str:
    """The noise of the LDP arm among those with Lap(1/ε): it is another."""
    local = arm_of(experiment, "explained", "ldp_eps2")
    return "" if local is None else f"LDP: {laplace_of(local)}, "


def _caption(experiment: StoredExperiment) -> str:
    return (
        f"Cumulative regret after {episodes_of(experiment.arms[0]):,} episodes, {runs_text(experiment)} each, "
        "every run a dot. ε: certified if a user is added or removed; in the last panel, if she is replaced. "
        "Unsettled: the runs that never settle: their last tenth of episodes adds more regret than √k growth "
        f"would. ×: printed, below the row of its arm.{_changed(experiment)}"
    )


def _changed(experiment: StoredExperiment) -> str:
    levers = levers_of([arm for arm in experiment.arms if arm.panel == CERTIFIED])
    return f" The runs of the last panel change the algorithm too: {levers}." if levers else ""


def _draw_arm(axes: Axes, arm: StoredArm, y: int) -> None:
    hue = HUES.get(str(arm.printed), QUIET)
    finals, found = finals_of(arm), numbers(arm)
    jitter = np.random.default_rng(0).uniform(-JITTER, JITTER, len(finals))
    axes.plot(finals, y + jitter, "o", color=hue, markersize=2, alpha=0.35, markeredgewidth=0)
    axes.plot([found.mean.low, found.mean.high], [y, y], color=hue, linewidth=2.2, solid_capstyle="butt")
    axes.plot(found.mean.mean, y, "o", color=hue, markersize=4.5, markeredgecolor="white", markeredgewidth=0.6)
    axes.plot(found.median, y, "|", color=hue, markersize=9, markeredgewidth=1.3)
    axes.plot(found.middle.mean, y, "d", color="white", markeredgecolor=hue, markersize=4, markeredgewidth=0.9)
    printed = final_regrets(arm.runs[0].config).get(str(arm.printed))
    if printed is not None:
        axes.plot(printed, y + BELOW, "x", color=BLACK, markersize=3.2, markeredgewidth=1.0)
    _write_beside(axes, y, f"{found.tail.unsettled} of {found.tail.runs}")


def _write_beside(axes: Axes, y: float, text: str) -> None:
    at = ("axes fraction", "data")
    axes.annotate(text, (1.01, y), xycoords=at, fontsize=SMALL, va="center", color=QUIET, annotation_clip=False)


def _finish(axes: Axes, arms: list[StoredArm], ticks: tuple[float, ...]) -> None:
    names = [f"{mechanism(arm)}, {certified(arm)}" if arm.printed else arm.label for arm in arms]
    names = [
        name.replace(", not private, not private", ", not private").replace(" (added or removed)", "")
        for name in names
    ]
    axes.set_yticks(
        range(len(arms)), [_broken(name.replace(" (replaced)", "")) for name in names], fontsize=SMALL
    )
    axes.set_ylim(len(arms) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(thousands))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(True, axis="x")
    axes.spines[["top", "right"]].set_visible(False)


def _broken(name: str) -> str:
    """In two lines, if it is long."""
    return name.replace(", ", ",\n", 1) if len(name) > LONG else name


def _legend() -> list[Line2D]:
    dot: Any = {"color": QUIET, "linestyle": ""}
    return [
        Line2D([], [], marker="o", markersize=4.5, color=QUIET, linewidth=2.2, label="mean, 95%"),
        Line2D([], [], marker="|", markersize=9, markeredgewidth=1.3, label="median", **dot),
        Line2D([], [], marker="d", markersize=4, markerfacecolor="white", label="interquartile mean", **dot),
        Line2D([], [], marker="x", markersize=3.2, color=BLACK, linestyle="", label="printed"),
    ]
