"""Which noise explains the printed Figure 1? Named hypotheses, each with one set of constants.

The factors are those of +exp=explain_fit, the runs are others and more. What is said: which hypotheses the
printed curves rule out and which they leave possible; never what was done.
"""

from dpucbvi.studies import Study
from dpucbvi.studies.explain.figure import draw
from dpucbvi.studies.explain.report import table, write

STUDY = Study(draw, table=table, report=write, points=400)
