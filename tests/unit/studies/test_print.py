"""Figures in print, read as they are drawn: in a column nothing is small, cut or on top of another.

Every figure that is kept is drawn from what has shipped.
"""

from functools import cache
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from dpucbvi.drawing.style import house_style
from experiments.lab.shipped import Shipped
from experiments.studies import draw_files, drawn, names, study
from experiments.studies.shared.style import PAGE, WIDTH

SHIPPED = Shipped(Path(__file__).resolve().parents[3] / "paper" / "results")
KEPT = [name for name in names() if study(name).draw is not None and name != "regret"]
AIR = 1.5  # points by which two boxes of text may meet


@cache
def figure(name: str) -> Figure:
    """As its files show it."""
    with house_style(), TemporaryDirectory() as folder:
        made = drawn(SHIPPED.load_experiment(name))
        draw_files(lambda: made, Path(folder), name)
        made.draw_without_rendering()
    return made


def words(made: Figure) -> list[Text]:
    """Every text that is to be seen, ticks and legends too."""
    found = [text for text in made.findobj(Text) if text.get_visible() and text.get_text().strip()]
    off = [text for axes in made.axes if not axes.axison for text in axes.findobj(Text)]
    ticks = {tick for axes in made.axes for axis in (axes.xaxis, axes.yaxis) for tick in _unseen(axis)}
    return [text for text in found if text not in off and text not in ticks]


def _unseen(axis) -> list[Text]:
    """Labels of ticks beyond the limits of an axis, which are never drawn."""
    low, high = sorted(axis.get_view_interval())
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    away = [t for t in ticks if not low * (1 - 1e-9) <= t.get_loc() <= high * (1 + 1e-9)]
    return [label for tick in away for label in (tick.label1, tick.label2)]


def box(text: Text) -> Bbox:
    return text.get_window_extent()


FIGURES = [pytest.param(name, marks=pytest.mark.slow) for name in KEPT]
OVER_BOTH = {"riverswim", "mechanisms", "privacy_for_free"}
COLUMN, BOTH, TALLEST = 3.3, 6.75, 9.2  # inches: a column, both, and what a page takes


@pytest.mark.parametrize("name", FIGURES)
def test_a_column_takes_the_figure_and_no_type_is_below_6_points_there(name):
    made = figure(name)
    room = {WIDTH: COLUMN, PAGE: BOTH}[made.get_figwidth()]
    shrink = room / made.get_figwidth()
    assert (room == BOTH) == (name in OVER_BOTH) and shrink * made.get_figheight() <= TALLEST
    small = {text.get_text(): text.get_fontsize() for text in words(made) if shrink * text.get_fontsize() < 6.0}
    assert small == {}


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_is_cut_and_no_words_stand_on_others(name):
    made = figure(name)
    width, height = made.get_size_inches() * made.dpi
    cut = [
        text.get_text()
        for text in words(made)
        if box(text).x0 < -1 or box(text).y0 < -1 or box(text).x1 > width + 1 or box(text).y1 > height + 1
    ]
    assert cut == []
    apart = [text for legend in made.legends for text in legend.get_texts()]
    for axes in made.axes:
        if axes.axison:
            apart += [axes._left_title, axes._right_title, axes.xaxis.label, axes.yaxis.label]
            apart += [
                text for text in axes.texts if getattr(text, "xycoords", "") == "axes fraction"
            ]  # end labels
    assert _touching([text for text in apart if text.get_text()]) == []


@pytest.mark.parametrize("name", FIGURES)
def test_rows_and_ticks_have_their_names_apart_and_without_small_exponents(name):
    for axes in figure(name).axes:
        for axis in (axes.xaxis, axes.yaxis):
            labels = [tick.label1 for tick in axis.get_major_ticks()]
            labels = [label for label in labels if label.get_visible() and label.get_text().strip()]
            seen = [label for label in labels if axes.axison and label not in _unseen(axis)]
            assert _touching(seen) == []
            assert [label.get_text() for label in seen if "^" in label.get_text()] == []


def _touching(texts: list[Text]) -> list[tuple[str, str]]:
    boxes = [(text.get_text(), box(text).padded(-AIR)) for text in texts]
    return [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if Bbox.intersection(one, other)]


def test_the_checks_find_what_is_wrong():
    """Two words on top of each other."""
    made = Figure()
    assert _touching([made.text(0.5, 0.5, "one word"), made.text(0.51, 0.5, "another")]) != []
