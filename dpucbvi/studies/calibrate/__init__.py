"""The factors on the bonus and on E of every algorithm in Figure 1, chosen on seeds that no figure uses."""

from dpucbvi.studies import Study
from dpucbvi.studies.calibrate.figure import draw
from dpucbvi.studies.calibrate.report import choices, write

STUDY = Study(draw, choices, write, points=2)
