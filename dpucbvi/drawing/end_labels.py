"""Labels at the right ends of curves, moved apart just enough not to overlap."""

from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.text import Annotation
from scipy.optimize import isotonic_regression

from dpucbvi.drawing.style import LEADER, MARKER, QUIET, SMALL
from dpucbvi.protocol import Floats

POINTS_A_LABEL = 26.0  # two lines of text and some air
NAMES_AT = 1.055  # right of the axes, whose width is 1


class EndLabel(NamedTuple):
    """A name, a quieter second line, how the curve is drawn, and its last point in data coordinates."""

    name: str
    detail: str
    colour: str
    marker: str
    x: float
    y: float


def spread(wanted: Floats, gap: float, low: float, high: float) -> Floats:
    """The positions nearest to the wanted ones (least squares) that are `gap` apart, in the same order.

    With y_i = z_i + i·gap the condition reads z_1 ≤ z_2 ≤ ...: an isotonic regression. The outermost are then
    kept within [low, high] if there is room.
    """
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(wanted))
    z = isotonic_regression(wanted[order] - steps).x
    placed = np.empty_like(wanted)
    placed[order] = np.clip(z, low, max(low, high - gap * (len(wanted) - 1))) + steps
    return placed


def draw_end_labels(axes: Axes, labels: list[EndLabel], points: float = POINTS_A_LABEL) -> None:
    """Write the labels right of the axes, `points` apart, each with its marker and a grey line to its curve.

    They are the last to be drawn in a panel: once they are written, the
    layout settles, and they are moved apart by what the axes' height then is.
    """
    written = [_write(axes, label) for label in labels]
    axes.autoscale_view()  # limits that are still to be set would move the ends of the curves
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    ends = axes.transAxes.inverted().transform(
        axes.transData.transform([(label.x, label.y) for label in labels])
    )
    gap = points / (axes.get_window_extent().height * 72.0 / figure.dpi)
    beside_axes: Any = {"transform": axes.transAxes, "clip_on": False}
    places = spread(ends[:, 1], gap, gap / 2, 1.0 - gap / 3)
    for label, texts, end, y in zip(labels, written, ends, places, strict=True):
        for text in texts:
            text.xy = (NAMES_AT, y)
        leader = [end[0] + 0.005, NAMES_AT - 0.02, NAMES_AT - 0.01 * bool(label.marker)], [end[1], y, y]
        axes.plot(*leader, color=LEADER, linewidth=0.7, **beside_axes)
        if label.marker:
            look: Any = {"color": label.colour, "marker": label.marker, "linestyle": "", **MARKER}
            axes.plot([NAMES_AT], [y], **look, **beside_axes)


def _write(axes: Axes, label: EndLabel) -> tuple[Annotation, Annotation]:
    """Name and detail, where the panel's middle is."""
    size = FontProperties(size=matplotlib.rcParams["axes.labelsize"]).get_size_in_points() - 0.5
    at, beside = (NAMES_AT, 0.5), 5 if label.marker else 3  # points: a narrow panel would have no air
    style: Any = {"xycoords": "axes fraction", "textcoords": "offset points", "annotation_clip": False}
    up, anchor = (1, "bottom") if label.detail else (0, "center_baseline")
    return (
        axes.annotate(label.name, at, (beside, up), color=label.colour, fontsize=size, va=anchor, **style),
        axes.annotate(label.detail, at, (beside, -1), color=QUIET, fontsize=SMALL, va="top", **style),
    )
