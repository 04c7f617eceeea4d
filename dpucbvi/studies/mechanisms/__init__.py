"""Every privatizer at equal certified ε: regret, where it is the printed one, what each lever buys, and
elsewhere."""

from dpucbvi.studies import Study
from dpucbvi.studies.mechanisms.figure import draw
from dpucbvi.studies.mechanisms.report import matched, write

STUDY = Study(draw, matched, write, needs=("epsilon",), points=60)
