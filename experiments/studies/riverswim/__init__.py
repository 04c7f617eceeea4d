"""The paper's Figure 1, regret on RiverSwim, and the table beside it: as proven, as explained, and certified.

Panel a has the ε of the printed legend. Panel b has the noise and the factors that are nearest to the printed
curves, which +exp=explain_fit finds on other seeds. Panel c has the ε of the printed legend again, certified
for a user who is replaced, with privatizers that are not in the paper.
"""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.lab.store import StoredExperiment
from experiments.studies import Study
from experiments.studies.riverswim.panels import (
    LINES,
    LOCAL,
    PER_STEP,
    draw_certified,
    draw_explained,
    draw_proven,
    find,
    is_bare,
)
from experiments.studies.riverswim.report import write
from experiments.studies.shared.arms import beside_bare, check_same_grid, levers_of, runs_text
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


def caption(experiment: StoredExperiment) -> str:
    others = [arm for arm in experiment.arms if arm.panel == "c"]
    levers, pure = levers_of(others), all(arm.certificate.delta == 0.0 for arm in others)
    return (
        "The paper's Figure 1: (a) as proven, (b) with the noise that comes near to it, (c) at the printed ε "
        f"with other privatizers. Dashed: as printed. Means of {runs_text(experiment)}, band: 95% interval. "
        "Colour: the printed curve that is meant. "
        "ε in (a) and (b): certified if a user is added or removed; twice that if she is replaced. "
        f"ε in (c): certified if a user is replaced{'; pure' * pure}. "
        "At the right of (b) and (c): the certified ε. "
        "Factors on bonus and E in (a) and (c): calibrated; "
        "literal: 1; in (b): fitted to the printed curves, the same for all. "
        f"{_noise_in_words(experiment)}"
        f"{f'The runs of (c) change the algorithm too: {levers}.' if levers else ''}"
    ).strip()


def _noise_in_words(experiment: StoredExperiment) -> str:
    """Where the noise of panel b is, and that of a user if it is not Lap(1/ε) too."""
    if not is_bare(experiment):
        return ""
    local = find(experiment, "b", PER_STEP, LOCAL)
    users = f"; under LDP a user adds {beside_bare(local)}" if local is not None else ""
    return f"Noise in (b): Lap(1/ε) on every node for the printed ε{users}. "


STUDY = Study(draw, caption, report=write, needs=("epsilon",))
