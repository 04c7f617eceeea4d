"""The paper's Figure 1, regret on RiverSwim, and the table beside it: as proven (a) and as matched (b).

Panel a has the ε of the printed legend. Panel b has the ε at which the regret is the printed one, which
+exp=epsilon finds on other seeds.
"""

from dpucbvi.studies import Study
from dpucbvi.studies.riverswim.figure import draw
from dpucbvi.studies.riverswim.report import write

STUDY = Study(draw, report=write, needs=("epsilon",), printed_size=True)
