"""An MDP small enough for the constants as printed: regret, and how much of it is still paid in an episode."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.protocol import Floats
from dpucbvi.stats import exponent, exponent_text, summarise, tail
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Study
from experiments.studies.literal import check_literal, episodes_needed, literal_setup
from experiments.studies.shared.arms import check_same_grid, runs_text
from experiments.studies.shared.style import ALGORITHMS, MARKER, PRIVACY, marker, new_panels

FIRST = 1e3  # episode shown
LAST = 10**0.5  # the slopes are over this last factor in k: half a decade
FLOOR = 1e-8  # an episode without regret is drawn here
PIN = 0.04  # steps in the heights of the pins, as a part of the axes
MARKED = 6  # every so many of these windows has a marker
SECOND_LINE = (0, (5, 1.5))  # DP-UCBVI without privacy, beside UCBVI
POINTS = 40  # windows in which regret per episode is measured, evenly spaced in log k


def draw(experiment: StoredExperiment) -> Figure:
    """Regret, then regret per episode with the K from which the bonus is below H."""
    check_same_grid(experiment)
    check_literal(experiment)
    figure, (left, right) = new_panels([2.2, 3.4])
    K = experiment.arms[0].K
    first = min(FIRST, K / 4)
    labels = [_draw_arm(left, right, arm, first) for arm in experiment.arms]
    for i, arm in enumerate(experiment.arms):
        _mark_needed(right, arm, PIN * (2 + i % 3))  # neighbours have their heads apart
    titles = {"cumulative regret": "(a) paid so far", "regret of one episode": "(b) still paid in an episode"}
    for axes, (what, title) in zip((left, right), titles.items(), strict=True):
        axes.set(xscale="log", yscale="log", xlim=(first, K), xlabel="episode")
        axes.set(ylabel=what, title=title)
    left.set_ylim(bottom=10.0)
    right.set_ylim(0.7 * FLOOR, 3.0)
    draw_end_labels(right, labels)
    return figure


def per_episode(episodes: Floats, regret: Floats, first: float) -> tuple[Floats, Floats]:
    """The regret of an episode of regret[run, point], averaged within windows that are even in log k."""
    edges = np.unique(np.searchsorted(episodes, np.geomspace(first, episodes[-1], POINTS + 1)))
    edges = edges[edges < len(episodes)]
    k = episodes[edges]
    return np.sqrt(k[1:] * k[:-1]), np.diff(regret[:, edges], axis=1) / np.diff(k)


def _draw_arm(left: Axes, right: Axes, arm: StoredArm, first: float) -> EndLabel:
    episodes = arm.episodes.astype(np.float64)
    regret = arm.regret
    hue, mark, style, hollow = _look(arm)
    mean, half_width = summarise(regret)
    left.plot(episodes, mean, zorder=4, marker=mark, markevery=_evenly(episodes, first), **style)
    if not np.isnan(half_width).any():
        low, high = np.maximum(mean - half_width, 0.02 * mean), mean + half_width
        left.fill_between(episodes, low, high, color=hue, alpha=0.15, linewidth=0)
    k, rate = per_episode(episodes, regret, first)
    rate = np.maximum(rate.mean(axis=0), FLOOR)
    right.plot(k, rate, zorder=4, marker=mark, markevery=MARKED, **style)
    slope = exponent_text(exponent(*tail(episodes, regret, LAST)), "slope")
    return EndLabel(_name(arm), slope, hue, mark, float(k[-1]), float(rate[-1]), hollow)


def _evenly(episodes: Floats, first: float) -> list[int]:
    """Places of markers, as far apart as those of the windows."""
    wanted = np.geomspace(first, episodes[-1], POINTS // MARKED + 1)[:-1]
    return [int(i) for i in np.unique(np.searchsorted(episodes, wanted))]


def _look(arm: StoredArm) -> tuple[str, str, dict[str, Any], bool]:
    """Colour by privacy, line by algorithm, marker by ε, hollow for pooled counts."""
    model, epsilon, _ = arm.certificate[:3]
    dashes, mark, hollow = ALGORITHMS[arm.label]
    hue = PRIVACY[model]
    if model == "none" and arm.label != "UCBVI":
        dashes = SECOND_LINE
    filling = {"markerfacecolor": "white", "markeredgecolor": hue} if hollow else {}
    style = {"color": hue, "linestyle": dashes, "linewidth": 1.4, **MARKER, **filling}
    return hue, mark if np.isinf(epsilon) else marker(round(np.log10(epsilon)) % 4), style, hollow


def _name(arm: StoredArm) -> str:
    model, epsilon, _ = arm.certificate[:3]
    pooled = ", pooled" if arm.config["agent"]["pooled"] else ""
    return f"{arm.label}, not private" if model == "none" else f"{model} ε = {epsilon:g}{pooled}"


def _mark_needed(axes: Axes, arm: StoredArm, height: float) -> None:
    """A pin with the arm's marker at the K from which the bonus of DP-UCBVI is below H."""
    config = arm.config
    if config["agent"]["name"] != "dp_ucbvi":
        return
    model, pooled = config["privatizer"], config["agent"]["pooled"]
    setup = literal_setup(config, pooled, model["name"], model.get("epsilon", 1.0))
    K = episodes_needed(setup, config["env"]["H"])
    if K is not None:
        _, mark, style, _ = _look(arm)
        pin = {**style, "linestyle": "-", "linewidth": 1.0, "marker": mark, "markevery": [1]}
        axes.plot([K, K], [0, height], transform=axes.get_xaxis_transform(), zorder=3, **pin)


def caption(experiment: StoredExperiment) -> str:
    H, S, A = experiment.arms[0].sizes
    runs = runs_text(experiment)
    of = f"{runs} of each arm" if runs == "1 run" else f"mean of {runs}, in (a) with 95% interval"
    return (
        "An MDP small enough for the constants as printed. "
        f"RiverSwim with S = {S}, A = {A}, H = {H}, printed constants; {of}. "
        "Slope: of log regret against log k, last half decade. "
        "(b): mean within 40 windows, cut at 1e-8. Pins at its foot, with the marker of their arm: from this "
        "K on DP-UCBVI's bonus can be below H, and no sooner. Dips: at first "
        "Q̃ = H everywhere and the tie goes to the first action, the worse one. Once its Q̃ is "
        "below H, the better one alone is taken; when its Q̃ has fallen too, both are, ever less "
        "often the worse. "
        "ε: if a user is added or removed (DP-UCBVI)."
    )


STUDY = Study(draw, caption, points=400)
