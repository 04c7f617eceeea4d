"""A test of the tests, at run time: falsify one thing that is drawn or written, and the tests must notice.

A test module that has a fixture `figure` imports `test_no_falsified_figure_passes`: every line, band, bar, map,
box, text, tick label and legend entry of that figure is scaled, exchanged with its neighbour, or dropped, and
every axis gets another scale, one at a time; each time, one of the module's tests that read it must fail. A
module with a fixture `report`, the files of a study, imports `test_no_falsified_file_passes`: there it is each
cell of every table. Nothing refers to the code that draws: what it calls its variables is its own affair.

What need not be noticed: white lines between rows, leaders from a curve to its label, the order of drawing.
"""

import csv
import inspect
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter

DECORATION, GREY = {"#ffffff", "#efefef", "#b4b4b4"}, "#5a5a5a"  # grey: guides, whose colour says nothing
Undo = Callable[[], None]
Check = Callable[[object], None]  # takes the figure or the files
Mutant = tuple[str, Callable[[], Undo]]  # what is falsified; do it, and get what undoes it


def checks(request: pytest.FixtureRequest, fixture: str) -> list[Check]:
    """The module's tests that take this fixture, and nothing else but `experiment` and their parameters."""
    module = request.module
    found = []
    for name, test in vars(module).items():
        if not name.startswith("test_") or name.startswith("test_no_falsified"):
            continue
        marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
        keys = [[m.args[0]] if isinstance(m.args[0], str) else m.args[0] for m in marks]
        takes = set(inspect.signature(test).parameters) - {key for some in keys for key in some}
        if fixture not in takes or takes - {fixture, "experiment"}:
            continue
        other = {"experiment": request.getfixturevalue("experiment")} if "experiment" in takes else {}
        for values in product(*(mark.args[1] for mark in marks)):
            given = dict(other)
            for some, value in zip(keys, values, strict=True):
                given |= dict(zip(some, value if len(some) > 1 else [value], strict=True))
            found.append(lambda drawn, test=test, given=given: test(**{fixture: drawn}, **given))
    return found


def noticed(subject: object, tests: list[Check]) -> bool:
    for test in tests:
        try:
            test(subject)
        except Exception:  # a reader that cannot make sense of the figure has noticed too
            return True
    return False


@contextmanager
def falsified(mutant: Mutant) -> Iterator[None]:
    undo = mutant[1]()
    try:
        yield
    finally:
        undo()


SOME = [pytest.param(12, id="some"), pytest.param(None, id="all", marks=pytest.mark.slow)]


@pytest.mark.parametrize("most", SOME)
def test_no_falsified_figure_passes(figure, request, most):
    check(list(figure_mutants(figure)), figure, checks(request, "figure"), most)


@pytest.mark.parametrize("most", SOME)
def test_no_falsified_file_passes(report, request, most):
    check(list(file_mutants(report)), report, checks(request, "report"), most)


def check(mutants: list[Mutant], subject: object, tests: list[Check], most: int | None) -> None:
    """Fail with the mutants that no test notices, of all or of some that are drawn at random."""
    assert tests and not noticed(subject, tests) and len(mutants) > 5
    if most is not None and most < len(mutants):
        mutants = [mutants[i] for i in np.sort(np.random.default_rng(0).permutation(len(mutants))[:most])]
    alive = []
    for mutant in mutants:
        with falsified(mutant):
            if not noticed(subject, tests):
                alive.append(mutant[0])
    assert not alive, f"{len(alive)} of {len(mutants)} are not noticed:\n" + "\n".join(alive)


# --- what is drawn ----------------------------------------------------------------------------------------


def figure_mutants(figure: Figure) -> Iterator[Mutant]:
    for panel, axes in enumerate(axes for axes in figure.axes if axes.axison):
        for i, (what, mutate) in enumerate(_of_axes(axes)):
            yield f"panel {panel}, {i}: {what}", mutate
    for which, legend in enumerate(figure.legends):
        yield from ((f"legend {which}: {what}", mutate) for what, mutate in _of_handles(legend))


