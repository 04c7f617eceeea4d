"""The look of a figure: colours that colour-blind readers can tell apart, quiet axes, embedded fonts."""

from contextlib import AbstractContextManager
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

Line = str | tuple[float, tuple[float, ...]]  # solid, or dashes

# Okabe and Ito (2008), the pale yellow left out.
PALETTE = ("#000000", "#0072B2", "#56B4E9", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
BLACK, BLUE, SKY, VERMILLION, GREEN, PURPLE, ORANGE = PALETTE
# Solid, then dashed in another way for every round of colours.
LINES: tuple[Line, ...] = ("-", (0, (7, 1.2, 1.2, 1.2)), (0, (2.5, 1)), (0, (6, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MARKER: dict[str, Any] = {"markersize": 5.0, "markeredgecolor": "white", "markeredgewidth": 0.6}
QUIET = "#5A5A5A"
LEADER = "#B4B4B4"  # from the end of a curve to its label: it is not data
DOTTED = (0, (1, 1.5))  # a guide: a threshold, a bound
DASHED = (0, (4, 2))  # printed in the paper

SMALL = 7.5  # points
PAGE_SIZES = {
    **dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize"), 9.0),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 8.0),
}
# Ticks and lines as seaborn has them in print: its style "ticks" in the context "paper". They are written out,
# and a test compares them with seaborn's: importing it, and pandas with it, takes a second.
SEABORN: dict[Any, Any] = {
    **dict.fromkeys(("axes.labelcolor", "text.color"), ".15"),
    "font.family": ["sans-serif"],
    "font.sans-serif": ["Arial", "DejaVu Sans", "Liberation Sans", "Bitstream Vera Sans", "sans-serif"],
    "lines.linewidth": 1.2,
    "lines.markersize": 4.8,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "patch.linewidth": 0.8,
    **dict.fromkeys(("xtick.major.width", "ytick.major.width"), 1.0),
    **dict.fromkeys(("xtick.minor.width", "ytick.minor.width"), 0.8),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 4.8),
    **dict.fromkeys(("xtick.minor.size", "ytick.minor.size"), 3.2),
    "legend.title_fontsize": 9.6,
}
RC: dict[Any, Any] = {
    **SEABORN,
    **PAGE_SIZES,
    "pdf.fonttype": 42,  # text stays text
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "legend.borderaxespad": 0.0,
    "legend.columnspacing": 1.2,
    "legend.handletextpad": 0.5,
    "axes.edgecolor": QUIET,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "grid.color": "#E8E8E8",
    "grid.linewidth": 0.6,
}


def house_style() -> AbstractContextManager[None]:
    """The settings under which a figure is drawn and saved."""
    return matplotlib.rc_context(RC)


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure in inches, without pyplot: it needs no display and stays open nowhere."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_subplot()
    axes.grid(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def colour(index: int) -> str:
    return PALETTE[index % len(PALETTE)]


def line(index: int) -> Line:
    """Solid for as many curves as there are colours, then dashed in another way for every round of colours."""
    return LINES[index // len(PALETTE) % len(LINES)]


def marker(index: int) -> str:
    return MARKERS[index % len(MARKERS)]


def thousands(value: float, _: int | None) -> str:
    """A tick label: 5k for 5000, 5M for a thousand times that, 1e10 and 1e-4 for what is far from 1."""
    if value != 0.0 and not 0.001 <= abs(value) < 1e9:
        mantissa, power = f"{value:e}".split("e")
        return f"{float(mantissa):g}e{int(power)}"
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1000:g}k" if abs(value) >= 1000 else f"{value:g}"
