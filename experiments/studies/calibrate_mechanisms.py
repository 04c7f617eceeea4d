"""The factors on the bonus and on E of the study `mechanisms`, by the rule of the study `calibrate`.

Arms of counts per step and of pooled counts have the same labels there; here an arm is told by its key, and run
with its own choice.
"""

from pathlib import Path

from matplotlib.figure import Figure

from experiments.lab.store import StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.calibrate import figure, report


def by_key(experiment: StoredExperiment) -> StoredExperiment:
    return experiment._replace(arms=[arm._replace(label=arm.of) for arm in experiment.arms])


def draw(experiment: StoredExperiment) -> Figure:
    return figure.draw(by_key(experiment), shared=False)


def choices(experiment: StoredExperiment) -> Rows:
    return report.choices(by_key(experiment))


def write(experiment: StoredExperiment, folder: Path, stored: Stored) -> list[Path]:
    return report.write(by_key(experiment), folder, stored)


STUDY = Study(draw, choices, write, keeps_figure=False, points=2)
