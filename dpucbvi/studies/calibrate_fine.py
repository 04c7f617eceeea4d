"""A closer look at the factors that the study `calibrate` chose: a finer grid around them, on other seeds."""

from functools import partial

from dpucbvi.studies import Study
from dpucbvi.studies.calibrate.figure import draw
from dpucbvi.studies.calibrate.report import choices, write

STUDY = Study(partial(draw, shared=False), choices, write, keeps_figure=False, points=2)
