"""Every privatizer at equal certified ε: regret, where it is the printed one, what each lever buys, and
elsewhere."""

from experiments.studies import Study
from experiments.studies.mechanisms.figure import draw
from experiments.studies.mechanisms.report import matched, write

STUDY = Study(draw, matched, write, needs=("epsilon",), points=60)
