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
from dpucbvi.drawing.style import DOTTED, MARKER, QUIET, SMALL, marker, thousands
from dpucbvi.privacy.certificate import at_most
from dpucbvi.protocol import Floats
from dpucbvi.stats import bootstrap, exponent, exponent_text, tail
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Study
from experiments.studies.shared.arms import grouped, panels_of
from experiments.studies.shared.style import PAGE, PRIVACY, band, new_panels

FIRST = 100.0  # episode shown, at the earliest
LAST = 16.0  # the slopes are over this last factor in K


class Cost(NamedTuple):
    """One algorithm at one ε: its regret beyond that of UCBVI with the same seed, after K = `episodes`."""

    arms: list[StoredArm]  # by K
    episodes: Floats
    excess: Floats  # [run, K]


def draw(experiment: StoredExperiment) -> Figure:
    """A row for each way to count (the arms' panels): left the longest runs, right the cost against K."""
    check_certified(experiment)
    rows = panels_of(experiment)
    figure, panels = new_panels([2.3] * len(rows), columns=2, width=PAGE)
    for left, right, (row, arms) in zip(panels[::2], panels[1::2], rows.items(), strict=True):
        left.set(title=f"Regret, {row}", xlabel="episode", ylabel="cumulative regret")
        right.set(title=f"At the end, {row}", xlabel="$K$, the episodes of a run")
        right.set(ylabel="regret beyond UCBVI's")
        _draw_longest(left, arms)
        _draw_costs(right, costs(arms))
    return figure


def check_certified(experiment: StoredExperiment) -> None:
    """Every label names the ε that the runs certify if a user is added or removed."""
    for arm in experiment.arms:
        epsilon = arm.config["privatizer"].get("epsilon", np.inf)
        assert np.isclose(arm.certificate.add_remove, epsilon), arm.key


def costs(arms: list[StoredArm]) -> list[Cost]:
    """Every private algorithm's cost; its runs and UCBVI's are paired by seed."""
    baseline = {arm.K: arm for arm in arms if arm.certificate.model == "none"}
    private = sorted((arm for arm in arms if arm.certificate.model != "none"), key=lambda arm: arm.K)
    made = []
    by_epsilon = grouped(private, lambda arm: (arm.certificate.model, round(arm.certificate.add_remove, 9)))
    for group in by_epsilon.values():
        seeds = [[run.config["seed"] for run in arm.runs] for arm in (*group, *(baseline[a.K] for a in group))]
        assert all(of == seeds[0] for of in seeds), f"{group[0].key}: seeds without a pair"
        excess = [arm.finals - baseline[arm.K].finals for arm in group]
        K = np.array([arm.K for arm in group], dtype=np.float64)
        made.append(Cost(group, K, np.array(excess).T))
    return made


def episodes_until_free(epsilon: float, S: int, A: int, H: int) -> float:
    """The K at which ε = S^{3/2} A^{1/2} H² / √T: from there on √(SAH²T) ≥ S²AH³/ε (abstract).

    The proof has S²AH³ besides [D36], so that no ε above 1 has a smaller one than ε = 1.
    """
    return S**3 * A * H**3 / epsilon**2


def _draw_longest(axes: Axes, arms: list[StoredArm]) -> None:
    K = max(arm.K for arm in arms)
    labels = []
    for arm in arms:
        if arm.K < K:
            continue
        mean, low, high = bootstrap(arm.regret)
        band(axes, arm.episodes, mean, low, high, color=_hue(arm))
        labels.append(EndLabel(_name(arm), "", _hue(arm), _mark(arm), float(K), float(mean[-1])))
    _log_axes(axes, min(FIRST, K / 2), K, [label.y for label in labels])
    axes.set_ylim(bottom=10.0 ** np.floor(np.log10(max(min(label.y for label in labels), 1.0)) - 0.3))
    draw_end_labels(axes, labels, 11.5)


def _draw_costs(axes: Axes, all_costs: list[Cost]) -> None:
    labels = []
    K = all_costs[0].episodes
    for cost in all_costs:
        mean, low, high = bootstrap(cost.excess)
        first = cost.arms[0]
        shown = mean > 0
        look = {"color": _hue(first), "marker": _mark(first), **MARKER}
        band(axes, cost.episodes[shown], mean[shown], low[shown], high[shown], **look)
        if shown[-1]:
            slope = exponent_text(exponent(*tail(cost.episodes, cost.excess, LAST)), "slope")
            end = float(K[-1]), float(mean[-1])
            labels.append(EndLabel(_name(first), slope, _hue(first), _mark(first), *end))
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
    axes.plot(K, y, color=QUIET, linewidth=0.8, linestyle=DOTTED, zorder=1)
    look: Any = {"textcoords": "offset points", "color": QUIET, "fontsize": SMALL}
    axes.annotate(r"$\sqrt{K}$", (K[-1], y[-1]), (-4, 4), **look)
    axes.set_ylim(top=6.0 * y[-1])


def _log_axes(axes: Axes, first: float, last: float, ends: list[float]) -> None:
    axes.set(xscale="log", yscale="log", xlim=(first, last))
    axes.xaxis.set_minor_formatter(NullFormatter())
    if max(ends) <= 0:  # nothing to show, as after very few episodes
        axes.set_ylim(0.1, 1.0)


def _name(arm: StoredArm) -> str:
    model, epsilon, _ = arm.certificate[:3]
    return arm.label if model == "none" else f"{model} ε = {at_most(epsilon)}"


def _hue(arm: StoredArm) -> str:
    return PRIVACY[arm.certificate.model]


def _mark(arm: StoredArm) -> str:
    """By ε, alike in both models."""
    epsilon = arm.certificate.add_remove
    return "." if np.isinf(epsilon) else marker(round(np.log10(epsilon)) % 4)


STUDY = Study(draw)
