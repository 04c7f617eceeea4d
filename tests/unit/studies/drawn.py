"""What a matplotlib figure shows, read back as data: curves, bands, bars, cells and who they belong to.

A reader of a figure finds a curve's name by following the leader from its end to the label beside the axes,
by its colour, or by its line in the legend. So do the functions here: nothing is taken from the drawing code
but the figure itself.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.text import Annotation


class Line(NamedTuple):
    """A line or a set of markers in the coordinates of the data."""

    x: np.ndarray
    y: np.ndarray
    colour: str
    look: tuple  # width and dashes
    marker: str
    filled: bool  # its marker
    fill: str  # the style of its marker

    @property
    def end(self) -> tuple[float, float]:
        return float(self.x[-1]), float(self.y[-1])


class Band(NamedTuple):
    """What fill_between has filled, by x."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    colour: str


class Label(NamedTuple):
    """A label beside the axes, and where its leader begins (in the coordinates of the axes), if it has one."""

    detail: str
    colour: str
    marker: str
    start: tuple[float, float] | None


def is_log(axes: Axes) -> tuple[bool, bool]:
    return axes.get_xscale() == "log", axes.get_yscale() == "log"


def lines(axes: Axes, least: int = 1) -> list[Line]:
    """Everything plotted at data, of at least so many points, in the order of drawing."""
    found = [_line(line) for line in axes.lines if line.get_transform() == axes.transData]
    return [line for line in found if len(line.x) >= least]


def across(axes: Axes) -> dict[str, list[float]]:
    """The x of the upright lines and the y of the level lines that cross the whole axes."""
    found: dict[str, list[float]] = {"x": [], "y": []}
    for axis, x, y, _ in _half_at_data(axes):
        along, place = (y, x) if axis == "x" else (x, y)
        if list(along) == [0, 1]:
            found[axis].append(float(place[0]))
    return found


def at_edge(axes: Axes) -> list[tuple[np.ndarray, np.ndarray, str]]:
    """Ticks drawn by hand (x, y, colour): one coordinate is of the data, the other a part of an edge."""
    return [(x, y, c) for axis, x, y, c in _half_at_data(axes) if list(y if axis == "x" else x) != [0, 1]]


def _half_at_data(axes: Axes) -> list[tuple[str, np.ndarray, np.ndarray, str]]:
    made = []
    for line in axes.lines:
        for axis, transform in (("x", axes.get_xaxis_transform()), ("y", axes.get_yaxis_transform())):
            if line.get_transform() == transform:
                made.append(
                    (axis, np.array(line.get_xdata()), np.array(line.get_ydata()), to_hex(line.get_color()))
                )
    return made


def bands(axes: Axes) -> list[Band]:
    made = []
    for collection in axes.collections:
        (path,) = collection.get_paths()
        x = np.unique(path.vertices[:, 0])
        heights = [path.vertices[path.vertices[:, 0] == value, 1] for value in x]
        low, high = np.array([h.min() for h in heights]), np.array([h.max() for h in heights])
        made.append(Band(x, low, high, to_hex(collection.get_facecolor()[0][:3])))
    return made


def end_labels(axes: Axes) -> dict[str, Label]:
    """The labels right of the axes: a name and a quieter detail below it, its curve's marker, a leader.

    The marker has the colour of the name. The leader has no marker, and a colour that no curve has.
    """
    beside = [line for line in axes.lines if line.get_transform() == axes.transAxes]
    markers = {round(line.get_ydata()[0], 9): line for line in beside if len(line.get_xdata()) == 1}
    leaders = {round(line.get_ydata()[-1], 9): line for line in beside if len(line.get_xdata()) > 1}
    words: dict[float, list[Annotation]] = {}
    for text in axes.texts:
        if isinstance(text, Annotation) and text.xycoords == "axes fraction" and text.xy[0] > 1.0:
            words.setdefault(round(text.xy[1], 9), []).append(text)
    assert set(markers) | set(leaders) <= set(words)
    curves = {line.colour for line in lines(axes)}
    made = {}
    for y, (name, detail) in words.items():
        marker, leader = markers.get(y), leaders.get(y)
        colour = to_hex(name.get_color())
        assert name.get_text() not in made, f"{name.get_text()}: a label twice"
        assert marker is None or to_hex(marker.get_color()) == colour
        assert leader is None or (leader.get_marker() == "None" and to_hex(leader.get_color()) not in curves)
        start = None if leader is None else (float(leader.get_xdata()[0]), float(leader.get_ydata()[0]))
        mark = "" if marker is None else str(marker.get_marker())
        made[name.get_text()] = Label(detail.get_text(), colour, mark, start)
    return made


