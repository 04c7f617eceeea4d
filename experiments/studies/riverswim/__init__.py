"""The paper's Figure 1, regret on RiverSwim, in three settings: as proven, fitted, and with other privatizers.

    proven   Section 5's noise at the ε of the printed legend, counts per step
    fitted   the noise and the factors that are nearest to the printed curves (+exp=explain)
    others   the ε of the printed legend, certified for a user who is replaced, by privatizers of other papers
    literal  as proven, with the printed constants: in the tables only, nothing is learnt

A curve's colour says the printed curve that is meant, its line the algorithm.
"""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpucbvi.drawing.style import DASHED, QUIET, SMALL
from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.stats import bootstrap, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Study
from experiments.studies.riverswim.report import BASELINE, parts, table
from experiments.studies.shared.printed import final_regrets, printed_bands, printed_beside
from experiments.studies.shared.style import HUES, PAGE, band, entry, legend_below, new_panels

TITLES = {
    "proven": "(a) Section 5's noise",
    "fitted": "(b) fitted to the curves",
    "others": "(c) other privatizers",
}
DOTTED: Any = (0, (1, 1.3))
BESIDE = 1.13  # the reported bands stand right of the axes, each by this factor further
SHOWN = 500  # the last 1 - 1/500 of all episodes
NAMES = {
    "non_private": "not private",
    "jdp_eps2": "JDP, reported as ε = 2",
    "jdp_eps1": "JDP, reported as ε = 1",
    "ldp_eps2": "LDP, reported as ε = 2",
}


def draw(experiment: StoredExperiment) -> Figure:
    """The three settings beside each other on common axes, with the printed curves dashed."""
    figure, panels = new_panels([3.2], columns=len(TITLES), width=PAGE, sharex=True, sharey=True)
    legend_below(figure, _legend(), 4)
    for axes, panel in zip(panels, TITLES, strict=True):
        arms = [arm for arm in experiment.arms if arm.panel == panel]
        axes.set_title(f"{TITLES[panel]}\n{_certified(arms)}")
        for arm in arms:
            _draw_arm(axes, arm)
        axes.set(xlabel="episode", xscale="log", yscale="log")
    K = max(arm.K for arm in experiment.arms)
    panels[0].set(ylabel="cumulative regret", xlim=(max(1.0, K / SHOWN), max(K, 2)))
    if not experiment.changed:
        at: Any = {"transform": panels[0].transAxes, "va": "top", "fontsize": SMALL, "color": QUIET}
        panels[0].text(0.04, 0.97, "every ε, both algorithms:\nnothing is learnt", **at)
    return figure


def _draw_arm(axes: Axes, arm: StoredArm) -> None:
    """The mean and its 95% interval; beside the paper's own algorithms the printed curve and its band."""
    hue = HUES[str(arm.printed)]
    dashes = DOTTED if arm.label == BASELINE else "-"
    band(axes, arm.episodes, *bootstrap(arm.regret), color=hue, linestyle=dashes)
    printed = printed_beside(arm)
    if printed is None or arm.label == BASELINE:
        return
    axes.plot(*printed, color=hue, linestyle=DASHED, linewidth=1.0, zorder=5)
    if final_regrets(arm.config):
        x = arm.K * BESIDE ** (1 + list(HUES).index(str(arm.printed)))
        look: Any = {"linewidth": 2.5, "solid_capstyle": "butt", "clip_on": False}
        axes.plot([x, x], printed_bands()[str(arm.printed)], color=hue, **look)


def _certified(arms: list[StoredArm]) -> str:
    """`ε: JDP 1, 2; LDP 2`; the paper's privatizers certify for a user who is added or removed."""
    found: dict[str, set[float]] = {}
    for arm in arms:
        if arm.certificate.model != "none":
            replaced = arm.panel == "others"
            epsilon = arm.certificate.replace_one if replaced else arm.certificate.add_remove
            found.setdefault(arm.certificate.model, set()).add(rounded_up(epsilon, 3))
    certified = [f"{model} {', '.join(map(three_digits, sorted(of)))}" for model, of in found.items()]
    return f"ε: {'; '.join(certified)}"


def _legend() -> list[Line2D]:
    reported: Any = {"linestyle": "", "marker": "|", "markersize": 9, "markeredgewidth": 2.5}
    return [
        *(entry(name, color=HUES[curve], linewidth=1.4) for curve, name in NAMES.items()),
        entry("DP-UCBVI, UCBVI", color=QUIET, linewidth=1.4),
        entry(BASELINE, color=QUIET, linewidth=1.4, linestyle=DOTTED),
        entry("reported", color=QUIET, linewidth=1.0, linestyle=DASHED),
        entry("reported band", color=QUIET, **reported),
    ]


STUDY = Study(draw, table, parts, points=400)  # all: it interpolates
