"""A closer look at the factors that the study `calibrate` chose: a finer grid around them, on other seeds."""

from functools import partial

from experiments.studies import Study
from experiments.studies.calibrate.figure import draw
from experiments.studies.calibrate.report import choices, write

STUDY = Study(partial(draw, shared=False), choices, write, keeps_figure=False, points=2)
