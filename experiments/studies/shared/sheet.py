"""The sheet a figure is drawn on: as wide as a page, or as one of its two columns. All lengths are in inches.

A study says how high its panels are and what stands around them. The sheet decides how many of them go side by
side, breaks the lines of the caption and puts legends and caption below the panels, or into the cell that the
study leaves free. So one drawing serves both widths.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text

from experiments.studies.shared.style import COLUMN_SIZES, PAGE_SIZES, QUIET, SMALL

HEAD = 0.22  # above all panels, for what every figure says in its corner
EDGE = 0.08  # kept free around the sheet
TALLEST = 9.2  # what a page takes
LOWEST = 0.2  # of the height asked for; a figure whose panels would be lower keeps its own, and is for no page
WORD = re.compile(r"(?:\$[^$]*\$|\S)+")  # a formula is never broken
Handles = Sequence[Artist]


class Sheet(NamedTuple):
    """How wide it is, how many panels it takes side by side, and the type it is set in."""

    width: float
    across: int
    sizes: dict[str, float]

    @property
    def scale(self) -> float:
        """How large its type is beside that of a page."""
        return self.sizes["ytick.labelsize"] / PAGE_SIZES["ytick.labelsize"]


PAGE = Sheet(7.2, 3, PAGE_SIZES)
COLUMN = Sheet(3.3, 1, COLUMN_SIZES)


class Margins(NamedTuple):
    """What a panel needs around its axes, in the type of a page: names, labels at the right, title, ticks."""

    left: float = 0.62
    right: float = 0.1
    top: float = 0.3
    bottom: float = 0.52
    inner: float | None = None  # in place of `left`, where another panel stands on that side

    def scaled(self, by: float) -> "Margins":
        left, right, top, bottom, inner = self
        return Margins(by * left, by * right, by * top, by * bottom, None if inner is None else by * inner)


PLAIN = Margins()


class Cell(NamedTuple):
    """A panel, or the place for legends and caption: that has no height."""

    height: float | None
    margins: Margins


class Note(NamedTuple):
    """A legend or the caption, and how high it is."""

    artist: Legend | Text
    height: float


def lay_out(
    sheet: Sheet,
    heights: Sequence[float | None],
    columns: int = 1,
    margins: Margins | Sequence[Margins] = PLAIN,
    caption: str = "",
    legends: Sequence[Handles] = (),
    ratios: Sequence[float] = (),
) -> tuple[Figure, list[Axes]]:
    """The figure and its panels in the order of reading; `heights` are those of their axes.

    `columns` go side by side, with widths in the `ratios`, if the sheet takes so many; else one below the
    other, and lower where a page would not take them. Legends and caption go below, or on a page into the cell
    whose height is None.
    """
    around = [margins] * len(heights) if isinstance(margins, Margins) else margins
    cells = [Cell(h, one.scaled(sheet.scale)) for h, one in zip(heights, around, strict=True)]
    if columns > sheet.across:
        cells, columns, ratios = [cell for cell in cells if cell.height is not None], 1, ()
    rows = [cells[i : i + columns] for i in range(0, len(cells), columns)]
    places = [_across(sheet.width, [cell.margins for cell in row], ratios) for row in rows]

    figure = Figure(figsize=(sheet.width, TALLEST))
    free = [
        at
        for row, place in zip(rows, places, strict=True)
        for cell, at in zip(row, place, strict=True)
        if cell.height is None
    ]
    x, width = free[0] if free else (EDGE, sheet.width - 2 * EDGE)
    notes = _write_notes(figure, caption, legends, width)
    told = sum(note.height for note in notes)
    below = 0.0 if free else told + EDGE
    axes = [max(told if cell.height is None else cell.height for cell in row) for row in rows]
    rest = [max(cell.margins.top + cell.margins.bottom for cell in row) for row in rows]
    fits = (TALLEST - HEAD - below - sum(rest)) / sum(axes)
    shrink = min(1.0, fits) if fits > LOWEST else 1.0
    whole = HEAD + shrink * sum(axes) + sum(rest) + below
    figure.set_figheight(whole)

    panels, top = [], whole - HEAD
    for row, place, own, more in zip(rows, places, axes, rest, strict=True):
        for (height, m), (left, wide) in zip(row, place, strict=True):
            if height is None:
                _place_notes(notes, x, top - m.top, figure)
            else:
                box = (left / sheet.width, (top - m.top - shrink * height) / whole)
                panels.append(figure.add_axes((*box, wide / sheet.width, shrink * height / whole)))
        top -= shrink * own + more
    if not free:
        _place_notes(notes, x, below, figure)
    return figure, panels


def write_title(axes: Axes, text: str, size: float | None = None) -> None:
    """Above the left end of the axes, or as far left of it as the sheet asks."""
    title, figure = axes.set_title(text, loc="left", fontsize=size), axes.get_figure()
    assert isinstance(figure, Figure)
    beyond = title.get_window_extent().x1 - (figure.get_figwidth() - EDGE) * figure.dpi
    title.set_x(min(0.0, -beyond / axes.get_window_extent().width))


def _across(width: float, margins: list[Margins], ratios: Sequence[float]) -> list[tuple[float, float]]:
    """Where the axes of a row begin, and how wide they are."""
    lefts = [m.left if i == 0 or m.inner is None else m.inner for i, m in enumerate(margins)]
    shares = [ratios[i] if ratios else 1.0 for i in range(len(margins))]
    free = width - sum(lefts) - sum(m.right for m in margins)
    made, at = [], 0.0
    for left, m, share in zip(lefts, margins, shares, strict=True):
        wide = free * share / sum(shares)
        made.append((at + left, wide))
        at += left + wide + m.right
    return made


def _write_notes(figure: Figure, caption: str, legends: Sequence[Handles], width: float) -> list[Note]:
    made = [_legend(figure, handles, width) for handles in legends]
    return [*made, _caption(figure, caption, width)] if caption else made


def _legend(figure: Figure, handles: Handles, width: float) -> Note:
    """With as many columns as the width takes."""
    style = {
        "frameon": False,
        "borderpad": 0.2,
        "borderaxespad": 0.0,
        "columnspacing": 1.2,
        "handletextpad": 0.5,
        "handlelength": 3.0 if _dashed(handles) else 1.7,
    }
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(handles=list(handles), loc="upper left", ncols=columns, **style)
        extent = legend.get_window_extent()
        if extent.width <= width * figure.dpi or columns == 1:
            break
        legend.remove()
    return Note(legend, extent.height / figure.dpi + 0.05)


def _dashed(handles: Handles) -> bool:
    """Whether some are told apart by their dashes alone: then these must be seen."""
    lines = [one for one in handles if isinstance(one, Line2D)]
    return any(one.is_dashed() and one.get_marker() == "None" for one in lines)


def _caption(figure: Figure, words: str, width: float) -> Note:
    """As many words in a line as the width takes; a line is measured only where it may be too long."""
    text = figure.text(0, 0, "", fontsize=SMALL, color=QUIET, va="top", linespacing=1.35)
    lines: list[str] = []
    letter, long = SMALL * figure.dpi / 72.0, 0.0  # no letter is wider, and no line is longer
    for word in WORD.findall(words):
        longer = f"{lines[-1]} {word}" if lines else word
        long += letter * (len(word) + 1)
        if long > width * figure.dpi:
            text.set_text(longer)
            long = text.get_window_extent().width
        if lines and long <= width * figure.dpi:
            lines[-1] = longer
        else:
            lines.append(word)
            long = letter * len(word)
    text.set_text("\n".join(lines))
    return Note(text, text.get_window_extent().height / figure.dpi)


def _place_notes(notes: list[Note], x: float, top: float, figure: Figure) -> None:
    """One below the other, from `top` inches above the lower edge on."""
    for artist, height in notes:
        at = (x / figure.get_figwidth(), top / figure.get_figheight())
        if isinstance(artist, Legend):
            artist.set_bbox_to_anchor(at)
        else:
            artist.set_position(at)
        top -= height
