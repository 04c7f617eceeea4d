"""Regret after K episodes against the ε that is certified, a panel for each model of privacy."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpucbvi.lab.stats import summarise
from dpucbvi.lab.store import StoredArm, StoredExperiment
from dpucbvi.protocol import Floats
from dpucbvi.studies.epsilon.matching import EPSILON, crossing, series
from dpucbvi.studies.shared.arms import (
    certificate_of,
    check_same_grid,
    config_of,
    episodes_of,
    mean_of,
    runs_text,
    sizes_of,
)
from dpucbvi.studies.shared.printed import final_regrets
from dpucbvi.studies.shared.style import DOTTED, MARKER, QUIET, colour, marker

REFERENCE = "ucbvi"
MODELS = {"JDP": "jdp", "LDP": "ldp"}  # a certificate's name, and how the keys of its arms and curves have it
CURVES = ("dp_ucbvi", "private_ucb_vi", "pooled")  # the arms are <curve>_<model>
LOOK = {"dp_ucbvi": 1, "private_ucb_vi": 3, "pooled": 4}  # colours and markers
RING: dict[str, Any] = {"markersize": 8, "markerfacecolor": "none", "markeredgecolor": "black", "zorder": 6}
LABELLED = {"dp_ucbvi": (1.5e3, "left"), "private_ucb_vi": (3.6e4, "right"), "pooled": (5e2, "left")}


class Threshold(NamedTuple):
    """The ε above which privacy is no longer the larger term of the paper's bound."""

    epsilon: float
    formula: str


def threshold(model: str, S: int, A: int, H: int, K: int) -> Threshold:
    """Where √(SAH²T) equals S²AH³/ε (Theorem 5.2) or S²A√(H⁵T)/ε (Theorem 5.7), constants and logs left out."""
    if model == "JDP":
        return Threshold(S**1.5 * A**0.5 * H**2 / np.sqrt(K * H), "$S^{3/2}A^{1/2}H^2/\\sqrt{T}$")
    return Threshold(S**1.5 * A**0.5 * H**1.5, "$S^{3/2}A^{1/2}H^{3/2}$")


def draw(experiment: StoredExperiment) -> Figure:
    """Both models side by side on one regret axis."""
    check_same_grid(experiment)
    check_certified(experiment)
    figure = Figure(figsize=(7.2, 3.6))
    panels = figure.subplots(1, 2, sharey=True)
    figure.subplots_adjust(left=0.085, right=0.945, top=0.84, bottom=0.235, wspace=0.19)
    for axes, model in zip(panels, MODELS, strict=True):
        _draw_model(axes, experiment, model)
    means = [mean_of(arm) for arm in experiment.arms]
    panels[0].set_ylim(max(min(means), 1e-3) / 2.0, 4.0 * max(means))
    panels[0].set_ylabel(f"regret after {episodes_of(_reference(experiment)):,} episodes")
    figure.text(0.085, 0.025, _caption(experiment), fontsize=7, color=QUIET, linespacing=1.4)
    return figure


def check_certified(experiment: StoredExperiment) -> None:
    """The two horizontal axes are what the runs certify: ε if a user is added or removed, 2ε if replaced."""
    for arm in experiment.arms:
        if EPSILON in arm.point:
            _, add_remove, replace_one = certificate_of(arm)[:3]
            assert np.isclose(add_remove, arm.point[EPSILON]), f"{arm.key}: certifies {add_remove}"
            assert np.isclose(replace_one, 2.0 * add_remove), f"{arm.key}: certifies {replace_one} if replaced"


