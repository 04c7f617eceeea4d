"""The look of all figures: colours that colour-blind readers can tell apart, quiet axes, embedded fonts."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

Line = str | tuple[float, tuple[float, ...]]  # solid, or dashes

# Okabe and Ito (2008), the pale yellow left out.
PALETTE = ("#000000", "#0072B2", "#56B4E9", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
BLACK, BLUE, SKY, VERMILLION, GREEN, PURPLE, ORANGE = PALETTE
# What stands for a printed curve has its colour, in every figure.
HUES = {"non_private": BLACK, "jdp_eps2": GREEN, "jdp_eps1": BLUE, "ldp_eps2": VERMILLION}
# Solid, then dashed in another way for every round of colours.
LINES: tuple[Line, ...] = ("-", (0, (7, 1.2, 1.2, 1.2)), (0, (2.5, 1)), (0, (6, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MARKER: dict[str, Any] = {"markersize": 5.0, "markeredgecolor": "white", "markeredgewidth": 0.6}
QUIET = "#5A5A5A"
DOTTED = (0, (1, 1.5))  # a guide: a threshold, a bound
DASHED = (0, (4, 2))  # printed in the paper

RC: dict[Any, Any] = {
    "pdf.fonttype": 42,  # text stays text
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.edgecolor": QUIET,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "grid.color": "#E8E8E8",
    "grid.linewidth": 0.6,
}


@contextmanager
def house_style() -> Iterator[None]:
    """The settings under which a figure is drawn and saved."""
    with seaborn.axes_style("ticks"), seaborn.plotting_context("paper"), matplotlib.rc_context(RC):
        yield


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure in inches, without pyplot: it needs no display and stays open nowhere."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_subplot()
    axes.grid(True)
    seaborn.despine(ax=axes)
    return figure, axes


def colour(index: int) -> str:
    return PALETTE[index % len(PALETTE)]


def line(index: int) -> Line:
    """Solid for as many curves as there are colours, then dashed in another way for every round of colours."""
    return LINES[index // len(PALETTE) % len(LINES)]


def marker(index: int) -> str:
    return MARKERS[index % len(MARKERS)]


def set_ticks(axes: Axes) -> None:
    """A few round numbers on two logarithmic axes."""
    for axis, subs in ((axes.xaxis, (1.0, 2.0, 5.0)), (axes.yaxis, (1.0, 2.0, 3.0, 5.0))):
        axis.set_major_locator(LogLocator(subs=subs))
        axis.set_major_formatter(FuncFormatter(thousands))
        axis.set_minor_formatter(NullFormatter())


def thousands(value: float, _: int | None) -> str:
    """A tick label: 5k for 5000."""
    return f"{value / 1000:g}k" if abs(value) >= 1000 else f"{value:g}"
