"""The factors on the bonus and on E of Table 1's other systems, by the rule of the study `calibrate`."""

from dpucbvi.studies import Study
from dpucbvi.studies.calibrate.figure import draw
from dpucbvi.studies.calibrate.report import choices, write

STUDY = Study(draw, choices, write, folder="tables", keeps_figure=False, points=2)
