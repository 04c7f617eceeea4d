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
import pickle
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import Collection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter

DECORATION, GREY = {"#ffffff", "#efefef", "#b4b4b4"}, "#5a5a5a"  # grey: guides, whose colour says nothing
Check = Callable[[object], None]  # takes the figure or the files
Mutant = tuple[str, Callable[[], object]]  # what is falsified, and what does it


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


SOME = [pytest.param(12, id="some"), pytest.param(None, id="all", marks=pytest.mark.slow)]


@pytest.mark.parametrize("most", SOME)
def test_no_falsified_figure_passes(figure, request, most):
    kept, names = pickle.dumps(figure), [what for what, _ in figure_mutants(figure)]

    def falsified(i: int) -> Figure:
        """Another figure, for none is put right again."""
        another = pickle.loads(kept)
        list(figure_mutants(another))[i][1]()
        return another

    check(names, falsified, figure, checks(request, "figure"), most)


@pytest.mark.parametrize("most", SOME)
def test_no_falsified_file_passes(report, request, most):
    right, mutants = {path: path.read_text() for path in report}, list(file_mutants(report))

    def falsified(i: int) -> list[Path]:
        for path, text in right.items():
            path.write_text(text)
        mutants[i][1]()
        return report

    try:
        check([what for what, _ in mutants], falsified, report, checks(request, "report"), most)
    finally:
        for path, text in right.items():
            path.write_text(text)


def check(
    names: list[str], falsified: Callable[[int], object], right: object, tests: list[Check], most: int | None
) -> None:
    """Fail with the mutants that no test notices, of all or of some that are drawn at random."""
    assert tests and not noticed(right, tests) and len(names) > 5
    tried = np.sort(np.random.default_rng(0).permutation(len(names))[:most])
    alive = [names[i] for i in tried if not noticed(falsified(i), tests)]
    assert not alive, f"{len(alive)} of {len(tried)} are not noticed:\n" + "\n".join(alive)


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
        yield f"dropped {_named(one)}", one.remove
        if isinstance(one, Line2D):
            yield f"scaled in x {_named(one)}", partial(_scale, one, 1.03, 1.0)
            yield f"scaled in y {_named(one)}", partial(_scale, one, 1.0, 1.03)
            if to_hex(one.get_color()) != GREY:
                yield f"recoloured {_named(one)}", partial(one.set_color, "#123456")
            if isinstance(other, Line2D) and _differ(one, other):
                yield f"exchanged {_named(one)}", partial(_exchange, one, other)
        else:
            yield f"scaled {_named(one)}", partial(_scale_collection, one)
    for image in axes.images:
        yield "scaled an image", partial(_scale_array, image)
    for patch in axes.patches:
        yield "moved a box", partial(patch.set_x, patch.get_x() + 1)
    for text in (*axes.texts, axes._left_title, axes._right_title):
        if text.get_text():
            yield f"falsified {text.get_text()!r}", partial(_falsify, text)
    for axis in ("x", "y"):
        scale = getattr(axes, f"get_{axis}scale")()
        another = partial(getattr(axes, f"set_{axis}scale"), "linear" if scale == "log" else "log")
        yield f"another scale of {axis}", another
        formatter = getattr(axes, f"{axis}axis").get_major_formatter()
        for i, name in enumerate(formatter.seq if isinstance(formatter, FixedFormatter) else []):
            yield f"falsified tick {name!r}", partial(_rename, formatter, i)
    if axes.get_legend() is not None:
        yield from _of_handles(axes.get_legend())


def _of_handles(legend) -> Iterator[Mutant]:
    handles = [one for one in legend.legend_handles if isinstance(one, Line2D)]
    for one, other in zip(handles, [*handles[1:], *handles[:1]], strict=True):
        if one is not other:
            yield f"labels exchanged: {one.get_label()}", partial(_exchange_labels, one, other)


def _decorates(one) -> bool:
    return isinstance(one, Line2D) and to_hex(one.get_color()) in DECORATION


def _named(one) -> str:
    if isinstance(one, Line2D):
        return f"line of {len(one.get_xdata())} points, {one.get_marker()}, {to_hex(one.get_color())}"
    return type(one).__name__


def _scale(line: Line2D, x: float, y: float) -> None:
    before = line.get_data(orig=True)
    line.set_data(np.multiply(before[0], x) + (x - 1.0), np.multiply(before[1], y) + (y - 1.0))


def _differ(one: Line2D, other: Line2D) -> bool:
    """In their data, and in their look: it is no mistake to draw two of one look in another order."""
    looks = [
        (to_hex(x.get_color()), x.get_marker(), x.get_linestyle(), x.get_linewidth()) for x in (one, other)
    ]
    return looks[0] != looks[1] and not (
        np.array_equal(one.get_xdata(), other.get_xdata())
        and np.array_equal(one.get_ydata(), other.get_ydata())
    )


def _exchange(one: Line2D, other: Line2D) -> None:
    first, second = one.get_data(orig=True), other.get_data(orig=True)
    one.set_data(*second)
    other.set_data(*first)


def _exchange_labels(one, other) -> None:
    first, second = one.get_label(), other.get_label()
    one.set_label(second)
    other.set_label(first)


def _scale_collection(one: Collection) -> None:
    if isinstance(one, QuadMesh):
        _scale_array(one)
    else:
        path = one.get_paths()[0]
        path.vertices = path.vertices * (1.0, 1.03)


def _scale_array(one) -> None:
    one.set_array(1.03 * one.get_array() + 0.01)


def _falsify(text: Text) -> None:
    """Another last digit, or another last letter."""
    text.set_text(_other(text.get_text()))


def _rename(formatter: FixedFormatter, i: int) -> None:
    formatter.seq = [*formatter.seq[:i], _other(formatter.seq[i]), *formatter.seq[i + 1 :]]


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
        yield from ((f"{path.name}: {cell}", partial(path.write_text, after)) for cell, after in cells)


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
