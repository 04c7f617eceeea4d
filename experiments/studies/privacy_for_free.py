"""When privacy costs nothing: regret along the longest runs, and what privacy has cost at the end of every run.

The right panels have K, the number of episodes a run is set up for, on their axis, and runs of their own for
every K: E and the noise of Algorithm 1 depend on it, so the bound's S²AH³/ε (JDP) and S²A√(H⁵T)/ε (LDP) speak
of the regret at the end of such a run, and not of a curve within one, along which E is fixed.
"""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.protocol import Floats, Ints
from dpucbvi.stats import exponent, exponent_text, summarise, tail
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Study
from experiments.studies.shared.arms import check_same_grid, panels_of, runs_text
from experiments.studies.shared.style import (
    DOTTED,
    MARKER,
    PRIVACY,
    QUIET,
    SMALL,
    marker,
    new_panels,
    thousands,
)

FIRST = 100.0  # episode shown, at the earliest
LAST = 16.0  # the slopes are over this last factor in K
ROOM = 2.0  # above the curves, as a factor in regret, for the words at each threshold
GUIDE: dict[str, Any] = {"color": QUIET, "linewidth": 0.8, "linestyle": DOTTED, "zorder": 1}


class Cost(NamedTuple):
    """One algorithm at one ε: its regret beyond that of UCBVI with the same seed, after K = `episodes`."""

    arms: list[StoredArm]  # by K
    episodes: Floats
    excess: Floats  # [run, K]


def draw(experiment: StoredExperiment) -> Figure:
    """Two panels for each way to count (the arms' panels): the longest runs, then the cost against K."""
    check_same_grid(experiment)
    check_certified(experiment)
    rows = panels_of(experiment)
    figure, panels = new_panels([1.8, 2.2] * len(rows))
    for above, below, row in zip(panels[::2], panels[1::2], rows, strict=True):
        above.set(title=f"Regret, {row}", xlabel="episode", ylabel="cumulative regret")
        below.set(
            title=f"At the end, {row}", xlabel="$K$, the episodes of a run", ylabel="regret beyond UCBVI's"
        )
    for above, below, (row, arms) in zip(panels[::2], panels[1::2], rows.items(), strict=True):
        _draw_longest(above, arms, thresholds=row == next(iter(rows)))
        _draw_costs(below, costs(arms))
    return figure


def check_certified(experiment: StoredExperiment) -> None:
    """Every label names the ε that the runs certify if a user is added or removed."""
    for arm in experiment.arms:
        epsilon = arm.config["privatizer"].get("epsilon", np.inf)
        assert np.isclose(arm.certificate.add_remove, epsilon), arm.key


def costs(arms: list[StoredArm]) -> list[Cost]:
    """Every private algorithm's cost; its runs and UCBVI's are paired by seed."""
    baseline = {arm.K: arm for arm in arms if _model(arm) == "none"}
    groups: dict[tuple[str, float], list[StoredArm]] = {}
    for arm in sorted(arms, key=lambda arm: arm.K):
        if _model(arm) != "none":
            groups.setdefault((_model(arm), round(arm.certificate.add_remove, 9)), []).append(arm)
    made = []
    for group in groups.values():
        excess = [arm.finals - _paired(arm, baseline[arm.K]).finals for arm in group]
        K = np.array([arm.K for arm in group], dtype=np.float64)
        made.append(Cost(group, K, np.array(excess).T))
    return made


def episodes_until_free(epsilon: float, S: int, A: int, H: int) -> float:
    """The K at which ε = S^{3/2} A^{1/2} H² / √T: from there on √(SAH²T) ≥ S²AH³/ε (after Theorem 5.2)."""
    return S**3 * A * H**3 / epsilon**2


def _paired(arm: StoredArm, baseline: StoredArm) -> StoredArm:
    assert [run.config["seed"] for run in arm.runs] == [run.config["seed"] for run in baseline.runs]
    return baseline


def _draw_longest(axes: Axes, arms: list[StoredArm], thresholds: bool) -> None:
    K = max(arm.K for arm in arms)
    labels = []
    for arm in arms:
        if arm.K < K:
            continue
        episodes = arm.episodes
        mean, half_width = summarise(arm.regret)
        _band(axes, episodes, mean, half_width, _hue(arm))
        labels.append(EndLabel(_name(arm), "", _hue(arm), _mark(arm), float(K), float(mean[-1])))
    _log_axes(axes, min(FIRST, K / 2), K, [label.y for label in labels])
    axes.set_ylim(bottom=10.0 ** np.floor(np.log10(max(min(label.y for label in labels), 1.0)) - 0.3))
    if thresholds:
        _draw_thresholds(axes, arms)
    draw_end_labels(axes, labels, 11.5)


