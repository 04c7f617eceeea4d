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


def calibration(experiment: "StoredExperiment") -> "Figure":
    """The objective of the calibration at every point of the grid."""
    from dpucbvi.drawing.calibration import draw_calibration

    return draw_calibration(experiment)


def epsilon(experiment: "StoredExperiment") -> "Figure":
    """Regret after the last episode against ε, a panel for each model of privacy."""
    from dpucbvi.drawing.epsilon import draw_epsilon

    return draw_epsilon(experiment)


def figure1(experiment: "StoredExperiment") -> "Figure":
    """The paper's Figure 1, as proven and as matched."""
    from dpucbvi.drawing.figure1 import draw_figure1

    return draw_figure1(experiment)


def table1(experiment: "StoredExperiment") -> "Figure":
    """Regret of every system of Table 1 under both models, a panel for each environment."""
    from dpucbvi.drawing.table1 import draw_table1

    return draw_table1(experiment)


def privacy_for_free(experiment: "StoredExperiment") -> "Figure":
    """Regret along long runs, and what privacy costs against the number of episodes."""
    from dpucbvi.drawing.privacy_for_free import draw_privacy_for_free

    return draw_privacy_for_free(experiment)


def literal(experiment: "StoredExperiment") -> "Figure":
    """Which Q leaves H with the printed constants, and how many episodes it would take."""
    from dpucbvi.drawing.literal import draw_literal

    return draw_literal(experiment)


def literal_learns(experiment: "StoredExperiment") -> "Figure":
    """Regret with the printed constants where they do learn."""
    from dpucbvi.drawing.literal_learns import draw_literal_learns

    return draw_literal_learns(experiment)


def horizon(experiment: "StoredExperiment") -> "Figure":
    """Regret against the horizon with Bernstein and with Hoeffding bonuses."""
    from dpucbvi.drawing.horizon import draw_horizon

    return draw_horizon(experiment)


KINDS: dict[str, Callable[["StoredExperiment"], "Figure"]] = {
    "regret": regret,
    "calibration": calibration,
    "epsilon": epsilon,
    "figure1": figure1,
    "table1": table1,
    "privacy_for_free": privacy_for_free,
    "literal": literal,
    "literal_learns": literal_learns,
    "horizon": horizon,
}


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
