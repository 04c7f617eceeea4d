"""Regret against the horizon: does a Bernstein bonus save √H against a Hoeffding bonus?"""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from dpucbvi.lab.fits import as_text, exponent
from dpucbvi.lab.stats import summarise
from dpucbvi.lab.store import StoredArm, StoredExperiment
from dpucbvi.protocol import Floats
from dpucbvi.studies import Study
from dpucbvi.studies.shared.arms import (
    certificate_of,
    check_same_grid,
    config_of,
    episodes_of,
    finals_of,
    runs_text,
    sizes_of,
)
from dpucbvi.studies.shared.end_labels import EndLabel, draw_end_labels
from dpucbvi.studies.shared.style import DOTTED, MARKER, QUIET, colour, marker

HORIZON = "env.H"
NAMES = {
    "ucbvi_bf": "UCBVI, Bernstein",
    "ucbvi_ch": "UCBVI, Hoeffding",
    "dp_ucbvi": "DP-UCBVI, Bernstein",
    "private_ucb_vi": "P.-UCB-VI, Hoeffding",
}
LOOK = {"ucbvi_bf": 0, "ucbvi_ch": 6, "dp_ucbvi": 1, "private_ucb_vi": 3}
POOLED = ("DP-UCBVI, pooled", 4)


class Scaling(NamedTuple):
    """One algorithm's final regret at every horizon."""

    arm: StoredArm  # at the last horizon
    H: Floats
    regret: Floats  # [run, H]


def draw(experiment: StoredExperiment) -> Figure:
    """A panel for each environment, a line and its exponent for each algorithm."""
    check_same_grid(experiment)
    panels = list(dict.fromkeys(arm.panel or "" for arm in experiment.arms))
    figure = Figure(figsize=(7.6, 3.5))
    figure.subplots_adjust(left=0.065, right=0.8, top=0.9, bottom=0.235, wspace=0.93)
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw_panel(axes, scalings([arm for arm in experiment.arms if (arm.panel or "") == panel]))
        axes.set_title(panel, loc="left", fontsize=9.5)
    figure.text(0.075, 0.025, _caption(experiment), fontsize=7, color=QUIET, linespacing=1.4)
    return figure


def scalings(arms: list[StoredArm]) -> list[Scaling]:
    """The arms of one environment, gathered over the grid's horizons."""
    made = []
    for of in dict.fromkeys(arm.of for arm in arms):
        group = sorted((arm for arm in arms if arm.of == of), key=lambda arm: arm.point[HORIZON])
        for arm in group:
            assert sizes_of(arm)[0] == arm.point[HORIZON], f"{arm.key}: another horizon"
        regret = np.array([finals_of(arm) for arm in group]).T
        made.append(Scaling(group[-1], np.array([float(arm.point[HORIZON]) for arm in group]), regret))
    return made


def _draw_panel(axes: Axes, lines: list[Scaling]) -> None:
    labels = []
    for arm, H, regret in lines:
        name, look = _name_and_look(config_of(arm)["agent"])
        mean, half_width = summarise(regret)
        bars = None if np.isnan(half_width).any() else half_width
        style: dict[str, Any] = {
            "marker": marker(look),
            "color": colour(look),
            "linewidth": 1.3,
            "capsize": 2,
            "elinewidth": 0.8,
        }
        axes.errorbar(H, mean, bars, zorder=4, **style, **MARKER)
        fit = as_text(exponent(H, regret), "exponent")
        labels.append(EndLabel(name, fit, colour(look), marker(look), float(H[-1]), float(mean[-1])))
    axes.set(xscale="log", yscale="log", xlabel="horizon $H$", xlim=(H[0] / 1.15, H[-1] * 1.15))
    axes.set_xticks(H)
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(True)
    axes.spines[["top", "right"]].set_visible(False)
    _draw_guides(axes, H, min(line.regret.mean(axis=0)[0] for line in lines))
    draw_end_labels(axes, labels)


def _name_and_look(agent: dict[str, Any]) -> tuple[str, int]:
    return POOLED if agent["pooled"] else (NAMES[agent["name"]], LOOK[agent["name"]])


def _draw_guides(axes: Axes, H: Floats, low: float) -> None:
    """Dotted lines with the exponents of the bounds, from a common point."""
    start = max(low, 1e-3) / 3.0
    for power, name in ((1.5, "$H^{3/2}$"), (2.0, "$H^2$")):
        y = start * (H / H[0]) ** power
        axes.plot(H, y, color=QUIET, linewidth=0.8, linestyle=DOTTED, zorder=1)
        side = "top" if power == 1.5 else "bottom"
        axes.annotate(
            name, (H[-1], y[-1]), (2, 0), textcoords="offset points", va=side, fontsize=7, color=QUIET
        )


def _epsilon(experiment: StoredExperiment) -> float:
    """The ε that every private run certifies if a user is added or removed."""
    epsilons = {certificate_of(arm).add_remove for arm in experiment.arms} - {np.inf}
    assert max(epsilons) - min(epsilons) < 1e-9 * max(epsilons), f"several: {epsilons}"
    return max(epsilons)


def _caption(experiment: StoredExperiment) -> str:
    return (
        f"Regret after {episodes_of(experiment.arms[0]):,} episodes, mean and 95% interval of "
        f"{runs_text(experiment)}; exponents are fitted to every run, then mean and 95% interval over runs.\n"
        "Factors are the same at all $H$. "
        f"Private: JDP, ε = {_epsilon(experiment):g} if a user is added or removed. "
        "Dotted: the bounds, $H^{3/2}$ (Bernstein) and $H^2$."
    )


STUDY = Study(draw)
