"""Regret against episodes, for any experiment: mean and 95% interval over runs, the printed curves dashed."""

import math
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from dpucbvi.lab.stats import summarise
from dpucbvi.lab.store import StoredArm, StoredExperiment
from dpucbvi.protocol import Floats, Ints
from dpucbvi.studies import Study
from dpucbvi.studies.shared.arms import certificate_of, check_same_grid, config_of, regret_of, sizes_of
from dpucbvi.studies.shared.end_labels import EndLabel, draw_end_labels
from dpucbvi.studies.shared.printed import PrintedCurve, printed_beside
from dpucbvi.studies.shared.style import DASHED, MARKER, QUIET, colour, marker, new_figure, thousands

DECADES = 2.7  # shown of a logarithmic episode axis: before, all arms explore alike
MARKS = 5  # on every curve
LEFT = 0.085  # of the axes and what is aligned with them


class Curve(NamedTuple):
    """An arm as it is drawn."""

    episodes: Ints
    mean: Floats
    half_width: Floats
    printed: PrintedCurve | None
    label: EndLabel

    @property
    def has_interval(self) -> bool:
        return not np.isnan(self.half_width).any()


def draw(experiment: StoredExperiment) -> Figure:
    """One curve per arm, named at its end with the ε it certifies."""
    check_same_grid(experiment)
    figure, axes = new_figure(7.2, 4.3)
    figure.subplots_adjust(left=LEFT, right=0.725, top=0.92, bottom=0.175)
    curves = [_curve(arm, i) for i, arm in enumerate(experiment.arms)]
    first = _set_axes(axes, experiment.figure, curves)
    for i, curve in enumerate(curves):
        _draw_curve(axes, curve, _marked(axes, curve, first, i / len(curves)))
    axes.set_title(setting(experiment), loc="left", fontsize=9.5)
    axes.legend(handles=_legend(curves), loc="upper left", frameon=False)
    figure.text(LEFT, 0.025, caption(experiment), fontsize=7, color=QUIET)
    draw_end_labels(axes, [curve.label for curve in curves])
    return figure


def names(arm: StoredArm) -> tuple[str, str]:
    """The arm's label with what its runs certify, and the same under the other neighbour relation."""
    model, add_remove, replace_one = certificate_of(arm)[:3]
    if math.isinf(add_remove):
        return arm.label, "no privacy"
    return f"{arm.label}, {model} ε = {add_remove:.3g}", f"ε = {replace_one:.3g} if a user is replaced"


def setting(experiment: StoredExperiment) -> str:
    """The environment and its size, if all arms share it."""
    environments = [config_of(arm)["env"] for arm in experiment.arms]
    if any(env != environments[0] for env in environments):
        return "Regret, several environments"
    H, S, A = sizes_of(experiment.arms[0])
    name = {"riverswim": "RiverSwim", "random": "a random MDP"}.get(environments[0]["name"], "own MDP")
    return f"Regret on {name}, $S={S}$, $A={A}$, $H={H}$"


def caption(experiment: StoredExperiment) -> str:
    """How many runs, the factors where they are not the paper's, and what ε means."""
    configs = [config_of(arm) for arm in experiment.arms]
    private = [config for config in configs if config["privatizer"]["name"] != "non_private"]
    runs = _range([len(arm.runs) for arm in experiment.arms])
    parts = [f"{runs} run{'s' * (runs != '1')} of each arm."]
    factors = [
        ("bonus", [config["bonus"]["scale"] for config in configs]),
        ("$E$", [config["confidence"]["scale"] for config in private]),
    ]
    changed = [f"{name} × {_range(values)}" for name, values in factors if set(values) - {1.0}]
    if changed:
        parts.append(f"Factors: {', '.join(changed)} (1 in the paper).")
    if private:
        parts.append("ε: as certified if a user is added or removed.")
    return " ".join(parts)


def _range(values: list[Any]) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _curve(arm: StoredArm, index: int) -> Curve:
    episodes = arm.runs[0].trace.episodes
    summary = summarise(regret_of(arm))
    end = (float(episodes[-1]), float(summary.mean[-1]))
    label = EndLabel(*names(arm), colour(index), marker(index), *end)
    return Curve(episodes, summary.mean, summary.half_width, printed_beside(arm), label)


def _draw_curve(axes: Axes, curve: Curve, marked: list[int]) -> None:
    hue = curve.label.colour
    axes.plot(curve.episodes, curve.mean, color=hue, linewidth=1.5, zorder=4)
    at = curve.episodes[marked], curve.mean[marked]
    axes.plot(*at, linestyle="", color=hue, marker=curve.label.marker, zorder=5, **MARKER)
    if curve.has_interval:
        low, high = curve.mean - curve.half_width, curve.mean + curve.half_width
        axes.fill_between(curve.episodes, low, high, color=hue, alpha=0.18, linewidth=0)
    if curve.printed is not None:
        axes.plot(*curve.printed, color=hue, linestyle=DASHED, linewidth=1.1, zorder=3)


def _marked(axes: Axes, curve: Curve, first: float, phase: float) -> list[int]:
    """Points evenly spaced on the axis, shifted from arm to arm: curves that coincide still show."""
    fractions = (np.arange(MARKS) + 0.1 + 0.9 * phase) / MARKS
    K = curve.episodes[-1]
    log = axes.get_xscale() == "log"
    wanted = first * (K / first) ** fractions if log else first + (K - first) * fractions
    return sorted(set(np.searchsorted(curve.episodes, wanted).tolist()))


def _set_axes(axes: Axes, options: dict[str, Any], curves: list[Curve]) -> float:
    """Limits that hold every mean from the first episode shown, which is returned."""
    K = max(curve.episodes[-1] for curve in curves)
    first = max(1.0, K / 10**DECADES) if options["x"] == "log" else 0.0
    shown = [curve.mean[curve.episodes >= first] for curve in curves]
    top = 1.25 * max(mean.max() for mean in shown)
    positive = min(mean[mean > 0].min(initial=top) for mean in shown)
    axes.set_xscale(options["x"])
    axes.set_yscale(options["y"])
    axes.set_xlim(first, K)
    axes.set_ylim(0.8 * positive if options["y"] == "log" else 0.0, top)
    for axis, scale in ((axes.xaxis, options["x"]), (axes.yaxis, options["y"])):
        if scale == "linear":
            axis.set_major_formatter(FuncFormatter(thousands))
    axes.set_xlabel("episode")
    axes.set_ylabel("cumulative regret")
    return first


def _legend(curves: list[Curve]) -> list[Line2D | Patch]:
    handles: list[Line2D | Patch] = [Line2D([], [], color=QUIET, linewidth=1.5, label="mean of the runs")]
    if any(curve.has_interval for curve in curves):
        handles.append(Patch(color=QUIET, alpha=0.22, linewidth=0, label="95% interval of the mean"))
    if any(curve.printed is not None for curve in curves):
        label = "printed in the paper's Figure 1"
        handles.append(Line2D([], [], color=QUIET, linestyle=DASHED, linewidth=1.1, label=label))
    return handles


STUDY = Study(draw, keeps_figure=False)
