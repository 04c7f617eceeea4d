"""The index of figures: what `figure.kind` may name, and the function that draws it from stored results."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpucbvi.store import StoredExperiment

PNG_DPI = 200


def regret(experiment: "StoredExperiment") -> "Figure":
    """Regret against episodes, mean and 95% interval over runs, the printed curves beside."""
    from dpucbvi.drawing.regret import draw_regret  # matplotlib and seaborn are slow to import

    return draw_regret(experiment)


KINDS: dict[str, Callable[["StoredExperiment"], "Figure"]] = {"regret": regret}


def draw(experiment: "StoredExperiment", folder: Path) -> list[Path]:
    """Draw the experiment's figure into <folder>/<name>.png and .pdf."""
    from dpucbvi.drawing.style import house_style

    folder.mkdir(parents=True, exist_ok=True)
    with house_style():
        figure = KINDS[experiment.figure["kind"]](experiment)
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
