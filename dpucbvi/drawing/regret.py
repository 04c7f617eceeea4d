"""Regret against episodes: mean and 95% interval over runs, each curve named at its right end."""

import textwrap
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from dpucbvi.drawing.end_labels import POINTS_A_LABEL, EndLabel, draw_end_labels
from dpucbvi.drawing.style import (
    DASHED,
    DOTTED,
    LINES,
    MARKER,
    QUIET,
    Line,
    colour,
    line,
    marker,
    new_figure,
    thousands,
)
from dpucbvi.mdp import TabularMDP
from dpucbvi.planning import uniform_loss
from dpucbvi.protocol import Floats, Ints
from dpucbvi.stats import Interval, bootstrap

DECADES = 2.7  # shown of a logarithmic episode axis: before, all curves explore alike
MARKS = 5  # on every curve
AXES = (0.62, 0.75, 4.6, 3.2)  # left, bottom, width, height in inches; it grows with the number of curves
TOP = 0.35  # inches above the axes
AIR = 0.1  # and right of the labels
OPAQUE = 0.18  # an interval, if there are few; many lie over each other, and all must be seen through


class Curve(NamedTuple):
    """Runs that differ in their seed alone, as they are drawn."""

    episodes: Ints
    regret: Interval
    label: EndLabel
    dashes: Line
    beside: tuple[Floats, Floats] | None = None  # episodes and regret of another's curve, drawn dashed

    @property
    def has_interval(self) -> bool:
        return not np.isnan(self.regret.low).any()


class Panel(NamedTuple):
    """What stands around the curves: title, caption, the scales of both axes, the name of dashed curves.

    With an MDP, the regret of its uniform policy is drawn too.
    """

    title: str
    caption: str
    x: str = "log"
    y: str = "log"
    mdp: TabularMDP | None = None
    dashed: str = ""


