"""Figure 1 three times: (a) the noise of the printed ε, (b) the noise that explains it, (c) other
privatizers."""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.lab.store import StoredExperiment
from experiments.studies.riverswim.certified import draw_certified, is_pure
from experiments.studies.riverswim.curves import LINES
from experiments.studies.riverswim.explained import draw_explained, noise_in_words
from experiments.studies.riverswim.proven import draw_proven
from experiments.studies.shared.arms import check_same_grid, levers_of, runs_text
from experiments.studies.shared.sheet import PAGE, PLAIN, Margins, Sheet, lay_out
from experiments.studies.shared.style import DASHED, QUIET

HEIGHT = 2.35  # inches
LABELLED = Margins(right=1.12)


def draw(experiment: StoredExperiment, sheet: Sheet = PAGE) -> Figure:
    """Two panels side by side, at the width of a page, and the third below them beside the legend."""
    check_same_grid(experiment)
    heights, margins = [HEIGHT, HEIGHT, None, HEIGHT], [PLAIN, LABELLED, PLAIN, LABELLED]
    figure, (a, b, c) = lay_out(sheet, heights, 2, margins, _caption(experiment), [_legend()])
    for axes, panel, draw_panel in ((a, "a", draw_proven), (b, "b", draw_explained), (c, "c", draw_certified)):
        if any(arm.panel == panel for arm in experiment.arms):
            draw_panel(axes, experiment)
        else:
            axes.set_axis_off()
    return figure


def _legend() -> list[Line2D]:
    ours = [
        Line2D([], [], color=QUIET, linewidth=width, linestyle=dashes, label=label)
        for label, (width, dashes) in LINES.items()
    ]
    return [*ours, Line2D([], [], color=QUIET, linestyle=DASHED, linewidth=1.3, label="printed in the paper")]


def _caption(experiment: StoredExperiment) -> str:
    levers = levers_of([arm for arm in experiment.arms if arm.panel == "c"])
    return (
        f"Means of {runs_text(experiment)}, band: 95% interval. "
        "Colour: the printed curve that is meant. "
        "ε in (a) and (b): certified if a user is added or removed; twice that if she is replaced. "
        f"ε in (c): certified if a user is replaced{'; pure' * is_pure(experiment)}. "
        "At the right of (b) and (c): the certified ε. "
        "Factors on bonus and $E$ in (a) and (c): calibrated; "
        "literal: 1; in (b): fitted to the printed curves, the same for all. "
        f"{noise_in_words(experiment)}"
        f"{f'The runs of (c) change the algorithm too: {levers}.' if levers else ''}"
    )
