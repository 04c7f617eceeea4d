"""Panel a: the noise that is proven private, at the ε of the printed legend."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from dpucbvi.stats import three_digits
from experiments.lab.store import StoredExperiment
from experiments.studies.riverswim.comparison import LITERAL, PER_STEP, POOLED, PRIVATE_UCB_VI, find
from experiments.studies.riverswim.curves import certified, draw_all, set_log_axes
from experiments.studies.shared.arms import half_and_full, mean_of
from experiments.studies.shared.style import HUES, QUIET, SMALL

LEGEND = {"jdp_eps2": "JDP ε = 2", "jdp_eps1": "JDP ε = 1", "ldp_eps2": "LDP ε = 2"}
ALONE = ((PER_STEP, "non_private"), (POOLED, "jdp_eps2"))  # curves that lie apart
TOP = 0.985  # of the table
A_LINE = 9.0  # points
COLUMNS = {"jdp_eps1": 0.58, "jdp_eps2": 0.77, "ldp_eps2": 0.96}  # of the table inside, their right ends


def as_printed(experiment: StoredExperiment) -> bool:
    """Whether every private arm certifies what the printed legend says."""
    arms = [arm for arm in experiment.arms if arm.panel == "a" and arm.printed != "non_private"]
    return bool(arms) and all(certified(arm) == LEGEND[str(arm.printed)] for arm in arms)


def nothing_learnt(experiment: StoredExperiment) -> bool:
    """Whether per-step counts and the literal constants have straight lines: half of their regret by K/2."""
    straight = [
        find(experiment, "a", variant, curve)
        for variant in (PER_STEP, PRIVATE_UCB_VI, LITERAL)
        for curve in HUES
        if variant is LITERAL or curve != "non_private"
    ]
    ends = [half_and_full(arm) for arm in straight if arm is not None]
    shares = [np.mean(half) / np.mean(full) for half, full in ends]
    return bool(shares) and all(abs(share - 0.5) < 0.03 for share in shares)


def draw_proven(axes: Axes, experiment: StoredExperiment) -> None:
    title = "(a) noise as proven" + ", ε as printed" * as_printed(experiment)
    axes.set_title(title, loc="left")
    draw_all(axes, experiment, "a", (LITERAL, PER_STEP, POOLED, PRIVATE_UCB_VI))
    set_log_axes(axes, experiment, "a", 500)
    low, high = axes.get_ylim()
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_yticks([tick for tick in axes.get_yticks() if low <= tick <= high])
    step = _line_step(axes)
    axes.set_ylim(low, high * (high / low) ** (8.7 * step))  # room for the table
    axes.set_ylabel("cumulative regret", labelpad=1)
    _write_finals(axes, experiment, step)
    _name_those_apart(axes, experiment)
    if nothing_learnt(experiment):
        text = "on one line, linear, nothing learnt:\nall but pooled counts and UCBVI"
        at = (0.03, TOP - 5.5 * step)
        axes.text(*at, text, transform=axes.transAxes, fontsize=SMALL, color=QUIET, va="top")


def _line_step(axes: Axes) -> float:
    """From line to line of the table, as a part of the axes' height."""
    figure = axes.get_figure()
    assert figure is not None
    return A_LINE * figure.dpi / 72.0 / axes.get_window_extent().height


def _write_finals(axes: Axes, experiment: StoredExperiment, step: float) -> None:
    """Curves that lie on top of each other are told apart by a table: their last values, in thousands."""
    style: dict[str, Any] = {"transform": axes.transAxes, "fontsize": SMALL, "va": "top"}
    axes.text(0.03, TOP, "regret in 1000", color=QUIET, **style)
    for curve, x in COLUMNS.items():
        arm = find(experiment, "a", PER_STEP, curve)
        head = certified(arm).replace(" = ", "=") if arm is not None else ""
        axes.text(x, TOP, head, color=HUES[curve], ha="right", **style)
    for i, variant in enumerate((PER_STEP, POOLED, PRIVATE_UCB_VI, LITERAL)):
        y = TOP - step * (i + 1)
        axes.text(0.03, y, variant.private, **style)
        for curve, x in COLUMNS.items():
            arm = find(experiment, "a", variant, curve)
            if arm is not None:
                text = three_digits(mean_of(arm) / 1000)
                axes.text(x, y, text, color=HUES[curve], ha="right", **style)


def _name_those_apart(axes: Axes, experiment: StoredExperiment) -> None:
    """The two curves that lie by themselves have their names beside them."""
    style: dict[str, Any] = {
        "xycoords": ("axes fraction", "data"),
        "textcoords": "offset points",
        "fontsize": SMALL,
    }
    reference, pooled = (find(experiment, "a", *place) for place in ALONE)
    if reference is not None:
        at = (0.985, mean_of(reference))
        axes.annotate("UCBVI, calibrated", at, (0, 4), ha="right", va="bottom", **style)
    if pooled is not None:
        at, text = (0.985, mean_of(pooled)), f"pooled\n{certified(pooled)}"
        axes.annotate(text, at, (0, -5), ha="right", va="top", color=HUES["jdp_eps2"], **style)
