"""The paper's Table 1 with every row running: bounds, measured regret, and where their orders disagree."""

from dpucbvi.studies import Study
from dpucbvi.studies.table1.figure import draw
from dpucbvi.studies.table1.report import write

STUDY = Study(draw, report=write, folder="tables", needs=("calibrate_table1",))
