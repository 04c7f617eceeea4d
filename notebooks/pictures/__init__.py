"""What the notebooks show: one file of drawing functions per notebook, so that a notebook holds the ideas only.

A drawing function is marked with `picture` and returns a figure. A cell that ends in a call of it shows the
picture; in a script nothing happens.
"""

from collections.abc import Callable
from functools import wraps
from io import BytesIO

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from dpucbvi.drawing.style import BLACK

STYLE = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "hatch.linewidth": 0.7,
}
DPI, COLOURS = 100, 192  # an executed notebook stays below half a megabyte


class Picture:
    """A figure as a PNG of few colours, and its title for who does not see it."""

    def __init__(self, figure: Figure):
        titles = [figure.get_suptitle(), *(axes.get_title(loc="left") for axes in figure.axes)]
        self.title = next((title for title in titles if title), "").replace("\n", " ")
        drawn, small = BytesIO(), BytesIO()
        figure.savefig(drawn, format="png", dpi=DPI)
        image = Image.open(drawn).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE)
        image.save(small, "PNG", optimize=True)
        self.png = small.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"[picture] {self.title}"


def picture(draw: Callable[..., Figure]) -> Callable[..., Picture]:
    """A function that draws, made into one whose result a notebook shows."""

    @wraps(draw)
    def shown(*args: object, **kwargs: object) -> Picture:
        with matplotlib.rc_context(STYLE):
            return Picture(draw(*args, **kwargs))

    return shown


def canvas(width: float, height: float) -> Figure:
    """An empty figure in inches, without pyplot: it stays open nowhere."""
    return Figure(figsize=(width, height), layout="constrained")


def heading(figure: Figure, text: str) -> None:
    """A title over all panels, at the left."""
    figure.suptitle(text, x=0.01, ha="left", fontsize=11)


def write_into_cells(axes, image, text) -> None:
    """Write `text[i, j]` into every cell of a heat map, white on dark cells."""
    values = image.get_array()
    for (i, j), label in np.ndenumerate(np.asarray(text)):
        dark = image.norm(values[i, j]) > 0.5
        axes.text(j, i, label, ha="center", va="center", color="white" if dark else BLACK)
