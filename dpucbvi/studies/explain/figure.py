"""Left, the nearest hypothesis beside the printed curves; right, how far every hypothesis is from them."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpucbvi.lab.stats import three_digits
from dpucbvi.lab.store import StoredExperiment
from dpucbvi.studies.explain.findings import POSSIBLE, Finding, best, best_local, findings, in_words
from dpucbvi.studies.shared.arms import certificate_of, check_same_grid, regret_of, runs_text
from dpucbvi.studies.shared.printed import printed_beside
from dpucbvi.studies.shared.sheet import PAGE, Margins, Sheet, lay_out, write_title
from dpucbvi.studies.shared.style import BLACK, DASHED, HUES, QUIET, SMALL, set_ticks

FIRST = 1000  # episode


def draw(experiment: StoredExperiment, sheet: Sheet = PAGE) -> Figure:
    check_same_grid(experiment)
    found = findings(experiment)
    margins = [Margins(left=0.55, right=1.05), Margins(left=2.15)]
    figure, (left, right) = lay_out(sheet, [3.2, 3.2], 2, margins, _caption(experiment), ratios=(1, 0.8))
    _draw_curves(left, experiment, best(found))
    _draw_distances(right, found)
    return figure


def _caption(experiment: StoredExperiment) -> str:
    return (
        f"(a): means of {runs_text(experiment)}, dashed: printed; ε: certified if a user is added or removed. "
        "(b): dot: distance; bar: 95% of figures by chance; filled: not ruled out."
    )


def _draw_curves(axes: Axes, experiment: StoredExperiment, found: Finding) -> None:
    bonus, confidence = found.factors
    write_title(axes, f"(a) bonus × {bonus:g}, $E$ × {confidence:g}")
    local = best_local(experiment)
    arms = [*found.arms.values(), *([] if local is None else [local])]
    for arm in arms:
        hue, episodes = HUES[str(arm.printed)], arm.runs[0].trace.episodes
        shown = episodes >= min(FIRST, episodes[-1] / 50)
        axes.plot(episodes[shown], regret_of(arm).mean(axis=0)[shown], color=hue, linewidth=1.6)
        printed = printed_beside(arm)
        if printed is not None:
            axes.plot(*printed, color=hue, linestyle=DASHED, linewidth=1.3)
        certificate = certificate_of(arm)
        name = "not private"
        if certificate.model != "none":
            name = f"{certificate.model} ε = {_short(certificate.add_remove)}"
        at = (episodes[-1], regret_of(arm)[:, -1].mean())
        offset = {"jdp_eps1": 4, "jdp_eps2": -1, "non_private": -7}.get(str(arm.printed), 0)
        axes.annotate(name, at, (4, offset), textcoords="offset points", fontsize=SMALL, color=hue, va="center")
    axes.set_xscale("log")
    axes.set_yscale("log")
    set_ticks(axes)
    axes.grid(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("episode", labelpad=1)
    axes.set_ylabel("cumulative regret", labelpad=1)


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
