"""This paper: what is drawn, printed and written of each experiment, from its stored results.

A study has the name of its conf/exp/<name>.yaml: the module (or package) of that name here ends in

    STUDY = Study(draw, ...)

and the config says `study: <name>`. Its caption is in texts/captions.md, and the words of its page in
texts/<name>.md. `regret`, the default, draws any experiment. This file is the index of all studies, and the
files themselves are its entries: a new module is a new study.
"""

import io
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NamedTuple

from dpucbvi.errors import check_name
from dpucbvi.files import replacing
from experiments.lab.store import StoredExperiment
from experiments.studies.shared.arms import changes_of, check_same_grid, noise_of, runs_text
from experiments.studies.shared.tables import TEXTS, WRITTEN, Rows, aligned, as_csv, finals, markdown

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.figure import Figure

PNG_DPI = 300
NO_STUDIES = ("shared", "artifact")
CAPTIONS = TEXTS / "captions.md"

Stored = Callable[[str], StoredExperiment | None]  # another experiment by its name, if it is stored


def sections(file: Path) -> dict[str, str]:
    """The text under every `## name` of a file; none if it is not there."""
    parts = file.read_text("utf-8").split("\n## ")[1:] if file.is_file() else []
    return {name: " ".join(words.split()) for name, _, words in (part.partition("\n") for part in parts)}


def sizes(experiment: StoredExperiment) -> dict[str, object]:
    """The K and the runs that the texts of a study name."""
    return {"K": f"{experiment.arms[0].K:,}", "runs": runs_text(experiment)}


def written_caption(experiment: StoredExperiment) -> str:
    """The text of texts/captions.md, with the numbers of the experiment."""
    return sections(CAPTIONS).get(experiment.study, "").format(**sizes(experiment))


class Study(NamedTuple):
    """What is made of a stored experiment. The table, whose first row is the header, ends a run."""

    draw: "Callable[[StoredExperiment], Figure] | None"  # some have tables only
    table: Callable[[StoredExperiment], Rows] = finals
    # What texts/<study>.md is filled with, besides the table; a study without this text has no page.
    parts: Callable[[StoredExperiment, Stored], Mapping[str, object]] = lambda *_: {}
    records: Callable[[StoredExperiment], Iterable[Mapping[str, object]]] | None = None  # lines of <name>.csv
    folder: str = "results"  # of paper/, where the page and the lines are
    points: int = 120  # of every run's trace, in the file that ships (lab/shipped.py)
    ships_state: bool = False  # it draws N_sa and Q of the last episode, and they ship too
    caption: Callable[[StoredExperiment], str] = written_caption  # what stands beside the figure, not in it

    def report(self, experiment: StoredExperiment, folder: Path, stored: Stored) -> list[Path]:
        """Write the page for readers and the lines for programs, whichever the study has, into the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        written, text = dict[Path, str](), TEXTS / f"{experiment.study}.md"
        if text.is_file():
            words, parts = text.read_text("utf-8"), {**sizes(experiment), **self.parts(experiment, stored)}
            if "{table}" in words:
                parts["table"] = markdown(self.table(experiment))
            written[folder / f"{experiment.name}.md"] = f"{WRITTEN}\n{words.format(**parts)}"
        if self.records is not None:
            written[folder / f"{experiment.name}.csv"] = as_csv(list(self.records(experiment)))
        for path, content in written.items():
            path.write_text(content, "utf-8", newline="")
        return list(written)


@cache
def names() -> tuple[str, ...]:
    """Every study; none of them is imported."""
    return tuple(sorted(module.name for module in iter_modules(__path__) if module.name not in NO_STUDIES))


def study(name: str) -> Study:
    """The study of this name; InputError if there is none."""
    check_name("study", name, names())
    found: Study = import_module(f"{__name__}.{name}").STUDY
    return found


def keeps_figure(experiment: str, of: str) -> bool:
    """Whether paper/figures has the figure of an experiment with the study `of`: one figure for a study."""
    return experiment == of and study(of).draw is not None


def table(experiment: StoredExperiment) -> str:
    """What a run says of itself in the end."""
    rows = aligned(study(experiment.study).table(experiment))
    return f"{changes_of(experiment)}\n\n{rows}" if experiment.changed else rows


def caption(experiment: StoredExperiment) -> str:
    """What stands beside the figure: the study's words, what was changed, and what the noise is."""
    ends = [words for words in (changes_of(experiment), noise_of(experiment)) if words]
    return " ".join([study(experiment.study).caption(experiment), *(f"{w[0].upper()}{w[1:]}." for w in ends)])


def draw(experiment: StoredExperiment, folder: Path) -> list[Path]:
    """Draw the experiment's figure, if it has one, into <folder>/<name>.png and .pdf, the caption into .md."""
    if study(experiment.study).draw is None:
        return []
    written = draw_files(lambda: drawn(experiment), folder, experiment.name)
    (folder / f"{experiment.name}.md").write_text(f"{caption(experiment)}\n", "utf-8")
    return written


def draw_files(draw_figure: "Callable[[], Figure]", folder: Path, name: str) -> list[Path]:
    """Draw a figure in the style of the house into <folder>/<name>.png and .pdf; no dates inside.

    The PNG has a palette of 256 colours, which makes it a third of the size.
    """
    from PIL import Image

    from dpucbvi.drawing.style import house_style
    from experiments.studies.shared.style import write_plain_ticks

    png, pdf, pixels = folder / f"{name}.png", folder / f"{name}.pdf", io.BytesIO()
    with house_style():
        figure = draw_figure()
        write_plain_ticks(figure)
        folder.mkdir(parents=True, exist_ok=True)  # not for what cannot be drawn
        figure.savefig(pixels, format="png", dpi=PNG_DPI)
        with replacing(png) as partial, Image.open(pixels) as image:
            image.convert("RGB").quantize(256).save(partial, "PNG", optimize=True)
        with replacing(pdf) as partial:
            figure.savefig(partial, format="pdf", dpi=PNG_DPI, metadata={"CreationDate": None})
    return [png, pdf]


def drawn(experiment: StoredExperiment) -> "Figure":
    """The figure; one of an experiment that was changed says so at its top."""
    from dpucbvi.drawing.style import QUIET, SMALL

    draw_figure = study(experiment.study).draw
    assert draw_figure is not None
    check_same_grid(experiment)
    figure = draw_figure(experiment)
    if experiment.changed:
        figure.suptitle(changes_of(experiment), fontsize=SMALL, color=QUIET, wrap=True)
    return figure