def _of_axes(axes: Axes) -> Iterator[Mutant]:
    drawn = [one for one in axes.get_children() if isinstance(one, Line2D | Collection) and not _decorates(one)]
    drawn = [one for one in drawn if one.get_transform() != axes.transAxes]  # beside the labels: layout
    for one, other in zip(drawn, [*drawn[1:], *drawn[:1]], strict=True):
        yield f"dropped {_named(one)}", lambda one=one: _drop(axes, one)
        if isinstance(one, Line2D):
            yield f"scaled in x {_named(one)}", lambda one=one: _scale(one, 1.03, 1.0)
            yield f"scaled in y {_named(one)}", lambda one=one: _scale(one, 1.0, 1.03)
            if to_hex(one.get_color()) != GREY:
                yield f"recoloured {_named(one)}", lambda one=one: _recolour(one)
            if isinstance(other, Line2D) and _differ(one, other):
                yield f"exchanged {_named(one)}", lambda one=one, other=other: _exchange(one, other)
        else:
            yield f"scaled {_named(one)}", lambda one=one: _scale_collection(one)
    for image in axes.images:
        yield "scaled an image", lambda image=image: _scale_array(image)
    for patch in axes.patches:
        yield "moved a box", lambda patch=patch: _move(patch)
    words = [text for text in (*axes.texts, axes._left_title, axes._right_title) if text.get_text()]
    for text in words:
        yield f"falsified {text.get_text()!r}", lambda text=text: _falsify(text)
    for axis in ("x", "y"):
        yield f"another scale of {axis}", lambda axis=axis: _rescale(axes, axis)
        formatter = getattr(axes, f"{axis}axis").get_major_formatter()
        for i, name in enumerate(formatter.seq if isinstance(formatter, FixedFormatter) else []):
            yield f"falsified tick {name!r}", lambda f=formatter, i=i: _rename(f, i)
    if axes.get_legend() is not None:
        yield from _of_handles(axes.get_legend())


def _of_handles(legend) -> Iterator[Mutant]:
    handles = [one for one in legend.legend_handles if isinstance(one, Line2D)]
    for one, other in zip(handles, [*handles[1:], *handles[:1]], strict=True):
        if one is not other:
            yield (
                f"labels exchanged: {one.get_label()}",
                lambda one=one, other=other: _exchange_labels(one, other),
            )


def _decorates(one) -> bool:
    colours = [one.get_color()] if isinstance(one, Line2D) else [*one.get_facecolor(), *one.get_edgecolor()][:1]
    return isinstance(one, Line2D) and to_hex(colours[0]) in DECORATION


def _named(one) -> str:
    if isinstance(one, Line2D):
        return f"line of {len(one.get_xdata())} points, {one.get_marker()}, {to_hex(one.get_color())}"
    return type(one).__name__


def _drop(axes: Axes, one) -> Undo:
    before, containers = list(axes._children), list(axes.containers)
    axes._children.remove(one)
    axes.containers[:] = [
        c for c in containers if one not in list(c.lines[2] if hasattr(c, "has_yerr") else [])
    ]

    def undo() -> None:
        axes._children[:], axes.containers[:] = before, containers

    return undo


def _set(put: Callable, before: object, after: object) -> Undo:
    put(after)
    return lambda: put(before)


def _both(first: Undo, second: Undo) -> Undo:
    def undo() -> None:
        first()
        second()

    return undo


def _put_data(line: Line2D) -> Callable:
    return lambda data: line.set_data(*data)


def _scale(line: Line2D, x: float, y: float) -> Undo:
    before = line.get_data(orig=True)
    after = np.multiply(before[0], x) + (x - 1.0), np.multiply(before[1], y) + (y - 1.0)
    return _set(_put_data(line), before, after)


def _recolour(line: Line2D) -> Undo:
    return _set(line.set_color, line.get_color(), "#123456")


def _differ(one: Line2D, other: Line2D) -> bool:
    """In their data, and in their look: it is no mistake to draw two of one look in another order."""
    looks = [
        (to_hex(x.get_color()), x.get_marker(), x.get_linestyle(), x.get_linewidth()) for x in (one, other)
    ]
    return looks[0] != looks[1] and not (
        np.array_equal(one.get_xdata(), other.get_xdata())
        and np.array_equal(one.get_ydata(), other.get_ydata())
    )


def _exchange(one: Line2D, other: Line2D) -> Undo:
    first, second = one.get_data(orig=True), other.get_data(orig=True)
    return _both(_set(_put_data(one), first, second), _set(_put_data(other), second, first))


