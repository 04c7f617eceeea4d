"""Regret after K episodes against the certified ε of a user who is replaced; the printed regrets as stars."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from dpucbvi.stats import bootstrap
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.epsilon.matching import EPSILON, series
from experiments.studies.mechanisms.places import COUNTS, MODELS, check_certified, first, members, printed_of
from experiments.studies.shared.arms import (
    check_same_grid,
    config_of,
    episodes_of,
    mean_of,
    runs_text,
)
from experiments.studies.shared.sheet import PAGE, PLAIN, Sheet, lay_out
from experiments.studies.shared.style import BLACK, MARKER, PRIVACY, PRIVATIZERS, thousands

# By the privatizer's name and whether its noise is Gaussian.
HUES = {"central": PRIVACY["JDP"], "local": PRIVACY["LDP"], **PRIVATIZERS}
MARKS = {
    ("central", False): "o",
    ("local", False): "o",
    ("honaker", False): "v",
    ("kary_tree", False): "^",
    ("gaussian_tree", True): "X",
    ("toeplitz", True): "D",
    ("batches", False): "s",
    ("batches", True): "P",
    ("local_gaussian", True): "<",
    ("one_step", False): "^",
    ("one_question", False): "s",
}
STAR: dict[str, Any] = {
    "color": BLACK,
    "marker": "*",
    "markersize": 11,
    "markerfacecolor": "white",
    "markeredgecolor": BLACK,
    "linestyle": "none",
}


def draw(experiment: StoredExperiment, sheet: Sheet = PAGE) -> Figure:
    """Both models, pooled counts above counts per step, one regret axis."""
    check_same_grid(experiment)
    check_certified(experiment)
    places = [(panel, counts, model) for panel, counts in COUNTS.items() for model in MODELS]
    legends = [_legend(experiment, model) for model in MODELS]
    legends[-1].append(Line2D([], [], label="printed in Figure 1", **STAR))
    heights = [2.1] * len(places)
    figure, panels = lay_out(sheet, heights, len(MODELS), PLAIN, _caption(experiment), legends)
    for axes, (panel, counts, model) in zip(panels, places, strict=True):
        _draw_panel(axes, experiment, panel, model)
        axes.set_title(f"{model}, {counts}", loc="left")
        axes.set_ylabel("regret", labelpad=2)
        axes.set_xlabel("certified ε, a user replaced", labelpad=1)
        _set_axes(axes, experiment)
    return figure


def look(arm: StoredArm) -> dict[str, Any]:
    """How an arm is drawn: dashed where its noise is Gaussian."""
    privatizer = config_of(arm)["privatizer"]
    gaussian = privatizer.get("delta", 0.0) > 0.0
    hue, mark = HUES[privatizer["name"]], MARKS[privatizer["name"], gaussian]
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
    """The same for all panels."""
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
    axes.set_ylim(0.8 * np.min(means), 1.5 * np.max(means))


def _legend(experiment: StoredExperiment, model: str) -> list[Line2D]:
    arms = [first(experiment, of) for of in members(experiment, "pooled", model)]
    return [Line2D([], [], **look(arm)) for arm in arms]


def _caption(experiment: StoredExperiment) -> str:
    return (
        f"Regret after {episodes_of(experiment.arms[0]):,} episodes, "
        f"means of {runs_text(experiment)}, band: 95% bootstrap interval. ε is certified for a user who is "
        "replaced: pure, or at δ = 1e-6 where dashed. The paper's mechanisms with the paper's algorithm; the "
        "others with tuned families, zeroing and the cap H-h+1 (D29 to D31), trees and Toeplitz every 50 "
        "users, Gaussian noise on pooled counts with at most 4 visits of a pair. Factors: calibrated "
        "elsewhere. Curves meet at the top where nothing is learnt."
    )
