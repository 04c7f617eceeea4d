"""The paper's Figure 1, regret on RiverSwim, and the table beside it: as proven, as explained, and certified.

Panel a has the ε of the printed legend. Panel b has the noise and the factors that are nearest to the printed
curves, which +exp=explain_fit finds on other seeds. Panel c has the ε of the printed legend again, certified
for a user who is replaced, with privatizers that are not in the paper.
"""

from experiments.studies import Study
from experiments.studies.riverswim.figure import draw
from experiments.studies.riverswim.report import write

STUDY = Study(draw, report=write, needs=("epsilon",))
