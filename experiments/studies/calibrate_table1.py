"""The factors of Table 1, for every system in every environment, by the rule of the study `calibrate`.

The study `table1` has them in its table (table1/factors.py).
"""

from pathlib import Path

from matplotlib.figure import Figure

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.calibrate import report
from experiments.studies.table1.figure import draw_dots
from experiments.studies.table1.measurements import ENVIRONMENT_NAMES, place


def by_place(experiment: StoredExperiment) -> StoredExperiment:
    """Every system has a name of its own in every environment and under every model."""
    return experiment._replace(arms=[arm._replace(label=_name(arm)) for arm in experiment.arms])


def _name(arm: StoredArm) -> str:
    row, model, env = place(arm)
    return f"{ENVIRONMENT_NAMES[env]}: {row.name}{'' if model == 'none' else f', {model}'}"


def draw(experiment: StoredExperiment) -> Figure:
    """The dots of Table 1, one for every point."""
    return draw_dots(experiment, "A dot for every pair of factors.")


def choices(experiment: StoredExperiment) -> Rows:
    return report.choices(by_place(experiment))


def write(experiment: StoredExperiment, folder: Path, stored: Stored) -> list[Path]:
    return report.write(by_place(experiment), folder, stored)


STUDY = Study(draw, choices, write, folder="tables", keeps_figure=False, points=2)