def _draw_model(axes: Axes, experiment: StoredExperiment, model: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(True)
    for curve in CURVES:
        of = f"{curve}_{MODELS[model]}"
        label = next(arm.label for arm in experiment.arms if arm.of == of)
        x, regret = series(experiment.arms, of, EPSILON)
        _draw_series(axes, x, regret, curve, label)
    _draw_reference(axes, experiment)
    _draw_threshold(axes, experiment, model)
    _draw_printed(axes, experiment, model)
    axes.set_xlabel(f"certified {model} ε, a user added or removed", labelpad=2)
    above = axes.secondary_xaxis("top", functions=(_doubled, _halved))
    above.set_xlabel(f"certified {model} ε, a user replaced", color=QUIET, fontsize=8)
    axes.spines[["right"]].set_visible(False)


def _draw_series(axes: Axes, x: Floats, regret: Floats, curve: str, label: str) -> None:
    hue, mark = colour(LOOK[curve]), marker(LOOK[curve])
    summary = summarise(regret.T)
    axes.plot(x, summary.mean, color=hue, marker=mark, linewidth=1.4, zorder=4, label=label, **MARKER)
    low = np.maximum(summary.mean - summary.half_width, 1e-3 * summary.mean)
    axes.fill_between(x, low, summary.mean + summary.half_width, color=hue, alpha=0.18, linewidth=0)
    level, side = LABELLED[curve]
    at = crossing(x, summary.mean, level)
    style: dict[str, Any] = {"textcoords": "offset points", "color": hue, "fontsize": 8}
    if at is None:  # above the curve's last point
        axes.annotate(label, (x[-1], summary.mean[-1]), (3, 7), ha="right", va="bottom", **style)
    elif side == "left":
        axes.annotate(label.replace(", ", ",\n"), (at, level), (-11, 0), ha="right", va="center", **style)
    else:
        axes.annotate(label, (at, level), (7, 2), ha="left", va="center", **style)


def _draw_reference(axes: Axes, experiment: StoredExperiment) -> None:
    arm = _reference(experiment)
    mean = mean_of(arm)
    axes.axhline(mean, color=colour(0), linewidth=1.2, zorder=2)
    axes.annotate(
        f"{arm.label}, not private",
        (0.015, mean),
        (0, -3),
        va="top",
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        fontsize=8,
    )


def _draw_threshold(axes: Axes, experiment: StoredExperiment, model: str) -> None:
    arm = _reference(experiment)
    H, S, A = sizes_of(arm)
    at = threshold(model, S, A, H, episodes_of(arm))
    axes.axvline(at.epsilon, color=QUIET, linewidth=0.9, linestyle=DOTTED, zorder=1)
    axes.annotate(
        f"{at.formula} = {_number(at.epsilon)}",
        (at.epsilon, 0.97),
        (3 if model == "JDP" else -3, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="left" if model == "JDP" else "right",
        va="top",
        fontsize=7,
        color=QUIET,
    )


def _draw_printed(axes: Axes, experiment: StoredExperiment, model: str) -> None:
    """A tick for every printed final regret of this model, a ring where a curve has it."""
    for name, regret in final_regrets(config_of(_reference(experiment))).items():
        if not name.startswith(MODELS[model]):
            continue
        axes.plot(
            [0.985, 1.015], [regret] * 2, transform=axes.get_yaxis_transform(), color="black", clip_on=False
        )
        axes.annotate(
            f"ε = {name[-1]}",
            (1.02, regret),
            xycoords=axes.get_yaxis_transform(),
            fontsize=7,
            va="bottom" if name == "jdp_eps1" else "top" if name == "jdp_eps2" else "center",
            annotation_clip=False,
        )
        for curve in CURVES:
            x, runs = series(experiment.arms, f"{curve}_{MODELS[model]}", EPSILON)
            at = crossing(x, runs.mean(axis=1), regret)
            if at is not None:
                axes.plot(at, regret, marker="o", **RING)


def _doubled(x: Any) -> Any:
    return 2.0 * x


def _halved(x: Any) -> Any:
    return x / 2.0


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _reference(experiment: StoredExperiment) -> StoredArm:
    return next(arm for arm in experiment.arms if arm.of == REFERENCE)


def _caption(experiment: StoredExperiment) -> str:
    return (
        f"Mean and 95% interval of {runs_text(experiment)}, calibrated factors. Ticks at the right edges: "
        "final regret printed in Figure 1, with the ε of its\nlegend; rings: where ours is the same. Dotted: "
        "above this ε the bound's term without ε is the larger one."
    )
