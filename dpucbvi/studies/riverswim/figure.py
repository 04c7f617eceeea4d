"""Figure 1 three times: (a) the noise of the printed ε, (b) the noise that explains it, (c) other
privatizers."""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpucbvi.lab.store import StoredExperiment
from dpucbvi.studies.riverswim.certified import draw_certified, is_pure
from dpucbvi.studies.riverswim.curves import LINES
from dpucbvi.studies.riverswim.explained import draw_explained
from dpucbvi.studies.riverswim.proven import SMALL, draw_proven
from dpucbvi.studies.shared.arms import check_same_grid, runs_text
from dpucbvi.studies.shared.style import DASHED, QUIET


def draw(experiment: StoredExperiment) -> Figure:
    """Two panels side by side, at the width of a page, and the third below them beside the legend."""
    check_same_grid(experiment)
    figure = Figure(figsize=(7.2, 6.5))
    (a, b), (c, rest) = figure.subplots(2, 2)
    figure.subplots_adjust(left=0.075, right=0.775, top=0.96, bottom=0.06, wspace=0.24, hspace=0.22)
    rest.set_axis_off()
    for axes, panel, draw_panel in ((a, "a", draw_proven), (b, "b", draw_explained), (c, "c", draw_certified)):
        if any(arm.panel == panel for arm in experiment.arms):
            draw_panel(axes, experiment)
        else:
            axes.set_axis_off()
    figure.legend(
        handles=_legend(),
        loc="upper left",
        bbox_to_anchor=(0.6, 0.43),
        frameon=False,
        fontsize=7,
        handlelength=2.8,
    )
    figure.text(0.61, 0.06, _caption(experiment), fontsize=SMALL, color=QUIET, linespacing=1.5, va="bottom")
    return figure


def _legend() -> list[Line2D]:
    ours = [
        Line2D([], [], color=QUIET, linewidth=width, linestyle=dashes, label=label)
        for label, (width, dashes) in LINES.items()
    ]
    return [*ours, Line2D([], [], color=QUIET, linestyle=DASHED, linewidth=1.3, label="printed in the paper")]


def _caption(experiment: StoredExperiment) -> str:
    return (
        f"Means of {runs_text(experiment)}, band: 95% interval.\n"
        "Colour: the printed curve that is meant.\n"
        "ε in (a) and (b): certified if a user is added\nor removed; twice that if she is replaced.\n"
        f"ε in (c): certified if a user is replaced{'; pure' * is_pure(experiment)}.\n"
        "At the right of (b) and (c): the certified ε.\n"
        "Factors on bonus and $E$ in (a) and (c): calibrated;\n"
        "literal: 1; in (b): fitted to the printed curves."
    )
