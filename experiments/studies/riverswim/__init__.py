"""The paper's Figure 1, regret on RiverSwim, and the table beside it: as proven, as explained, and certified.

Panel a has the ε of the printed legend. Panel b has the noise and the factors that are nearest to the printed
curves, which +exp=explain_fit finds on other seeds. Panel c has the ε of the printed legend again, certified
for a user who is replaced, with privatizers that are not in the paper.
"""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.lab.store import StoredExperiment
from experiments.studies import Study
from experiments.studies.riverswim.panels import LINES, draw_certified, draw_explained, draw_proven
from experiments.studies.riverswim.report import write
from experiments.studies.shared.arms import check_same_grid
from experiments.studies.shared.style import DASHED, QUIET, new_panels


def draw(experiment: StoredExperiment) -> Figure:
    """One panel below the other, and how an algorithm is drawn below them."""
    check_same_grid(experiment)
    figure, panels = new_panels([2.4, 2.6, 2.6], aligned=False)
    ours = [
        Line2D([], [], color=QUIET, linewidth=width, linestyle=dashes, label=label)
        for label, (width, dashes) in LINES.items()
    ]
    printed = Line2D([], [], color=QUIET, linestyle=DASHED, linewidth=1.3, label="printed in the paper")
    figure.legend(handles=[*ours, printed], loc="outside lower left", ncols=2, handlelength=3.0)
    for axes in panels:
        axes.set(xlabel="episode", ylabel="cumulative regret")
    for axes, panel, draw_panel in zip(
        panels, "abc", (draw_proven, draw_explained, draw_certified), strict=True
    ):
        if any(arm.panel == panel for arm in experiment.arms):
            draw_panel(axes, experiment)
        else:
            axes.set_axis_off()
    return figure


STUDY = Study(draw, report=write, needs=("epsilon",))
