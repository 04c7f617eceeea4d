"""Which noise explains the printed Figure 1? Named hypotheses, each with one set of constants.

The factors are those of +exp=explain_fit, the runs are others and more. What is said: which hypotheses the
printed curves and bands rule out and which they leave possible; never what was done.
"""

import re
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.drawing.style import DASHED, QUIET, SMALL, thousands
from dpucbvi.plot import as_written
from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.stats import three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study, regret
from experiments.studies.explain import findings as fits
from experiments.studies.shared.printed import at_printed_size, printed_beside, printed_curves
from experiments.studies.shared.style import HUES, entry, legend_below, new_panels
from experiments.studies.shared.tables import finals, markdown

FIRST = 1000  # episode
JDP = ("jdp_eps1", "jdp_eps2")
LANES = {"non_private": 0.0, "jdp_eps1": -0.18, "jdp_eps2": 0.18}  # within a row, so that no dot hides another


def draw(experiment: StoredExperiment) -> Figure:
    """The nearest hypothesis beside the printed curves; below, how far every hypothesis is from them.

    The regret of all arms, if they have another size than the printed figure: no distance means anything.
    """
    if not at_printed_size(experiment):
        return regret.draw(experiment)
    every = [*fits.panels(experiment, "non_private"), *fits.findings(experiment)]
    rows = sorted(every, key=lambda one: one.distance)
    figure, (upper, lower) = new_panels([2.6, 0.7 + 0.2 * len(rows)], aligned=False)
    _draw_distances(lower, rows)
    _draw_curves(upper, experiment, fits.best(fits.findings(experiment)))
    return figure


def _draw_curves(axes: Axes, experiment: StoredExperiment, found: fits.Finding) -> None:
    bonus, confidence = found.factors
    noise, _ = fits.in_words(found.hypothesis)
    axes.set(title=f"(a) nearest: {noise}", xlabel="episode", ylabel="cumulative regret")
    factors = f"JDP: bonus × {bonus:g}, $E$ × {confidence:g}"
    look: Any = {"transform": axes.transAxes, "ha": "right", "fontsize": SMALL, "color": QUIET}
    clear = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}  # of the grid
    axes.text(0.985, 0.04, factors, bbox=clear, **look)
    labels = []
    for arm in fits.nearest_arms(experiment, found).values():
        hue, episodes = HUES[str(arm.printed)], arm.episodes
        shown = episodes >= min(FIRST, episodes[-1] / 50)
        axes.plot(episodes[shown], arm.regret.mean(axis=0)[shown], color=hue, linewidth=1.6)
        printed = printed_beside(arm)
        if printed is not None:
            axes.plot(*printed, color=hue, linestyle=DASHED, linewidth=1.3)
        labels.append(EndLabel(*_names(arm), hue, "", float(episodes[-1]), arm.mean))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.12)  # the highest label stays below the title, the factors below the curves
    for axis, subs in ((axes.xaxis, (1.0, 2.0, 5.0)), (axes.yaxis, (1.0, 2.0, 3.0, 5.0))):
        axis.set_major_locator(LogLocator(subs=subs))
        axis.set_major_formatter(FuncFormatter(thousands))
        axis.set_minor_formatter(NullFormatter())
    draw_end_labels(axes, labels)


def _names(arm: StoredArm) -> tuple[str, str]:
    """What the arm certifies; below, the printed ε."""
    model, epsilon = arm.certificate[:2]
    if model == "none":
        return "UCBVI", "not private"
    millions = f"{rounded_up(epsilon / 1e6, 2):g} million"
    shown = fits.epsilon_text(epsilon) if epsilon < 1e5 else millions
    return f"{model} ε = {shown}", f"reported as ε = {str(arm.printed)[-1]}"