def _exchange_labels(one, other) -> Undo:
    first, second = one.get_label(), other.get_label()
    return _both(_set(one.set_label, first, second), _set(other.set_label, second, first))


def _scale_collection(one: Collection) -> Undo:
    if isinstance(one, QuadMesh):
        return _scale_array(one)
    if isinstance(one, LineCollection):
        before = one.get_segments()
        return _set(one.set_segments, before, [np.multiply(segment, (1.0, 1.03)) for segment in before])
    path = one.get_paths()[0]
    before = path.vertices.copy()
    return _set(lambda vertices: setattr(path, "vertices", vertices), before, before * (1.0, 1.03))


def _scale_array(one) -> Undo:
    return _set(one.set_array, one.get_array(), 1.03 * one.get_array() + 0.01)


def _move(patch) -> Undo:
    x, y = patch.get_xy()
    return _set(patch.set_xy, (x, y), (x + 1, y))


def _falsify(text: Text) -> Undo:
    """Another last digit, or another last letter."""
    return _set(text.set_text, text.get_text(), _other(text.get_text()))


def _rename(formatter: FixedFormatter, i: int) -> Undo:
    before = formatter.seq
    after = [*before[:i], _other(before[i]), *before[i + 1 :]]
    return _set(lambda names: setattr(formatter, "seq", names), before, after)


def _rescale(axes: Axes, axis: str) -> Undo:
    """Linear for logarithmic and the other way; the ticks are put back with the scale."""
    its, set_scale = getattr(axes, f"{axis}axis"), getattr(axes, f"set_{axis}scale")
    before, limits = getattr(axes, f"get_{axis}scale")(), getattr(axes, f"get_{axis}lim")()
    parts = ("major_locator", "major_formatter", "minor_locator", "minor_formatter")
    kept = {part: getattr(its, f"get_{part}")() for part in parts}
    set_scale("linear" if before == "log" else "log")

    def undo() -> None:
        set_scale(before)
        for part, value in kept.items():
            getattr(its, f"set_{part}")(value)
        getattr(axes, f"set_{axis}lim")(limits)

    return undo


def _other(text: str) -> str:
    digits = [found.start() for found in re.finditer(r"\d", text)]
    letters = [found.start() for found in re.finditer(r"\w", text)]
    if not (digits or letters):
        return f"{text}?"
    at = (digits or letters)[-1]
    return f"{text[:at]}{(int(text[at]) + 3) % 10 if text[at] in '0123456789' else '?'}{text[at + 1 :]}"


# --- what is written --------------------------------------------------------------------------------------


def file_mutants(paths: list[Path]) -> Iterator[Mutant]:
    """Every cell of every row of a CSV, and of every table in Markdown but its header."""
    for path in paths:
        before = path.read_text()
        cells = _csv_cells(before) if path.suffix == ".csv" else _table_cells(before)
        for cell, after in cells:
            yield (
                f"{path.name}: {cell}",
                lambda path=path, before=before, after=after: _rewrite(path, before, after),
            )


def _rewrite(path: Path, before: str, after: str) -> Undo:
    path.write_text(after)
    return lambda: path.write_text(before) and None


def _csv_cells(text: str) -> Iterator[tuple[str, str]]:
    rows = list(csv.reader(io.StringIO(text)))
    for i, row in enumerate(rows[1:], 1):
        for j, cell in enumerate(row):
            made = io.StringIO()
            falsified = [*row[:j], _other(cell), *row[j + 1 :]]
            csv.writer(made, lineterminator="\n").writerows([*rows[:i], falsified, *rows[i + 1 :]])
            yield f"{rows[0][j]} of {row[0]}: {cell}", made.getvalue()


def _table_cells(text: str) -> Iterator[tuple[str, str]]:
    lines = text.split("\n")
    for i, line in enumerate(lines):
        header = not i or not lines[i - 1].startswith("|")
        if not line.startswith("| ") or line.startswith("| :--") or header:
            continue
        cells = line.split(" | ")
        for j, cell in enumerate(cells):
            if cell.strip("| "):
                changed = " | ".join([*cells[:j], _other(cell), *cells[j + 1 :]])
                yield f"{cells[0]}, column {j}: {cell}", "\n".join([*lines[:i], changed, *lines[i + 1 :]])