def curve(
    episodes: Ints,
    regret: Floats,
    name: str,
    detail: str,
    index: int,
    beside: tuple[Floats, Floats] | None = None,
) -> Curve:
    """The curve of regret[run, recorded episode]; `detail` is the second line of its label.

    Curves of different `index` have different colours, markers or dashes.
    """
    found = bootstrap(regret)
    end = (float(episodes[-1]), float(found.mean[-1]))
    label = EndLabel(name, detail, colour(index), marker(index + index // len(LINES)), *end)
    return Curve(episodes, found, label, line(index), beside)


def draw(curves: list[Curve], panel: Panel) -> Figure:
    """A figure as high and as wide as its labels need."""
    left, bottom, width, height = AXES
    height = max(height, len(curves) * POINTS_A_LABEL / 72.0)
    figure, axes = new_figure(left + width + 2.0, bottom + height + TOP)
    _place(figure, axes, height)
    first = _set_axes(axes, panel, curves)
    for i, one in enumerate(curves):
        _draw_curve(axes, one, _marked(axes, one, first, i / len(curves)), min(OPAQUE, 1.0 / len(curves)))
    handles = _legend(curves, panel.dashed)
    if panel.mdp is not None:
        handles.append(_draw_uniform(axes, panel.mdp, curves, panel.y))
    axes.set_title(panel.title, loc="left", fontsize=9.5)
    axes.legend(handles=handles, loc="upper left", frameon=False)
    draw_end_labels(axes, [one.label for one in curves])
    _fit(figure, axes, height)
    characters = round(figure.get_figwidth() / 0.051)  # of 7 points, on average
    below = "\n".join(textwrap.wrap(panel.caption, characters))
    figure.text(left / figure.get_figwidth(), 0.08 / figure.get_figheight(), below, fontsize=7, color=QUIET)
    return figure


def _place(figure: Figure, axes: Axes, height: float) -> None:
    left, bottom, width, _ = AXES
    whole = figure.get_figwidth(), figure.get_figheight()
    axes.set_position((left / whole[0], bottom / whole[1], width / whole[0], height / whole[1]))


def _fit(figure: Figure, axes: Axes, height: float) -> None:
    """Make the figure as wide as its labels need."""
    ends = [text.get_window_extent().x1 for text in axes.texts]
    figure.set_figwidth(max(*ends, axes.title.get_window_extent().x1) / figure.dpi + AIR)
    _place(figure, axes, height)


def _draw_curve(axes: Axes, curve: Curve, marked: list[int], opaque: float) -> None:
    hue = curve.label.colour
    mean, low, high = curve.regret
    axes.plot(curve.episodes, mean, color=hue, linewidth=1.5, linestyle=curve.dashes, zorder=4)
    at = curve.episodes[marked], mean[marked]
    axes.plot(*at, linestyle="", color=hue, marker=curve.label.marker, zorder=5, **MARKER)
    if curve.has_interval:
        axes.fill_between(curve.episodes, low, high, color=hue, alpha=opaque, linewidth=0)
    if curve.beside is not None:
        axes.plot(*curve.beside, color=hue, linestyle=DASHED, linewidth=1.1, zorder=3)


def _draw_uniform(axes: Axes, mdp: TabularMDP, curves: list[Curve], scale: str) -> Line2D:
    """The uniform policy's regret, which grows by the same in every episode; the best policy's is 0."""
    lost, K = uniform_loss(mdp), max(curve.episodes[-1] for curve in curves)
    k = np.geomspace(1.0, K, 200)
    axes.plot(k, lost * k, color=QUIET, linestyle=DOTTED, linewidth=1.0, zorder=2)
    low, high = axes.get_ylim()
    axes.set_ylim(low, max(high, min(1.25 * lost * K, 10.0 * high)))
    best = "the best policy has 0" if scale == "log" else "the axis is the best policy's"
    return Line2D([], [], color=QUIET, linestyle=DOTTED, linewidth=1.0, label=f"uniform policy ({best})")


def _marked(axes: Axes, curve: Curve, first: float, phase: float) -> list[int]:
    """Points evenly spaced on the axis, shifted from curve to curve: curves that coincide still show."""
    fractions = (np.arange(MARKS) + 0.1 + 0.9 * phase) / MARKS
    K = curve.episodes[-1]
    log = axes.get_xscale() == "log"
    wanted = first * (K / first) ** fractions if log else first + (K - first) * fractions
    return sorted(set(np.searchsorted(curve.episodes, wanted).tolist()))


def _set_axes(axes: Axes, panel: Panel, curves: list[Curve]) -> float:
    """Limits that hold every mean from the first episode shown, which is returned."""
    K = max(curve.episodes[-1] for curve in curves)
    first = max(1.0, K / 10**DECADES) if panel.x == "log" else 0.0
    shown = [curve.regret.mean[curve.episodes >= first] for curve in curves]
    top = 1.25 * max(mean.max() for mean in shown) or 1.0
    positive = min(mean[mean > 0].min(initial=top) for mean in shown)
    axes.set_xscale(panel.x)
    axes.set_yscale(panel.y)
    axes.set_xlim(first, K)
    axes.set_ylim(0.8 * positive if panel.y == "log" else 0.0, top)
    for axis, scale in ((axes.xaxis, panel.x), (axes.yaxis, panel.y)):
        if scale == "linear":
            axis.set_major_formatter(FuncFormatter(thousands))
    axes.set_xlabel("episode")
    axes.set_ylabel("cumulative regret")
    return first


def _legend(curves: list[Curve], dashed: str) -> list[Line2D | Patch]:
    handles: list[Line2D | Patch] = [Line2D([], [], color=QUIET, linewidth=1.5, label="mean of the runs")]
    if any(curve.has_interval for curve in curves):
        handles.append(Patch(color=QUIET, alpha=0.22, linewidth=0, label="95% interval of the mean"))
    if any(curve.beside is not None for curve in curves):
        handles.append(Line2D([], [], color=QUIET, linestyle=DASHED, linewidth=1.1, label=dashed))
    return handles