def labelled(axes: Axes, least: int = 2) -> dict[str, Line]:
    """Every end label with the curve of its colour whose last point its leader begins at."""
    made = {}
    for name, label in end_labels(axes).items():
        assert label.start is not None, f"{name}: no leader"
        start = np.subtract(label.start, (0.005, 0.0))
        near = [
            line
            for line in lines(axes, least)
            if line.colour == label.colour and np.allclose(_in_axes(axes, line.end), start)
        ]
        assert near, f"{name}: no curve ends at its label"
        assert all(np.array_equal(line.y, near[0].y) for line in near), (
            f"{name}: several curves end at its label"
        )
        made[name] = near[0]
    return made


def legend(of: Figure | Axes, which: int = 0) -> dict[str, Line]:
    """How the legend, of a figure's several the one that is meant, says that its entries are drawn."""
    found = of.legends[which] if isinstance(of, Figure) else of.get_legend()
    handles = [handle for handle in found.legend_handles if isinstance(handle, Line2D)]
    return {str(handle.get_label()): _line(handle) for handle in handles}


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def said(figure: Figure) -> str:
    """All words of the figure, wherever its lines are broken."""
    titles = [title for axes in figure.axes for title in (axes.title, axes._left_title, axes._right_title)]
    beside = [label for axes in figure.axes for label in (axes.xaxis.label, axes.yaxis.label, *axes.texts)]
    return " ".join(" ".join(text.get_text() for text in (*titles, *beside, *figure.texts)).split())


def ticks(axes: Axes) -> tuple[dict[float, str], dict[float, str]]:
    """Position and text of the ticks of both axes."""
    x = zip(axes.get_xticks(), (label.get_text() for label in axes.get_xticklabels()), strict=True)
    y = zip(axes.get_yticks(), (label.get_text() for label in axes.get_yticklabels()), strict=True)
    return {round(float(at), 9): text for at, text in x}, {round(float(at), 9): text for at, text in y}


def cells(axes: Axes) -> dict[tuple[float, float], float]:
    """The values of a heat map, an image or a mesh of rectangles, by the x and y of their middles."""
    shown = heat_map(axes)
    if isinstance(shown, QuadMesh):
        values, corners = shown.get_array(), shown.get_coordinates()
        middles = (corners[:-1, :-1] + corners[1:, 1:]) / 2.0
        return {
            (round(x, 9), round(y, 9)): float(value)
            for (x, y), value in zip(middles.reshape(-1, 2).tolist(), np.ravel(values), strict=True)
        }
    values = np.asarray(shown.get_array())
    left, right, bottom, top = shown.get_extent()
    first, last = (bottom, top) if shown.origin == "lower" else (top, bottom)
    rows, columns = values.shape
    return {
        (
            round(left + (j + 0.5) * (right - left) / columns, 9),
            round(first + (i + 0.5) * (last - first) / rows, 9),
        ): float(value)
        for (i, j), value in np.ndenumerate(values)
    }


def heat_map(axes: Axes) -> AxesImage | QuadMesh:
    (shown,) = [*axes.images, *(one for one in axes.collections if isinstance(one, QuadMesh))]
    return shown


def texts_at(axes: Axes) -> dict[tuple[float, float], str]:
    """Words written at data, by their place."""
    at_data = [text for text in axes.texts if text.get_transform() == axes.transData]
    return {
        (round(float(t.get_position()[0]), 9), round(float(t.get_position()[1]), 9)): t.get_text()
        for t in at_data
    }


def boxes(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    """The middles of the rectangles, by the style of their line."""
    made: dict[str, list[tuple[float, float]]] = {}
    for patch in axes.patches:
        x, y = patch.get_xy()
        middle = (round(x + patch.get_width() / 2, 9), round(y + patch.get_height() / 2, 9))
        made.setdefault(str(patch.get_linestyle()), []).append(middle)
    return made


def _line(line: Line2D) -> Line:
    dashes = line._unscaled_dash_pattern  # get_linestyle() calls every pattern "--"
    return Line(
        np.atleast_1d(np.asarray(line.get_xdata(), dtype=float)),
        np.atleast_1d(np.asarray(line.get_ydata(), dtype=float)),
        to_hex(line.get_color()),
        (line.get_linestyle(), line.get_linewidth(), str(dashes)),
        str(line.get_marker()),
        to_hex(line.get_markerfacecolor()) == to_hex(line.get_color()),
        line.get_fillstyle(),
    )


def _in_axes(axes: Axes, point: tuple[float, float]) -> np.ndarray:
    axes.autoscale_view()  # as a figure that is shown has it
    return axes.transAxes.inverted().transform(axes.transData.transform(point))