def _draw_costs(axes: Axes, all_costs: list[Cost]) -> None:
    labels = []
    K = all_costs[0].episodes
    for cost in all_costs:
        mean, half_width = summarise(cost.excess)
        first = cost.arms[0]
        shown = mean > 0
        _band(axes, cost.episodes[shown], mean[shown], half_width[shown], _hue(first), _mark(first))
        if shown[-1]:
            slope = exponent_text(exponent(*tail(cost.episodes, cost.excess, LAST)), "slope")
            labels.append(
                EndLabel(_name(first), slope, _hue(first), _mark(first), float(K[-1]), float(mean[-1]))
            )
    _log_axes(axes, K[0] / 1.3, K[-1] * 1.3, [cost.excess.mean(axis=0).max() for cost in all_costs])
    axes.set_xticks(K, [thousands(value, None) for value in K])
    axes.xaxis.set_minor_locator(NullLocator())
    if len(K) > 1 and labels:
        _draw_guide(axes, K, max(label.y for label in labels))
    if labels:
        draw_end_labels(axes, labels, 21.0)


def _draw_guide(axes: Axes, K: Floats, top: float) -> None:
    """A line of slope 1/2, above the curves, to compare them with."""
    y = 3.0 * top * np.sqrt(K / K[-1])
    axes.plot(K, y, **GUIDE)
    axes.annotate(
        r"$\sqrt{K}$", (K[-1], y[-1]), (-4, 4), textcoords="offset points", color=QUIET, fontsize=SMALL
    )
    axes.set_ylim(top=6.0 * y[-1])


def _draw_thresholds(axes: Axes, arms: list[StoredArm]) -> None:
    """Where T makes the threshold equal to each ε."""
    H, S, A = arms[0].sizes
    epsilons = {arm.certificate.add_remove for arm in arms if _model(arm) == "JDP"}
    for epsilon in epsilons:
        K = episodes_until_free(epsilon, S, A, H)
        if not axes.get_xlim()[0] < K < axes.get_xlim()[1]:
            continue
        axes.axvline(K, **GUIDE)
        at = (K, 0.98)
        style: dict[str, Any] = {
            "rotation": 90,
            "ha": "right",
            "va": "top",
            "fontsize": SMALL,
            "color": QUIET,
        }
        text = f"free if\nε = {epsilon:g}"
        axes.annotate(text, at, (-1, 0), ("data", "axes fraction"), "offset points", **style)
        axes.set_ylim(top=axes.get_ylim()[1] * ROOM)


def _band(axes: Axes, x: Floats | Ints, mean: Floats, half_width: Floats, hue: str, mark: str = "") -> None:
    axes.plot(x, mean, color=hue, linewidth=1.3, zorder=4, marker=mark, **MARKER)
    if not np.isnan(half_width).any():
        low = np.maximum(mean - half_width, 0.02 * mean)  # a log axis has no 0
        axes.fill_between(x, low, mean + half_width, color=hue, alpha=0.15, linewidth=0)


def _log_axes(axes: Axes, first: float, last: float, ends: list[float]) -> None:
    axes.set(xscale="log", yscale="log", xlim=(first, last))
    axes.xaxis.set_minor_formatter(NullFormatter())
    if max(ends) <= 0:  # nothing to show, as after very few episodes
        axes.set_ylim(0.1, 1.0)


def _model(arm: StoredArm) -> str:
    return arm.certificate.model


def _name(arm: StoredArm) -> str:
    model, epsilon, _ = arm.certificate[:3]
    return arm.label if model == "none" else f"{model} ε = {epsilon:g}"


def _hue(arm: StoredArm) -> str:
    return PRIVACY[_model(arm)]


def _mark(arm: StoredArm) -> str:
    """By ε, alike in both models."""
    epsilon = arm.certificate.add_remove
    return "." if np.isinf(epsilon) else marker(round(np.log10(epsilon)) % 4)


def caption(experiment: StoredExperiment) -> str:
    return (
        "Regret of the longest runs, and what privacy has cost at the end of runs of every length. "
        f"RiverSwim, calibrated factors, mean and 95% interval of {runs_text(experiment)} at every K "
        f"({_values_text(experiment)}); JDP and LDP: "
        "DP-UCBVI. Upright dotted lines: the episode from which privacy is free by the bound, for ε exceeds "
        "√(S³A)·H²/√T (proven for counts per step). At the end: seeds paired with UCBVI's; "
        f"slope of log regret against log K over the last factor of {LAST:g}, at most. "
        "ε: if a user is added or removed."
    )


def _values_text(experiment: StoredExperiment) -> str:
    """`5 values with pooled counts, ...`"""
    values = {panel: {arm.K for arm in arms} for panel, arms in panels_of(experiment).items()}
    return ", ".join(f"{len(of)} values with {panel}" for panel, of in values.items())


STUDY = Study(draw, caption)
