"""The figures of paper/figures, and the captions beside them."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.lab.store import StoredExperiment
from experiments.studies import draw, sections

CAPTIONS = "captions.md"
HEAD = """\
<!-- Written by experiments/paper.py from stored results; do not edit. -->
# Captions

What stands beside each figure of this folder; the report and the page have the same words.
"""


def keep_figure(experiment: StoredExperiment, folder: Path) -> list[Path]:
    """Draw the experiment: the PDF, and the PNG with a palette of 256 colours, a third of the size."""
    from PIL import Image  # only who keeps figures needs it

    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch:
        png, pdf = draw(experiment, Path(scratch))
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
