"""This paper: what is drawn, printed and written of each experiment, from its stored results.

A study has the name of its conf/exp/<name>.yaml: the module (or package) of that name here ends in

    STUDY = Study(draw, ...)

and the config says `study: <name>`. `regret`, the default, draws any experiment. This file is the index of all
studies, and the files themselves are its entries: a new module is a new study.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from dpucbvi.errors import InputError
from dpucbvi.files import replacing
from experiments.lab.store import StoredExperiment
from experiments.studies.shared.arms import changes_of, noise_of
from experiments.studies.shared.files import aligned
from experiments.studies.shared.finals import finals

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.figure import Figure

    from experiments.studies.shared.sheet import Sheet

PNG_DPI = 200
NO_STUDIES = ("shared", "artifact")

Rows = list[tuple[str, ...]]
Stored = Callable[[str], StoredExperiment | None]  # another experiment by its name, if it is stored


class Study(NamedTuple):
    """What is made of a stored experiment. A figure that is kept is drawn on two sheets (shared/sheet.py)."""

    draw: "Callable[..., Figure]"  # takes the experiment and, where the figure is kept, the sheet
    table: Callable[[StoredExperiment], Rows] = (
        finals  # printed at the end of a run; the first row is the header
    )
    report: Callable[[StoredExperiment, Path, Stored], list[Path]] | None = None  # writes files into a folder,
    folder: str = "results"  # which is this one of paper/
    needs: tuple[str, ...] = ()  # the experiments whose results or files the report uses: they go first
    keeps_figure: bool = True  # in paper/figures
    points: int = 120  # of every run's trace, in the file that ships (lab/shipped.py)
    ships_state: bool = False  # it draws N_sa and Q of the last episode, and they ship too


@cache
def names() -> tuple[str, ...]:
    """Every study; none of them is imported."""
    return tuple(sorted(module.name for module in iter_modules(__path__) if module.name not in NO_STUDIES))


def study(name: str) -> Study:
    """The study of this name; InputError if there is none."""
    if name not in names():
        raise InputError(f"study: {name!r} is not accepted; it must be one of {', '.join(names())}")
    found: Study = import_module(f"{__name__}.{name}").STUDY
    return found


def check_state(experiment: StoredExperiment) -> None:
    """InputError if the study draws N_sa and Q, and a run was stored without them."""
    without = sum(not run.true_counts for arm in experiment.arms for run in arm.runs)
    if without and study(experiment.study).ships_state:
        raise InputError(
            f"{experiment.name}: {without} of its runs are stored without true counts, which its study draws; "
            "run it again without runtime.true_counts=false"
        )


def table(experiment: StoredExperiment) -> str:
    """What a run says of itself in the end."""
    rows = aligned(study(experiment.study).table(experiment))
    return f"{changes_of(experiment)}\n\n{rows}" if experiment.changed else rows


def draw(experiment: StoredExperiment, folder: Path, column: bool = False) -> list[Path]:
    """Draw the experiment's figure into <folder>/<name>.png and .pdf, for a page or for one of its columns."""
    from experiments.studies.shared.style import house_style

    folder.mkdir(parents=True, exist_ok=True)
    with house_style(_sheet(column).sizes):
        figure = drawn(experiment, column)
        # No dates inside: the same results give the same files.
        return [
            _save(figure, folder / f"{experiment.name}.png", {"Software": None}),
            _save(figure, folder / f"{experiment.name}.pdf", {"CreationDate": None}),
        ]


def drawn(experiment: StoredExperiment, column: bool = False) -> "Figure":
    """The figure with what every figure says in its corner; the sizes of its type are those of the moment."""
    from experiments.studies.shared.sheet import EDGE
    from experiments.studies.shared.style import QUIET, SMALL, write_plain_ticks

    made = study(experiment.study)
    check_state(experiment)
    figure = made.draw(experiment, _sheet(column)) if made.keeps_figure else made.draw(experiment)
    write_plain_ticks(figure)
    said = " · ".join(text for text in (changes_of(experiment), noise_of(experiment)) if text)
    corner = "\n".join(wrap(said, 70 if column else 160))
    width, height = figure.get_size_inches()
    at = (1.0 - EDGE / width, 1.0 - EDGE / height)  # as far in as all that stands at an edge
    figure.text(*at, corner, ha="right", va="top", fontsize=SMALL, color=QUIET)
    return figure


def _sheet(column: bool) -> "Sheet":
    from experiments.studies.shared.sheet import COLUMN, PAGE

    return COLUMN if column else PAGE


def _save(figure: "Figure", path: Path, metadata: dict[str, None]) -> Path:
    with replacing(path) as partial:
        figure.savefig(partial, format=path.suffix[1:], dpi=PNG_DPI, metadata=metadata)
    return path
