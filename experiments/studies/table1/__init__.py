"""The paper's Table 1 with every row running: bounds, measured regret, and where their orders disagree."""

from experiments.studies import Study
from experiments.studies.table1.figure import draw
from experiments.studies.table1.report import write

STUDY = Study(draw, report=write, folder="tables", needs=("calibrate_table1",))
