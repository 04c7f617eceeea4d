"""Figure 1 twice: (a) with the noise of the printed ε, (b) with the ε whose regret is the printed one."""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpucbvi.lab.store import StoredExperiment
from dpucbvi.studies.riverswim.curves import LINES
from dpucbvi.studies.riverswim.matched import draw_matched
from dpucbvi.studies.riverswim.proven import SMALL, draw_proven
from dpucbvi.studies.shared.arms import check_same_grid, runs_text
from dpucbvi.studies.shared.style import DASHED, QUIET


def draw(experiment: StoredExperiment) -> Figure:
    """The two panels side by side, at the width of a page."""
    check_same_grid(experiment)
    figure = Figure(figsize=(7.2, 3.9))
    left, right = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.075, right=0.775, top=0.93, bottom=0.235, wspace=0.24)
    for axes, panel, draw_panel in ((left, "a", draw_proven), (right, "b", draw_matched)):
        if any(arm.panel == panel for arm in experiment.arms):
            draw_panel(axes, experiment)
        else:
            axes.set_axis_off()
    figure.legend(
        handles=_legend(),
        loc="lower left",
        bbox_to_anchor=(0.065, 0.085),
        ncols=5,
        frameon=False,
        fontsize=7,
        handlelength=2.4,
        columnspacing=1.4,
    )
    figure.text(0.075, 0.025, _caption(experiment), fontsize=SMALL, color=QUIET, linespacing=1.4)
    return figure


def _legend() -> list[Line2D]:
    ours = [
        Line2D([], [], color=QUIET, linewidth=width, linestyle=dashes, label=label)
        for label, (width, dashes) in LINES.items()
    ]
    return [*ours, Line2D([], [], color=QUIET, linestyle=DASHED, linewidth=1.3, label="printed in the paper")]


def _caption(experiment: StoredExperiment) -> str:
    return (
        f"Means of {runs_text(experiment)}, band: 95% interval. ε: as certified if a user is added or removed; "
        "twice that if replaced.\nColour: the printed curve that is meant. At the right: the ε certified in "
        "(b). Factors on bonus and $E$: calibrated; literal: 1."
    )
