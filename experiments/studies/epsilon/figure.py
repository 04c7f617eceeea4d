"""Regret after K episodes against the ε that is certified, a panel for each model of privacy."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpucbvi.protocol import Floats
from dpucbvi.stats import summarise
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.epsilon.matching import EPSILON, crossing, series
from experiments.studies.shared.arms import (
    certificate_of,
    check_same_grid,
    config_of,
    episodes_of,
    mean_of,
    runs_text,
    sizes_of,
)
from experiments.studies.shared.printed import final_regrets
from experiments.studies.shared.sheet import PAGE, Margins, Sheet, lay_out
from experiments.studies.shared.style import ALGORITHMS, BLACK, DOTTED, MARKER, PRIVACY, QUIET, SMALL

REFERENCE = "ucbvi"
MODELS = {"JDP": "jdp", "LDP": "ldp"}  # a certificate's name, and how the keys of its arms and curves have it
CURVES = {  # the arms are <curve>_<model>
    "dp_ucbvi": "DP-UCBVI",
    "private_ucb_vi": "Private-UCB-VI",
    "pooled": "DP-UCBVI, pooled",
}
CROSS: dict[str, Any] = {"marker": "x", "markersize": 4.5, "markeredgewidth": 1.2, "color": BLACK, "zorder": 6}
ABOVE_BELOW = {"jdp_eps1": ("bottom", 1), "jdp_eps2": ("top", -1)}  # two names that would touch: points between


class Threshold(NamedTuple):
    """The ε above which privacy is no longer the larger term of the paper's bound."""

    epsilon: float
    formula: str


def threshold(model: str, S: int, A: int, H: int, K: int) -> Threshold:
    """Where √(SAH²T) equals S²AH³/ε (Theorem 5.2) or S²A√(H⁵T)/ε (Theorem 5.7), constants and logs left out."""
    if model == "JDP":
        return Threshold(S**1.5 * A**0.5 * H**2 / np.sqrt(K * H), "$S^{3/2}A^{1/2}H^2/\\sqrt{T}$")
    return Threshold(S**1.5 * A**0.5 * H**1.5, "$S^{3/2}A^{1/2}H^{3/2}$")


def draw(experiment: StoredExperiment, sheet: Sheet = PAGE) -> Figure:
    """A panel for each model, on the same regret axis."""
    check_same_grid(experiment)
    check_certified(experiment)
    margins = Margins(right=0.44, top=0.5)
    figure, panels = lay_out(sheet, [2.2] * 2, 2, margins, _caption(experiment), [_legend()])
    for axes, model in zip(panels, MODELS, strict=True):
        _draw_model(axes, experiment, model)
    means = [mean_of(arm) for arm in experiment.arms]
    for axes in panels:
        axes.set_ylim(max(min(means), 1e-3) / 2.0, 4.0 * max(means))
        axes.set_ylabel(f"regret after {episodes_of(_reference(experiment)):,} episodes", labelpad=1)
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
    for curve, name in CURVES.items():
        x, regret = series(experiment.arms, f"{curve}_{MODELS[model]}", EPSILON)
        _draw_series(axes, x, regret, name, PRIVACY[model])
    _draw_reference(axes, experiment)
    _draw_threshold(axes, experiment, model)
    _draw_printed(axes, experiment, model)
    axes.set_xlabel(f"certified {model} ε, a user added or removed", labelpad=2)
    above = axes.secondary_xaxis("top", functions=(_doubled, _halved))
    above.set_xlabel(f"certified {model} ε, a user replaced", color=QUIET)
    axes.spines[["right"]].set_visible(False)


def _look(name: str, hue: str) -> dict[str, Any]:
    """How an algorithm is drawn: hollow markers for pooled counts."""
    dashes, mark, hollow = ALGORITHMS[name]
    look = {**MARKER, "markerfacecolor": "white", "markeredgecolor": hue} if hollow else MARKER
    return {"color": hue, "marker": mark, "linestyle": dashes, "linewidth": 1.4, **look}


def _legend() -> list[Line2D]:
    return [Line2D([], [], label=name, **_look(name, QUIET)) for name in CURVES.values()]


def _draw_series(axes: Axes, x: Floats, regret: Floats, name: str, hue: str) -> None:
    mean, half_width = summarise(regret.T)
    axes.plot(x, mean, zorder=4, **_look(name, hue))
    low = np.maximum(mean - half_width, 1e-3 * mean)
    axes.fill_between(x, low, mean + half_width, color=hue, alpha=0.18, linewidth=0)


def _draw_reference(axes: Axes, experiment: StoredExperiment) -> None:
    arm = _reference(experiment)
    mean = mean_of(arm)
    axes.axhline(mean, color=BLACK, linewidth=1.2, zorder=2)
    axes.annotate(
        f"{arm.label}, {'pooled counts' if config_of(arm)['agent'].get('pooled') else 'counts per step'}",
        (0.015, mean),
        (0, -4),
        va="top",
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        fontsize=SMALL,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 2.0},
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
        fontsize=SMALL,
        color=QUIET,
    )


def _draw_printed(axes: Axes, experiment: StoredExperiment, model: str) -> None:
    """A tick for every printed final regret of this model, a cross where a curve has it."""
    for name, regret in final_regrets(config_of(_reference(experiment))).items():
        if not name.startswith(MODELS[model]):
            continue
        axes.plot(
            [0.985, 1.015], [regret] * 2, transform=axes.get_yaxis_transform(), color="black", clip_on=False
        )
        side, offset = ABOVE_BELOW.get(name, ("center", 0))
        axes.annotate(
            f"ε = {name[-1]}",
            (1.02, regret),
            (1, offset),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            fontsize=SMALL,
            va=side,
            annotation_clip=False,
        )
        for curve in CURVES:
            x, runs = series(experiment.arms, f"{curve}_{MODELS[model]}", EPSILON)
            at = crossing(x, runs.mean(axis=1), regret)
            if at is not None:
                axes.plot(at, regret, **CROSS)


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
        "final regret printed in Figure 1, with the ε of its legend; ×: where ours is the same. Level line: "
        "not private, and with counts per step, so that pooled counts may get below it. Dotted: "
        "above this ε the bound's term without ε is the larger one."
    )
