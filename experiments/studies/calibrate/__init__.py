"""The factors on the bonus and on E of every algorithm in Figure 1, chosen on seeds that no figure uses."""

from experiments.studies import Study
from experiments.studies.calibrate.figure import draw
from experiments.studies.calibrate.report import choices, write

STUDY = Study(draw, choices, write, points=2)
