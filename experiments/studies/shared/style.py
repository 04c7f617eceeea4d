"""The look of all figures: colours that colour-blind readers can tell apart, quiet axes, embedded fonts.

A colour says one thing in every figure: the privacy of what is drawn. Line and marker say the algorithm.

    black         not private
    blue          JDP
    green         JDP at the second ε of a figure
    vermillion    LDP

Where all curves have the same privacy, privatizers that are not the paper's have a colour that stands for
nothing else (PRIVATIZERS, the study `mechanisms`). Grey is for guides and words. The study `regret` draws
anything, and has colours in their order.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatterSciNotation

from dpucbvi.drawing.style import BLACK, BLUE, GREEN, VERMILLION, Line, thousands
from dpucbvi.protocol import Floats

# The privacy that a certificate names, and that of the printed curves.
PRIVACY = {"none": BLACK, "JDP": BLUE, "LDP": VERMILLION}
SECOND = GREEN  # JDP, at the second ε of a figure
HUES = {"non_private": BLACK, "jdp_eps2": SECOND, "jdp_eps1": BLUE, "ldp_eps2": VERMILLION}
# Colours of Tol (2021) that are far from those above; what has Gaussian noise is dashed.
PRIVATIZERS = {
    "central": "#CC6677",
    "local": "#AA4499",
    "kary_tree": "#44AA99",
    "toeplitz": "#882255",
    "batches": "#332288",
    "windows": "#DDAA33",
    "one_question": "#AA8800",
}
# How an algorithm is drawn: line, marker, whether the marker is hollow.
ALGORITHMS: dict[str, tuple["Line", str, bool]] = {
    "UCBVI": ("-", "o", False),
    "UCBVI-CH": ((0, (5, 1.5)), "X", False),
    "DP-UCBVI": ("-", "s", False),
    "DP-UCBVI, pooled": ((0, (4, 1.2, 1, 1.2)), "s", True),
    "Private-UCB-VI": ((0, (1, 1)), "D", False),
}


# One width for all figures: 4 inches on a page or a screen, and four fifths of that in a column of 3.3 inches,
# where the smallest type (SMALL) still has 6 points.
WIDTH = 4.0  # inches
PAGE = 7.0  # inches: three panels on common axes, over both columns


def new_panels(
    heights: Sequence[float], columns: int = 1, aligned: bool = True, width: float = WIDTH, **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure with its panels in the order of reading; the rows have these heights (inches).

    matplotlib's constrained layout makes room in them for titles, labels and a legend below. Panels that are
    not `aligned` stand one below the other, each as wide as what stands beside it allows.
    """
    layout = ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.04)
    figure = Figure(figsize=(width, sum(heights)), layout=layout)
    if aligned:
        panels = list(
            figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights, **options).flat
        )
    else:
        rows: Any = figure.subfigures(len(heights), height_ratios=heights)
        panels = [row.subplots() for row in rows]
    for axes in panels:
        axes.grid(True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, panels


def band(axes: Axes, x: Any, mean: Floats, low: Floats, high: Floats, **look: Any) -> None:
    """A curve and its interval, unless a single run has none; a log axis has no 0."""
    axes.plot(x, mean, zorder=4, **{"linewidth": 1.4, **look})
    if not np.isnan(low).any():
        axes.fill_between(x, np.maximum(low, 1e-3 * mean), high, color=look["color"], alpha=0.15, linewidth=0)


def entry(label: str, **look: Any) -> Line2D:
    """What a legend has for everything that looks so."""
    return Line2D([], [], label=label, **look)


def legend_below(figure: Figure, handles: Sequence[Artist], columns: int) -> None:
    """Entries below all panels, in so many columns."""
    figure.legend(handles=list(handles), loc="outside lower left", ncols=columns)


class PlainLog(LogFormatterSciNotation):
    """Labels the ticks that matplotlib would label, without the small type of an exponent."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return thousands(x, pos) if super().__call__(x, pos) else ""


def write_plain_ticks(figure: Figure) -> None:
    """On every logarithmic axis that has matplotlib's own labels."""
    for axes in [one for parent in figure.axes for one in (parent, *parent.child_axes)]:
        for axis in (axes.xaxis, axes.yaxis):
            if type(axis.get_major_formatter()) is LogFormatterSciNotation:
                axis.set_major_formatter(PlainLog())