def _draw_distances(axes: Axes, rows: list[fits.Finding]) -> None:
    """A dot for every curve, in its colour, filled if it ends in the reported band."""
    axes.set_title("(b) distance from the reported curves", loc="right")  # longer than the axes
    axes.set_xlabel("r.m.s. of log(ours/reported)")
    for y, one in enumerate(rows):
        for curve, arm in one.arms.items():
            fill = "full" if fits.inside(arm) else "none"
            look: Any = {"color": HUES[curve], "fillstyle": fill, "markersize": 4}
            axes.plot(fits.distance_of({curve: arm}), y + LANES[curve], "o", **look)
    axes.set_yticks(range(len(rows)), [_name(one) for one in rows], fontsize=SMALL)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.grid(False, axis="y")
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    words = {"non_private": "not private", "jdp_eps2": "JDP ε = 2", "jdp_eps1": "JDP ε = 1"}
    dots = [entry(word, marker="o", linestyle="", color=HUES[curve]) for curve, word in words.items()]
    outside = entry("ends outside its band", marker="o", linestyle="", color=QUIET, fillstyle="none")
    legend_below(figure, [*dots, outside], 2)


def _name(one: fits.Finding) -> str:
    """The hypothesis in one line: the scale of its noise says what it leaves out."""
    noise, counts = fits.in_words(one.hypothesis)
    scale = re.search(r"Lap\(.*?\)", noise)
    drawn = " redrawn" * ("redrawn" in noise)
    return f"{scale[0] if scale else 'UCBVI'}{drawn}, {counts}"


HEADER = (
    *("noise", "counts", "ε certified", "bonus ×", "E ×", "D, ε = 1", "D, ε = 2", "D"),
    *("ends in the bands", "half a band is, in our σ", "as wide"),
)
LOCAL = ("a user adds", "counts", "ε certified", "D", "ends at (reported: 15,120)", "ends in the band")
FREE = ("counts", "bonus ×", "D", "ends at (reported: 4,280)", "ends in the band", "half a band is, in our σ")


def table(experiment: StoredExperiment) -> Rows:
    """Every hypothesis; the final regrets, if the runs have another size than the printed ones."""
    if not at_printed_size(experiment):
        return finals(experiment)
    return [HEADER, *(_row(found) for found in fits.findings(experiment))]


def parts(experiment: StoredExperiment, _: Stored) -> dict[str, str]:
    return {
        "free": markdown([FREE, *(_free_row(one) for one in fits.panels(experiment, "non_private"))]),
        "ratios": _ratios(experiment, fits.best(fits.findings(experiment))),
        "local": markdown([LOCAL, *(_local_row(arm) for arm in fits.local_arms(experiment))]),
        **fits.summary(experiment),
    }


def _row(found: fits.Finding) -> tuple[str, ...]:
    bonus, confidence = found.factors
    return (
        *fits.in_words(found.hypothesis),
        fits.epsilon_text(found.certified),
        as_written(bonus),
        as_written(confidence),
        *(f"{fits.distance_of({curve: found.arms[curve]}):.3f}" for curve in JDP if curve in found.arms),
        f"{found.distance:.3f}",
        "yes" if found.inside else "no",
        ", ".join(f"{fits.spread(arm):.1f}" for arm in found.arms.values()),
        "yes" if found.as_wide else "no",
    )


def _free_row(found: fits.Finding) -> tuple[str, ...]:
    arm = found.first
    return (
        fits.in_words(found.hypothesis)[1],
        f"{found.factors[0]:g}",
        f"{found.distance:.3f}",
        f"{arm.mean:,.0f}",
        "yes" if found.inside else "no",
        f"{fits.spread(arm):.1f}",
    )


def _ratios(experiment: StoredExperiment, found: fits.Finding) -> str:
    arms, episodes = fits.nearest_arms(experiment, found), next(iter(printed_curves().values())).episodes
    rows = []
    for curve, arm in arms.items():
        ratios = fits.at_printed(arm).mean(axis=0) / printed_curves()[curve].regret
        rows.append((curve, *(f"{ratio:.2f}" for ratio in ratios)))
    return markdown([("reported curve", *(f"{k:,.0f}" for k in episodes)), *rows])


def _local_row(arm: StoredArm) -> tuple[str, ...]:
    shared = ", the same for all pairs" * arm.config["privatizer"]["name"].endswith(":Shared")
    return (
        f"Lap({three_digits(arm.runs[0].trace.noise_scale)}){shared}",
        "pooled" if arm.config["agent"]["pooled"] else "per step",
        fits.epsilon_text(arm.certificate.add_remove),
        f"{fits.local_distance(arm):.3f}",
        f"{arm.mean:,.0f}",
        "yes" if fits.inside(arm) else "no",
    )


STUDY = Study(draw, table, parts, points=400)
