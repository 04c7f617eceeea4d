"""The figures of paper/figures, and the captions beside them."""

import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.lab.store import StoredExperiment
from experiments.studies import draw, draw_files, sections

CAPTIONS = "captions.md"
HEAD = """\
<!-- Written by experiments/paper.py from stored results; do not edit. -->
# Captions

What stands beside each figure of this folder; the report and the page have the same words.
"""


def keep_figure(experiment: StoredExperiment, folder: Path) -> list[Path]:
    """Draw the figure of one experiment for paper/figures."""
    return _keep(lambda scratch: draw(experiment, scratch), folder)


def keep_summary(river: StoredExperiment, mechanisms: StoredExperiment, folder: Path) -> list[Path]:
    """Draw README's picture, which needs two experiments."""
    from experiments.studies.artifact import summary  # matplotlib is slow to import

    return _keep(
        lambda scratch: draw_files(lambda: summary.draw(river, mechanisms), scratch, summary.NAME), folder
    )


def _keep(draw_into: Callable[[Path], list[Path]], folder: Path) -> list[Path]:
    """The PDF, and the PNG with a palette of 256 colours, which is a third of the size."""
    from PIL import Image  # only who keeps figures needs it

    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch:
        png, pdf = draw_into(Path(scratch))
        with Image.open(png) as image:
            image.convert("RGB").quantize(256).save(folder / png.name, optimize=True)
        shutil.copyfile(pdf, folder / pdf.name)
    return [folder / png.name, folder / pdf.name]


def read_captions(folder: Path) -> dict[str, str]:
    """The captions that were written there, by the figure's name."""
    return sections(folder / CAPTIONS)


def write_captions(folder: Path, captions: dict[str, str]) -> Path:
    """Write these captions, beside those of figures that are not drawn now."""
    every = {**read_captions(folder), **captions}
    folder.mkdir(parents=True, exist_ok=True)
    parts = [f"## {name}\n\n{every[name]}\n" for name in sorted(every)]
    (folder / CAPTIONS).write_text("\n".join([HEAD, *parts]), "utf-8")
    return folder / CAPTIONS
