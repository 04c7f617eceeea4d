"""The comparisons that the README quotes, with enough runs for their tails.

Every run is a dot; intervals are bootstrapped, and every private arm is compared with UCBVI and with itself
without privacy.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Study
from experiments.studies.headline.report import (
    PANELS,
    certified,
    mechanism,
    numbers,
    table,
    write,
)
from experiments.studies.shared.arms import check_same_grid
from experiments.studies.shared.printed import final_regrets
from experiments.studies.shared.style import BLACK, HUES, QUIET, SMALL, legend_below, new_panels, thousands

TITLES = {
    "matched": "ε matched to the printed regret, counts per step",
    "pooled": "the same, pooled counts",
    "explained": "JDP: Lap(1/ε) per node, LDP: Lap(0.075), fitted",
    "certified": "ε as printed, certified, other privatizers",
}
ROW, AROUND = 0.27, 0.46  # inches: a row; title and ticks of a panel
LONG = 26  # letters of a name: then it has two lines
JITTER = 0.28
BELOW = 0.3  # the printed regret, below the arm's own numbers: it often is the mean


def draw(experiment: StoredExperiment) -> Figure:
    """Every run of every arm as a dot, with the median and the mean and its interval."""
    check_same_grid(experiment)
    panels = [(name, [arm for arm in experiment.arms if arm.panel == name]) for name in PANELS]
    panels = [(name, arms) for name, arms in panels if arms]
    heights = [AROUND + ROW * (len(arms) + (i == 0)) for i, (_, arms) in enumerate(panels)]  # a heading first
    figure, grid = new_panels(heights, sharex=True)
    legend_below(figure, _legend(), 3)
    for axes, (name, arms) in zip(grid, panels, strict=True):
        axes.set_title(TITLES[name], loc="right")  # longer than the axes
        for y, arm in enumerate(arms):
            _draw_arm(axes, arm, y)
        _finish(axes, arms)
    grid[0].set_ylim(top=-1.5)
    _write_beside(grid[0], -1.0, "unsettled")
    grid[-1].set_xlabel("cumulative regret")
    return figure


def _draw_arm(axes: Axes, arm: StoredArm, y: int) -> None:
    hue = HUES.get(str(arm.printed), QUIET)
    finals, found = arm.finals, numbers(arm)
    jitter = np.random.default_rng(0).uniform(-JITTER, JITTER, len(finals))
    axes.plot(finals, y + jitter, "o", color=hue, markersize=2, alpha=0.35, markeredgewidth=0)
    axes.plot([found.mean.low, found.mean.high], [y, y], color=hue, linewidth=2.2, solid_capstyle="butt")
    axes.plot(found.mean.mean, y, "o", color=hue, markersize=4.5, markeredgecolor="white", markeredgewidth=0.6)
    axes.plot(found.median, y, "|", color=hue, markersize=9, markeredgewidth=1.3)
    printed = final_regrets(arm.config).get(str(arm.printed))
    if printed is not None:
        axes.plot(printed, y + BELOW, "x", color=BLACK, markersize=3.2, markeredgewidth=1.0)
    _write_beside(axes, y, f"{found.tail.unsettled} of {found.tail.runs}")


def _write_beside(axes: Axes, y: float, text: str) -> None:
    at = ("axes fraction", "data")
    axes.annotate(text, (1.01, y), xycoords=at, fontsize=SMALL, va="center", color=QUIET, annotation_clip=False)


def _finish(axes: Axes, arms: list[StoredArm]) -> None:
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
    axes.xaxis.set_major_locator(LogLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(thousands))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(False, axis="y")


def _broken(name: str) -> str:
    """In two lines, if it is long."""
    return name.replace(", ", ",\n", 1) if len(name) > LONG else name


def _legend() -> list[Line2D]:
    dot: Any = {"color": QUIET, "linestyle": ""}
    return [
        Line2D([], [], marker="o", markersize=4.5, color=QUIET, linewidth=2.2, label="mean, 95%"),
        Line2D([], [], marker="|", markersize=9, markeredgewidth=1.3, label="median", **dot),
        Line2D([], [], marker="x", markersize=3.2, color=BLACK, linestyle="", label="printed"),
    ]


STUDY = Study(draw, table, write, points=400)  # all: it interpolates
