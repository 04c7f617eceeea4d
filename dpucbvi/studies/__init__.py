"""The index of figures: what `figure.kind` may name. A kind is drawn by draw_<kind> of drawing/<kind>.py."""

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpucbvi.store import StoredExperiment

KINDS = (
    "regret",
    "calibration",
    "epsilon",
    "figure1",
    "table1",
    "privacy_for_free",
    "literal",
    "literal_learns",
    "horizon",
)
PNG_DPI = 200


def draw(experiment: "StoredExperiment", folder: Path) -> list[Path]:
    """Draw the experiment's figure into <folder>/<name>.png and .pdf."""
    from dpucbvi.drawing.style import house_style  # matplotlib and seaborn are slow to import

    folder.mkdir(parents=True, exist_ok=True)
    kind = experiment.figure["kind"]
    with house_style():
        figure = getattr(import_module(f"dpucbvi.drawing.{kind}"), f"draw_{kind}")(experiment)
        # No dates inside: the same results give the same files.
        return [
            _save(figure, folder / f"{experiment.name}.png", {"Software": None}),
            _save(figure, folder / f"{experiment.name}.pdf", {"CreationDate": None}),
        ]


def _save(figure: "Figure", path: Path, metadata: dict[str, None]) -> Path:
    partial = path.with_name(f".{path.name}")
    figure.savefig(partial, format=path.suffix[1:], dpi=PNG_DPI, metadata=metadata)
    os.replace(partial, path)
    return path
