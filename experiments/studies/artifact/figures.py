"""The figures of paper/figures: a page wide, and a column wide in the folder of that name."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.lab.store import StoredExperiment
from experiments.studies import draw

WIDTHS = {"figures": False, "figures/column": True}


def keep_figures(experiment: StoredExperiment, paper: Path) -> list[Path]:
    """Draw the experiment at both widths; the files."""
    written = []
    for folder, column in WIDTHS.items():
        with TemporaryDirectory() as scratch:
            png, pdf = draw(experiment, Path(scratch), column)
            written += _keep(png, pdf, paper / folder)
    return written


def _keep(png: Path, pdf: Path, folder: Path) -> list[Path]:
    """The PDF, and the PNG with a palette of 256 colours, a third of the size."""
    from PIL import Image  # only who keeps figures needs it

    folder.mkdir(parents=True, exist_ok=True)
    with Image.open(png) as image:
        image.convert("RGB").quantize(256).save(folder / png.name, optimize=True)
    shutil.copyfile(pdf, folder / pdf.name)
    return [folder / png.name, folder / pdf.name]
