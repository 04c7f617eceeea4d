"""How the panels draw a curve: its colour says the printed curve that is meant, its line the algorithm."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from dpucbvi.stats import summarise, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.riverswim.comparison import (
    LITERAL,
    OTHERS,
    PER_STEP,
    POOLED,
    PRIVATE_UCB_VI,
    Variant,
    find,
)
from experiments.studies.shared.arms import certificate_of, episodes_of, regret_of
from experiments.studies.shared.printed import printed_beside
from experiments.studies.shared.style import DASHED, HUES

LINES: dict[str, tuple[float, Any]] = {  # how a variant is drawn: width, dashes
    PER_STEP.private: (1.6, "-"),
    POOLED.private: (1.1, (0, (6, 1.5, 1.2, 1.5))),
    PRIVATE_UCB_VI.private: (1.3, (0, (1, 1.3))),
    LITERAL.private: (0.6, "-"),
    OTHERS.private: (1.9, (0, (6, 1.2, 1.2, 1.2))),
}


def certified(arm: StoredArm) -> str:
    """Model and ε, if a user is added or removed."""
    model, add_remove, _ = certificate_of(arm)[:3]
    return f"{model} ε = {three_digits(add_remove)}"


def draw_all(axes: Axes, experiment: StoredExperiment, panel: str, variants: tuple[Variant, ...]) -> None:
    """Every arm of the panel that belongs to one of the variants."""
    axes.grid(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("episode", labelpad=1)
    for variant in variants:
        for curve in HUES:
            arm = find(experiment, panel, variant, curve)
            if arm is not None:
                _draw_mean(axes, arm, variant)


def draw_printed(axes: Axes, arm: StoredArm) -> None:
    """The printed curve that the arm stands for, dashed."""
    printed = printed_beside(arm)
    if printed is not None:
        axes.plot(*printed, color=HUES[str(arm.printed)], linestyle=DASHED, linewidth=1.3, zorder=5)


def set_log_axes(axes: Axes, experiment: StoredExperiment, panel: str, shown: float) -> None:
    """The last 1 - 1/shown of all episodes, and what the means are there."""
    K = episodes_of(experiment.arms[0])
    first = max(1.0, K / shown)
    traces = [run.trace for arm in experiment.arms if arm.panel == panel for run in arm.runs]
    values = np.concatenate([trace.regret[trace.episodes >= first] for trace in traces])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(first, K)
    axes.set_ylim(0.8 * values[values > 0].min(initial=values.max()), 1.15 * values.max())


def show_printed(axes: Axes) -> None:
    """Make room for the printed curves."""
    low, high = axes.get_ylim()
    printed = [float(np.max(line.get_ydata())) for line in axes.lines if line.get_linestyle() == "--"]
    axes.set_ylim(low, max(high, 1.15 * max(printed, default=0.0)))


def _draw_mean(axes: Axes, arm: StoredArm, variant: Variant) -> None:
    """The mean over runs; its 95% interval where the curves are few enough."""
    width, dashes = LINES[variant.private]
    hue, episodes = HUES[str(arm.printed)], arm.runs[0].trace.episodes
    mean, half_width = summarise(regret_of(arm))
    axes.plot(episodes, mean, color=hue, linewidth=width, linestyle=dashes, zorder=4)
    if variant in (PER_STEP, OTHERS) and not np.isnan(half_width).any():
        low = np.maximum(mean - half_width, 1e-3 * mean)
        axes.fill_between(episodes, low, mean + half_width, color=hue, alpha=0.13, linewidth=0)
