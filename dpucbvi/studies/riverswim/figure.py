"""Figure 1 twice: (a) with the noise of the printed ε, (b) with the ε whose regret is the printed one."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.drawing.regret import DASHES, check_same_grid, printed_beside
from dpucbvi.drawing.style import QUIET, colour, thousands
from dpucbvi.figure1 import LITERAL, PER_STEP, POOLED, PRIVATE_UCB_VI, Variant, final, find, regret
from dpucbvi.stats import summarise, three_digits
from dpucbvi.store import StoredArm, StoredExperiment

HUES = {"non_private": colour(0), "jdp_eps2": colour(4), "jdp_eps1": colour(1), "ldp_eps2": colour(3)}
LEGEND = {"jdp_eps2": "JDP ε = 2", "jdp_eps1": "JDP ε = 1", "ldp_eps2": "LDP ε = 2"}
LINES: dict[str, tuple[float, Any]] = {  # how a variant is drawn: width, dashes
    PER_STEP.private: (1.6, "-"),
    POOLED.private: (1.1, (0, (4, 1.2, 1, 1.2))),
    PRIVATE_UCB_VI.private: (1.1, (0, (1, 1))),
    LITERAL.private: (0.6, "-"),
}
ALONE = ((PER_STEP, "non_private"), (POOLED, "jdp_eps2"))  # curves of panel a that lie apart
SMALL = 6.6
POINTS_A_LABEL = 36.0  # three lines of text and some air
OTHERS = {"pooled ": POOLED, "P-UCB-VI ": PRIVATE_UCB_VI}


def draw_figure1(experiment: StoredExperiment) -> Figure:
    """The two panels side by side, at the width of a page."""
    check_same_grid(experiment)
    figure = Figure(figsize=(7.2, 3.9))
    left, right = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.075, right=0.775, top=0.93, bottom=0.235, wspace=0.24)
    for axes, panel, draw in ((left, "a", _draw_proven), (right, "b", _draw_matched)):
        if any(arm.panel == panel for arm in experiment.arms):
            draw(axes, experiment)
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


def as_printed(experiment: StoredExperiment) -> bool:
    """Whether every private arm of panel a certifies what the printed legend says."""
    arms = [arm for arm in experiment.arms if arm.panel == "a" and arm.printed != "non_private"]
    return bool(arms) and all(certified(arm) == LEGEND[str(arm.printed)] for arm in arms)


def certified(arm: StoredArm) -> str:
    """Model and ε, if a user is added or removed."""
    model, add_remove, _ = arm.runs[0].certificate
    return f"{model} ε = {three_digits(add_remove)}"


def nothing_learnt(experiment: StoredExperiment) -> bool:
    """Whether per-step counts and the literal constants have straight lines in panel a: half of it by K/2."""
    straight = [
        find(experiment, "a", variant, curve)
        for variant in (PER_STEP, PRIVATE_UCB_VI, LITERAL)
        for curve in HUES
        if variant is LITERAL or curve != "non_private"
    ]
    shares = [np.mean(r.half) / np.mean(r.full) for r in (regret(arm) for arm in straight if arm is not None)]
    return bool(shares) and all(abs(share - 0.5) < 0.03 for share in shares)


def _draw_proven(axes: Axes, experiment: StoredExperiment) -> None:
    title = "(a) noise as proven" + ", ε as printed" * as_printed(experiment)
    axes.set_title(title, loc="left", fontsize=9)
    _draw_all(axes, experiment, "a", (LITERAL, PER_STEP, POOLED, PRIVATE_UCB_VI))
    _set_log_axes(axes, experiment, "a", 500)
    low, high = axes.get_ylim()
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_yticks([tick for tick in axes.get_yticks() if low <= tick <= high])
    axes.set_ylim(low, high * (high / low) ** 0.45)  # room for the table
    axes.set_ylabel("cumulative regret", labelpad=1)
    _write_finals(axes, experiment)
    style: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    reference, pooled = (find(experiment, "a", *place) for place in ALONE)
    if reference is not None:
        at = (0.985, final(reference)[0])
        axes.annotate("UCBVI, calibrated", at, (0, 4), ha="right", va="bottom", fontsize=7, **style)
    if pooled is not None:
        at, text = (0.985, final(pooled)[0]), f"pooled\n{certified(pooled)}"
        axes.annotate(text, at, (0, -5), ha="right", va="top", fontsize=7, color=HUES["jdp_eps2"], **style)
    if nothing_learnt(experiment):
        text = "per-step counts, and the literal\nconstants: linear, nothing learnt"
        axes.text(0.03, 0.55, text, transform=axes.transAxes, fontsize=7, color=QUIET)


def _write_finals(axes: Axes, experiment: StoredExperiment) -> None:
    """Curves that lie on top of each other are told apart by a table: their last values, in thousands."""
    columns = {"jdp_eps1": 0.58, "jdp_eps2": 0.77, "ldp_eps2": 0.96}
    style: dict[str, Any] = {"transform": axes.transAxes, "fontsize": SMALL, "va": "top"}
    axes.text(0.03, 0.985, "regret in 1000", color=QUIET, **style)
    for curve, x in columns.items():
        arm = find(experiment, "a", PER_STEP, curve)
        head = certified(arm).replace(" = ", "=") if arm is not None else ""
        axes.text(x, 0.985, head, color=HUES[curve], ha="right", **style)
    for i, variant in enumerate((PER_STEP, POOLED, PRIVATE_UCB_VI, LITERAL)):
        y = 0.985 - 0.052 * (i + 1)
        axes.text(0.03, y, variant.private, **style)
        for curve, x in columns.items():
            arm = find(experiment, "a", variant, curve)
            if arm is not None:
                axes.text(x, y, three_digits(final(arm)[0] / 1000), color=HUES[curve], ha="right", **style)


def _draw_matched(axes: Axes, experiment: StoredExperiment) -> None:
    axes.set_title("(b) ε matched to the printed curves", loc="left", fontsize=9)
    _draw_all(axes, experiment, "b", (PER_STEP, POOLED, PRIVATE_UCB_VI))
    labels = []
    for curve, hue in HUES.items():
        arm = find(experiment, "b", PER_STEP, curve)
        if arm is None:
            continue
        printed = printed_beside(arm)
        if printed is not None:
            axes.plot(*printed, color=hue, linestyle=DASHES, linewidth=1.3, zorder=5)
        labels.append(EndLabel(*_names(experiment, arm), hue, "", arm.runs[0].config["K"], final(arm)[0]))
    _set_log_axes(axes, experiment, "b", 50)
    for axis, subs in ((axes.xaxis, (1.0, 2.0, 5.0)), (axes.yaxis, (1.0, 2.0, 3.0, 5.0))):
        axis.set_major_locator(LogLocator(subs=subs))
        axis.set_major_formatter(FuncFormatter(thousands))
        axis.set_minor_formatter(NullFormatter())
    if labels:
        draw_end_labels(axes, labels, POINTS_A_LABEL)


def _names(experiment: StoredExperiment, arm: StoredArm) -> tuple[str, str]:
    """What the arm certifies; below, the printed ε and what the other algorithms certify at the same regret."""
    curve = str(arm.printed)
    others = [(name, find(experiment, "b", variant, curve)) for name, variant in OTHERS.items()]
    if curve == "non_private":
        scales = [("", arm), *others[:1]]
        factors = [f"{name}{a.runs[0].config['bonus']['scale']:g}" for name, a in scales if a is not None]
        return arm.label, f"not private\nbonus × {', '.join(factors)}"
    epsilons = [
        f"{name}{three_digits(a.runs[0].certificate.add_remove)}" for name, a in others if a is not None
    ]
    return certified(arm), f"printed as ε = {curve[-1]}\n{', '.join(epsilons)}"


def _draw_all(axes: Axes, experiment: StoredExperiment, panel: str, variants: tuple[Variant, ...]) -> None:
    axes.grid(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("episode", labelpad=1)
    for variant in variants:
        for curve in HUES:
            arm = find(experiment, panel, variant, curve)
            if arm is not None:
                _draw_mean(axes, arm, variant)


def _set_log_axes(axes: Axes, experiment: StoredExperiment, panel: str, shown: float) -> None:
    """The last 1 - 1/shown of all episodes, and what the means are there."""
    K = experiment.arms[0].runs[0].config["K"]
    first = max(1.0, K / shown)
    traces = [run.trace for arm in experiment.arms if arm.panel == panel for run in arm.runs]
    values = np.concatenate([trace.regret[trace.episodes >= first] for trace in traces])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(first, K)
    axes.set_ylim(0.8 * values[values > 0].min(initial=values.max()), 1.15 * values.max())


def _draw_mean(axes: Axes, arm: StoredArm, variant: Variant) -> None:
    """The mean over runs; its 95% interval for the paper's own algorithm, whose curves are few enough."""
    width, dashes = LINES[variant.private]
    hue, episodes = HUES[str(arm.printed)], arm.runs[0].trace.episodes
    mean, half_width = summarise(np.array([run.trace.regret for run in arm.runs]))
    axes.plot(episodes, mean, color=hue, linewidth=width, linestyle=dashes, zorder=4)
    if variant is PER_STEP and not np.isnan(half_width).any():
        low = np.maximum(mean - half_width, 1e-3 * mean)
        axes.fill_between(episodes, low, mean + half_width, color=hue, alpha=0.13, linewidth=0)


def _legend() -> list[Line2D]:
    ours = [
        Line2D([], [], color=QUIET, linewidth=width, linestyle=dashes, label=label)
        for label, (width, dashes) in LINES.items()
    ]
    return [*ours, Line2D([], [], color=QUIET, linestyle=DASHES, linewidth=1.3, label="printed in the paper")]


def _caption(experiment: StoredExperiment) -> str:
    runs = len(experiment.arms[0].runs)
    return (
        f"Means of {runs} runs, band: 95% interval. ε: as certified if a user is added or removed; twice that "
        "if replaced.\nColour: the printed curve that is meant. At the right: the ε certified in (b). "
        "Factors on bonus and $E$: calibrated; literal: 1."
    )
