"""Left, the nearest hypothesis beside the printed curves; right, how far every hypothesis is from them."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.stats import three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import regret
from experiments.studies.explain.findings import (
    POSSIBLE,
    RULED_OUT,
    Finding,
    best,
    best_local,
    findings,
    in_words,
)
from experiments.studies.shared.arms import (
    beside_bare,
    certificate_of,
    check_same_grid,
    mean_of,
    regret_of,
    runs_text,
)
from experiments.studies.shared.printed import at_printed_size, printed_beside
from experiments.studies.shared.sheet import PAGE, Margins, Sheet, lay_out, write_title
from experiments.studies.shared.style import BLACK, DASHED, HUES, QUIET, SMALL, set_ticks

FIRST = 1000  # episode


def draw(experiment: StoredExperiment, sheet: Sheet = PAGE) -> Figure:
    """The regret of all arms, if they have another size than the printed figure: no distance means anything."""
    check_same_grid(experiment)
    if not at_printed_size(experiment):
        return regret.draw(experiment)
    found = findings(experiment)
    margins = [Margins(left=0.55, right=1.28), Margins(left=2.15, right=0.2)]
    words = _caption(experiment, found)
    figure, (left, right) = lay_out(sheet, [3.2, 3.2], 2, margins, words, ratios=(1, 0.8))
    _draw_curves(left, experiment, best(found))
    _draw_distances(right, found)
    return figure


def _caption(experiment: StoredExperiment, found: list[Finding]) -> str:
    ruled_out = all(one.verdict == RULED_OUT for one in found)
    nearest = experiment._replace(arms=list(best(found).arms.values()))
    dots = "hollow: ruled out, as all are" if ruled_out else "filled: not ruled out"
    return (
        f"(a): means of {runs_text(nearest)}, dashed: printed; ε: certified if a user is added or removed. "
        f"{_kept(found)}{_users(experiment)}(b): dot: distance; bar: 95% of figures by chance; {dots}."
    )


def _users(experiment: StoredExperiment) -> str:
    """The title has the noise of the JDP curves; that of the LDP curve is another."""
    local = best_local(experiment)
    return "" if local is None else f"LDP: a user adds {beside_bare(local)}. "


def _kept(found: list[Finding]) -> str:
    """Why the nearest certifies so large an ε, if its noise is redrawn: riverswim (b) has the same, kept."""
    nearest = best(found)
    counts, _, noise = nearest.hypothesis.partition("_")
    kept = [one for one in found if one.hypothesis == f"{counts}_bare"]
    if noise != "redrawn" or not kept:
        return ""
    return (
        "Every release has new noise, and all of them add up; where a node keeps its noise, as in (b) of the "
        f"figure riverswim, the same Lap(1/ε) certifies ε = {_short(kept[0].certified[0])} and not "
        f"{_short(nearest.certified[0])}. "
    )


def _draw_curves(axes: Axes, experiment: StoredExperiment, found: Finding) -> None:
    bonus, confidence = found.factors
    noise, _ = in_words(found.hypothesis)
    write_title(axes, f"(a) nearest: {noise}")
    factors = f"bonus × {bonus:g}, $E$ × {confidence:g}"
    axes.text(0.985, 0.02, factors, transform=axes.transAxes, ha="right", fontsize=SMALL, color=QUIET)
    local = best_local(experiment)
    labels = []
    for arm in [*found.arms.values(), *([] if local is None else [local])]:
        hue, episodes = HUES[str(arm.printed)], arm.runs[0].trace.episodes
        shown = episodes >= min(FIRST, episodes[-1] / 50)
        axes.plot(episodes[shown], regret_of(arm).mean(axis=0)[shown], color=hue, linewidth=1.6)
        printed = printed_beside(arm)
        if printed is not None:
            axes.plot(*printed, color=hue, linestyle=DASHED, linewidth=1.3)
        labels.append(EndLabel(*_names(arm), hue, "", float(episodes[-1]), mean_of(arm)))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.08)  # the highest label stays below the title
    set_ticks(axes)
    axes.grid(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("episode", labelpad=1)
    axes.set_ylabel("cumulative regret", labelpad=1)
    draw_end_labels(axes, labels)


def _names(arm: StoredArm) -> tuple[str, str]:
    """What the arm certifies; below, the printed ε, as in the figure riverswim."""
    certificate = certificate_of(arm)
    if certificate.model == "none":
        return "DP-UCBVI", "not private"
    return f"{certificate.model} ε = {_short(certificate.add_remove)}", f"printed as ε = {str(arm.printed)[-1]}"


def _short(epsilon: float) -> str:
    return three_digits(epsilon) if epsilon < 1e5 else f"{epsilon / 1e6:.2g} million"


def _draw_distances(axes: Axes, found: list[Finding]) -> None:
    write_title(axes, "(b) distance from the printed curves")
    for y, one in enumerate(found):
        low, high = np.quantile(one.fit.by_chance, [0.025, 0.975])
        axes.plot([low, high], [y, y], color=QUIET, linewidth=3, alpha=0.35, solid_capstyle="butt")
        style = "full" if one.verdict == POSSIBLE else "none"
        axes.plot(one.fit.distance, y, "o", color=BLACK, fillstyle=style, markersize=5)
    axes.set_yticks(range(len(found)), [_name(one) for one in found], fontsize=SMALL)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.grid(True, axis="x")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("r.m.s. of log(ours/printed)", labelpad=1)


def _name(one: Finding) -> str:
    """The hypothesis in two lines."""
    noise, counts = in_words(one.hypothesis)
    first, _, last = noise.partition(", ")
    return f"{first},\n{last}, {counts}"
