"""Regret after K episodes against the certified ε of a user who is replaced; the printed regrets as stars."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from dpucbvi.lab.stats import bootstrap
from dpucbvi.lab.store import StoredArm, StoredExperiment
from dpucbvi.studies.epsilon.matching import EPSILON, series
from dpucbvi.studies.mechanisms.places import COUNTS, MODELS, check_certified, first, members, printed_of
from dpucbvi.studies.shared.arms import (
    check_same_grid,
    config_of,
    episodes_of,
    mean_of,
    runs_text,
)
from dpucbvi.studies.shared.style import (
    BLACK,
    BLUE,
    GREEN,
    MARKER,
    ORANGE,
    PURPLE,
    QUIET,
    SKY,
    VERMILLION,
    thousands,
)

# By the privatizer's name and whether its noise is Gaussian.
LOOK = {
    ("central", False): (BLACK, "o"),
    ("local", False): (BLACK, "o"),
    ("honaker", False): (PURPLE, "v"),
    ("kary_tree", False): (GREEN, "^"),
    ("gaussian_tree", True): (ORANGE, "X"),
    ("toeplitz", True): (VERMILLION, "D"),
    ("batches", False): (BLUE, "s"),
    ("batches", True): (SKY, "P"),
    ("local_gaussian", True): (ORANGE, "X"),
    ("one_step", False): (GREEN, "^"),
    ("one_question", False): (BLUE, "s"),
}
STAR: dict[str, Any] = {
    "marker": "*",
    "markersize": 11,
    "markerfacecolor": "white",
    "markeredgecolor": "black",
    "linestyle": "none",
}


def draw(experiment: StoredExperiment) -> Figure:
    """Both models side by side, pooled counts above counts per step, one regret axis."""
    check_same_grid(experiment)
    check_certified(experiment)
    figure = Figure(figsize=(7.2, 6.0))
    panels = figure.subplots(len(COUNTS), len(MODELS), sharex=True, sharey=True, squeeze=False)
    figure.subplots_adjust(left=0.085, right=0.985, top=0.955, bottom=0.2, wspace=0.06, hspace=0.14)
    for row, (panel, counts) in zip(panels, COUNTS.items(), strict=True):
        for axes, model in zip(row, MODELS, strict=True):
            _draw_panel(axes, experiment, panel, model)
            axes.set_title(f"{model}, {counts}", loc="left", fontsize=9)
        row[0].set_ylabel(f"regret after {episodes_of(experiment.arms[0]):,} episodes", labelpad=2)
    for axes in panels[-1]:
        axes.set_xlabel("certified ε, a user replaced", labelpad=1)
    _set_axes(panels[0, 0], experiment)
    for i, model in enumerate(MODELS):
        figure.legend(
            handles=_legend(experiment, model),
            loc="upper left",
            bbox_to_anchor=(0.075 + 0.46 * i, 0.152),
            ncols=2,
            frameon=False,
            fontsize=6.4,
            handlelength=1.8,
            columnspacing=0.8,
            labelspacing=0.35,
        )
    figure.text(0.085, 0.01, _caption(experiment), fontsize=6.6, color=QUIET, linespacing=1.4)
    return figure


def look(arm: StoredArm) -> dict[str, Any]:
    """How an arm is drawn: dashed where its noise is Gaussian."""
    privatizer = config_of(arm)["privatizer"]
    gaussian = privatizer.get("delta", 0.0) > 0.0
    hue, mark = LOOK[privatizer["name"], gaussian]
    dashes = (0, (4, 1.5)) if gaussian else "-"
    return {"color": hue, "marker": mark, "linestyle": dashes, "linewidth": 1.3, "label": arm.label, **MARKER}


def _draw_panel(axes: Axes, experiment: StoredExperiment, panel: str, model: str) -> None:
    axes.grid(True)
    axes.spines[["top", "right"]].set_visible(False)
    for of in members(experiment, panel, model):
        x, regret = series(experiment.arms, of, EPSILON)
        style = look(first(experiment, of))
        mean, low, high = bootstrap(regret.T)
        axes.plot(x, mean, zorder=4, **style)
        axes.fill_between(x, low, high, color=style["color"], alpha=0.15, linewidth=0)
    for epsilon, regret_printed in printed_of(experiment, model).items():
        axes.plot([epsilon], [regret_printed], label="printed", zorder=6, **STAR)


def _set_axes(axes: Axes, experiment: StoredExperiment) -> None:
    """Shared by all panels."""
    shown = [arm for arm in experiment.arms if arm.panel in COUNTS]
    means = [mean_of(arm) for arm in shown]
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sorted({float(arm.point[EPSILON]) for arm in shown}))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(thousands))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(0.8 * np.min(means), 1.2 * np.max(means))


def _legend(experiment: StoredExperiment, model: str) -> list[Line2D]:
    arms = [first(experiment, of) for of in members(experiment, "pooled", model)]
    handles = [Line2D([], [], **look(arm)) for arm in arms]
    return [*handles, Line2D([], [], label="printed in Figure 1, at its ε", **STAR)]


def _caption(experiment: StoredExperiment) -> str:
    return (
        f"Means of {runs_text(experiment)}, band: 95% bootstrap interval. ε is certified for a user who is "
        "replaced: pure, or at δ = 1e-6 where dashed. The paper's\nmechanisms with the paper's algorithm; the "
        "others with tuned families, zeroing and the cap H-h+1 (D29 to D31). Factors: calibrated elsewhere."
    )
