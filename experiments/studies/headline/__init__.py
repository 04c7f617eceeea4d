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
    CERTIFIED,
    PANELS,
    arm_of,
    certified,
    mechanism,
    numbers,
    table,
    write,
)
from experiments.studies.shared.arms import check_same_grid, laplace_of, levers_of, runs_text
from experiments.studies.shared.printed import final_regrets
from experiments.studies.shared.style import BLACK, HUES, QUIET, SMALL, legend_below, new_panels, thousands

TITLES = {
    "matched": "ε matched to the printed regret, counts per step",
    "pooled": "the same, pooled counts",
    "explained": "JDP: Lap(1/ε) per node, {users}fitted",
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
        axes.set_title(TITLES[name].format(users=_users(experiment)), loc="right")  # longer than the axes
        for y, arm in enumerate(arms):
            _draw_arm(axes, arm, y)
        _finish(axes, arms)
    grid[0].set_ylim(top=-1.5)
    _write_beside(grid[0], -1.0, "unsettled")
    grid[-1].set_xlabel("cumulative regret")
    return figure


def _users(experiment: StoredExperiment) -> str:
    """The noise of the LDP arm among those with Lap(1/ε): it is another."""
    local = arm_of(experiment, "explained", "ldp_eps2")
    return "" if local is None else f"LDP: {laplace_of(local)}, "


def caption(experiment: StoredExperiment) -> str:
    return (
        f"Cumulative regret after {experiment.arms[0].K:,} episodes, {runs_text(experiment)} each, "
        "every run a dot. ε: certified if a user is added or removed; in the last panel, if she is replaced. "
        "Unsettled: the runs that never settle: their last tenth of episodes adds more regret than √k growth "
        f"would. ×: printed, below the row of its arm.{_changed(experiment)}"
    )


def _changed(experiment: StoredExperiment) -> str:
    levers = levers_of([arm for arm in experiment.arms if arm.panel == CERTIFIED])
    return f" The runs of the last panel change the algorithm too: {levers}." if levers else ""


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


STUDY = Study(draw, caption, table, write, points=400)  # all: it interpolates
