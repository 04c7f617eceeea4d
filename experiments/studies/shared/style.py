"""The look of all figures: colours that colour-blind readers can tell apart, quiet axes, embedded fonts.

A colour says one thing in every figure: the privacy of what is drawn. Line and marker say the algorithm.

    black         not private
    blue          JDP
    green         JDP at the second ε of a figure
    vermillion    LDP

Where all curves have the same privacy, what tells them apart has a colour that stands for nothing else: the
terms of a bonus (TERMS, the study `horizon`) and privatizers that are not the paper's (PRIVATIZERS, the study
`mechanisms`). Grey is for guides and words. The study `regret` draws anything, and has colours in their order.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogFormatterSciNotation, LogLocator, NullFormatter

Line = str | tuple[float, tuple[float, ...]]  # solid, or dashes

# Okabe and Ito (2008), the pale yellow left out.
PALETTE = ("#000000", "#0072B2", "#56B4E9", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
BLACK, BLUE, SKY, VERMILLION, GREEN, PURPLE, ORANGE = PALETTE
# The privacy that a certificate names, and that of the printed curves.
PRIVACY = {"none": BLACK, "JDP": BLUE, "LDP": VERMILLION}
SECOND = GREEN  # JDP, at the second ε of a figure
HUES = {"non_private": BLACK, "jdp_eps2": SECOND, "jdp_eps1": BLUE, "ldp_eps2": VERMILLION}
# A term of UCBVI's bonus that is left out.
TERMS = {"variance": SKY, "correction": PURPLE, "next_value": ORANGE}
# Colours of Tol (2021) that are far from those above; what has Gaussian noise is dashed.
PRIVATIZERS = {
    "honaker": "#999933",
    "kary_tree": "#44AA99",
    "gaussian_tree": "#CC6677",
    "local_gaussian": "#AA4499",
    "toeplitz": "#882255",
    "batches": "#332288",
    "one_step": "#117733",
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
# Solid, then dashed in another way for every round of colours.
LINES: tuple[Line, ...] = ("-", (0, (7, 1.2, 1.2, 1.2)), (0, (2.5, 1)), (0, (6, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MARKER: dict[str, Any] = {"markersize": 5.0, "markeredgecolor": "white", "markeredgewidth": 0.6}
QUIET = "#5A5A5A"
LEADER = "#B4B4B4"  # from the end of a curve to its label: it is not data
DOTTED = (0, (1, 1.5))  # a guide: a threshold, a bound
DASHED = (0, (4, 2))  # printed in the paper

# One width for all figures: 4 inches on a page or a screen, and four fifths of that in a column of 3.3 inches,
# where the smallest type still has 6 points.
WIDTH = 4.0  # inches
SMALL = 7.5  # points
SIZES = {
    **dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize"), 9.0),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 8.0),
}
# Ticks and lines as seaborn has them in print: its style "ticks" in the context "paper". They are written out,
# and a test compares them with seaborn's: importing it, and pandas with it, would slow the start of every run.
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
    **SIZES,
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


@contextmanager
def house_style() -> Iterator[None]:
    """The settings under which a figure is drawn and saved."""
    with matplotlib.rc_context(RC):
        yield


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure in inches, without pyplot: it needs no display and stays open nowhere."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_subplot()
    axes.grid(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def new_panels(
    heights: Sequence[float], columns: int = 1, aligned: bool = True, **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of the one width with its panels in the order of reading; the rows have these heights (inches).

    matplotlib's constrained layout makes room in them for titles, labels and a legend below. Panels that are
    not `aligned` stand one below the other, each as wide as what stands beside it allows.
    """
    layout = ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.04)
    figure = Figure(figsize=(WIDTH, sum(heights)), layout=layout)
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


def legend_below(figure: Figure, handles: Sequence[Artist], columns: int) -> None:
    """Entries below all panels, in so many columns."""
    figure.legend(handles=list(handles), loc="outside lower left", ncols=columns)


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
    """A tick label: 5k for 5000, 5M for a thousand times that, 1e10 and 1e-4 for what is far from 1."""
    if value != 0.0 and not 0.001 <= abs(value) < 1e9:
        mantissa, power = f"{value:e}".split("e")
        return f"{float(mantissa):g}e{int(power)}"
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1000:g}k" if abs(value) >= 1000 else f"{value:g}"


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
