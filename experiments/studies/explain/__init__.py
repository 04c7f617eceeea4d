"""Which noise explains the printed Figure 1? Named hypotheses, each with one set of constants.

The factors are those of +exp=explain_fit, the runs are others and more. What is said: which hypotheses the
printed curves rule out and which they leave possible; never what was done.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.stats import three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Study, regret
from experiments.studies.explain.findings import (
    POSSIBLE,
    RULED_OUT,
    Finding,
    best,
    best_local,
    findings,
    in_words,
)
from experiments.studies.explain.report import table, write
from experiments.studies.shared.arms import beside_bare, check_same_grid, runs_text
from experiments.studies.shared.printed import at_printed_size, printed_beside
from experiments.studies.shared.style import BLACK, DASHED, HUES, QUIET, SMALL, new_panels, set_ticks

FIRST = 1000  # episode


def draw(experiment: StoredExperiment) -> Figure:
    """The nearest hypothesis beside the printed curves; below, how far every hypothesis is from them.

    The regret of all arms, if they have another size than the printed figure: no distance means anything.
    """
    check_same_grid(experiment)
    if not at_printed_size(experiment):
        return regret.draw(experiment)
    found = findings(experiment)
    figure, (upper, lower) = new_panels([2.6, 0.5 + 0.29 * len(found)], aligned=False)
    _draw_distances(lower, found)
    _draw_curves(upper, experiment, best(found))
    return figure


def caption(experiment: StoredExperiment) -> str:
    if not at_printed_size(experiment):
        return regret.caption(experiment)
    found = findings(experiment)
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
    axes.set(title=f"(a) nearest: {noise}", xlabel="episode", ylabel="cumulative regret")
    factors = f"bonus × {bonus:g}, $E$ × {confidence:g}"
    axes.text(0.985, 0.02, factors, transform=axes.transAxes, ha="right", fontsize=SMALL, color=QUIET)
    local = best_local(experiment)
    labels = []
    for arm in [*found.arms.values(), *([] if local is None else [local])]:
        hue, episodes = HUES[str(arm.printed)], arm.episodes
        shown = episodes >= min(FIRST, episodes[-1] / 50)
        axes.plot(episodes[shown], arm.regret.mean(axis=0)[shown], color=hue, linewidth=1.6)
        printed = printed_beside(arm)
        if printed is not None:
            axes.plot(*printed, color=hue, linestyle=DASHED, linewidth=1.3)
        labels.append(EndLabel(*_names(arm), hue, "", float(episodes[-1]), arm.mean))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.08)  # the highest label stays below the title
    set_ticks(axes)
    draw_end_labels(axes, labels)


def _names(arm: StoredArm) -> tuple[str, str]:
    """What the arm certifies; below, the printed ε, as in the figure riverswim."""
    certificate = arm.certificate
    if certificate.model == "none":
        return "DP-UCBVI", "not private"
    return f"{certificate.model} ε = {_short(certificate.add_remove)}", f"printed as ε = {str(arm.printed)[-1]}"


def _short(epsilon: float) -> str:
    millions = f"{rounded_up(epsilon / 1e6, 2):g} million"
    return three_digits(rounded_up(epsilon, 3)) if epsilon < 1e5 else millions


def _draw_distances(axes: Axes, found: list[Finding]) -> None:
    axes.set_title("(b) distance from the printed curves", loc="right")  # longer than the axes
    axes.set_xlabel("r.m.s. of log(ours/printed)")
    for y, one in enumerate(found):
        low, high = np.quantile(one.fit.by_chance, [0.025, 0.975])
        axes.plot([low, high], [y, y], color=QUIET, linewidth=3, alpha=0.35, solid_capstyle="butt")
        style = "full" if one.verdict == POSSIBLE else "none"
        axes.plot(one.fit.distance, y, "o", color=BLACK, fillstyle=style, markersize=5)
    axes.set_yticks(range(len(found)), [_name(one) for one in found], fontsize=SMALL)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.grid(False, axis="y")


def _name(one: Finding) -> str:
    """The hypothesis in two lines."""
    noise, counts = in_words(one.hypothesis)
    first, _, last = noise.partition(", ")
    return f"{first},\n{last}, {counts}"


STUDY = Study(draw, caption, table, write, points=400)
