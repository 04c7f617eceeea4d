"""Which noise explains the printed Figure 1? Named hypotheses, each with one set of constants.

The factors are those of +exp=explain_fit, the runs are others and more. What is said: which hypotheses the
printed curves rule out and which they leave possible; never what was done.
"""

from experiments.studies import Study
from experiments.studies.explain.figure import draw
from experiments.studies.explain.report import table, write

STUDY = Study(draw, table=table, report=write, points=400)
