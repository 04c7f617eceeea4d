"""This paper: what is drawn, printed and written of each experiment, from its stored results.

A study has the name of its conf/exp/<name>.yaml: the module (or package) of that name here ends in

    STUDY = Study(draw, caption, ...)

and the config says `study: <name>`. `regret`, the default, draws any experiment. This file is the index of all
studies, and the files themselves are its entries: a new module is a new study.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NamedTuple

from dpucbvi.errors import InputError
from dpucbvi.files import replacing
from experiments.lab.store import StoredExperiment
from experiments.studies.shared.arms import changes_of, noise_of
from experiments.studies.shared.tables import Rows, aligned, finals

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.figure import Figure

PNG_DPI = 300
NO_STUDIES = ("shared", "artifact")

Stored = Callable[[str], StoredExperiment | None]  # another experiment by its name, if it is stored


class Study(NamedTuple):
    """What is made of a stored experiment."""

    draw: "Callable[[StoredExperiment], Figure]"
    caption: Callable[[StoredExperiment], str]  # what stands beside the figure, not in it
    table: Callable[[StoredExperiment], Rows] = (
        finals  # printed at the end of a run; the first row is the header
    )
    report: Callable[[StoredExperiment, Path, Stored], list[Path]] | None = None  # writes files into a folder,
    folder: str = "results"  # which is this one of paper/
    needs: tuple[str, ...] = ()  # the experiments whose results or files the report uses: they go first
    keeps_figure: bool = True  # in paper/figures, if the experiment has the study's name
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


def keeps_figure(experiment: str, of: str) -> bool:
    """Whether paper/figures has the figure of an experiment with the study `of`: one figure for a study."""
    return experiment == of and study(of).keeps_figure


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


def caption(experiment: StoredExperiment) -> str:
    """What stands beside the figure: the study's words, what was changed, and what the noise is."""
    said = study(experiment.study).caption(experiment)
    ends = [
        f"{words[0].upper()}{words[1:]}." for words in (changes_of(experiment), noise_of(experiment)) if words
    ]
    return " ".join([said, *ends])


def draw(experiment: StoredExperiment, folder: Path) -> list[Path]:
    """Draw the experiment's figure into <folder>/<name>.png and .pdf; <name>.md beside them has the caption."""
    from experiments.studies.shared.style import house_style

    with house_style():
        figure = drawn(experiment)
        folder.mkdir(parents=True, exist_ok=True)  # not for what cannot be drawn
        # No dates inside: the same results give the same files.
        written = [
            _save(figure, folder / f"{experiment.name}.png", {"Software": None}),
            _save(figure, folder / f"{experiment.name}.pdf", {"CreationDate": None}),
        ]
    (folder / f"{experiment.name}.md").write_text(f"{caption(experiment)}\n")
    return written


def drawn(experiment: StoredExperiment) -> "Figure":
    """The figure; one of an experiment that was changed says so at its top."""
    from experiments.studies.shared.style import QUIET, SMALL, write_plain_ticks

    check_state(experiment)
    figure = study(experiment.study).draw(experiment)
    write_plain_ticks(figure)
    if experiment.changed:
        figure.suptitle(changes_of(experiment), fontsize=SMALL, color=QUIET, wrap=True)
    return figure


def _save(figure: "Figure", path: Path, metadata: dict[str, None]) -> Path:
    with replacing(path) as partial:
        figure.savefig(partial, format=path.suffix[1:], dpi=PNG_DPI, metadata=metadata)
    return path
