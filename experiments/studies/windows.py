"""Pooled, per step or windows: where pooling over the steps helps, where it fails, and what windows do."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpucbvi.drawing.style import QUIET, SMALL
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Study
from experiments.studies.shared.arms import panels_of, uniform_regret
from experiments.studies.shared.style import PRIVATIZERS, entry, legend_below, new_panels
from experiments.studies.shared.tables import interval_of, spread_of

EPSILON = "privatizer.epsilon"
SHOWN = {"JDP": (1.0,), "LDP": (2.0, 4.0)}  # the ε of the figure
LOOKS = {  # marker, colour, hollow: pure ε is hollow where the same counts have δ > 0 too
    "pooled": ("o", PRIVATIZERS["batches"], False),
    "windows, δ = 1e-6": ("D", PRIVATIZERS["windows"], False),
    "windows, pure": ("D", PRIVATIZERS["windows"], True),
    "per step, δ = 1e-6": ("s", PRIVATIZERS["toeplitz"], False),
    "per step, pure": ("s", PRIVATIZERS["toeplitz"], True),
}
SAME = {"one question, pooled, symbols": "pooled", "windows, LDP": "windows, pure"}  # how LDP arms are drawn
STATIONARY = ("riverswim", "garnet", "gymnasium")


class Row(NamedTuple):
    """The arms of one environment at one ε, by the mark that they get."""

    name: str
    arms: dict[str, StoredArm]

    @property
    def first(self) -> StoredArm:
        return next(iter(self.arms.values()))

    @property
    def depends(self) -> bool:
        """Whether the environment depends on the step."""
        return str(self.first.config["env"]["name"]) not in STATIONARY


def rows_of(experiment: StoredExperiment, model: str) -> list[Row]:
    """What the figure shows of a model; environments that depend on the step come last."""
    found = []
    for panel, arms in panels_of(experiment).items():
        for epsilon in SHOWN[model]:
            here = {
                SAME.get(arm.label, arm.label): arm
                for arm in arms
                if arm.certificate.model == model and arm.point[EPSILON] == epsilon
            }
            name = panel.removesuffix(", LDP") + f", ε = {epsilon:g}" * (len(SHOWN[model]) > 1)
            marks = {label: here[label] for label in LOOKS if label in here}
            found += [Row(name, marks)] if marks else []
    return sorted(found, key=lambda row: row.depends)


def draw(experiment: StoredExperiment) -> Figure:
    """A row for every environment, a mark for every way to count; LDP below JDP."""
    shown = {model: rows for model in SHOWN if (rows := rows_of(experiment, model))}
    heights = [0.45 + 0.25 * len(rows) for rows in shown.values()]
    figure, panels = new_panels([*heights[:-1], heights[-1] + 0.4], sharex=True)
    for axes, (model, rows) in zip(panels, shown.items(), strict=True):
        only = f" ε = {SHOWN[model][0]:g}" * (len(SHOWN[model]) == 1)
        axes.set_title(f"{model}{only}, a user replaced", fontsize=SMALL)
        _draw_rows(axes, rows)
    _name_groups(panels[0], next(iter(shown.values())))
    panels[-1].set_xlabel(f"regret after {experiment.arms[0].K:,} episodes", fontsize=SMALL)
    marks = [entry(label, linestyle="", **_look(label)) for label in LOOKS]
    uniform = entry("random actions", marker="|", color=QUIET, linestyle="", markersize=9)
    legend_below(figure, [*marks, uniform], 2)
    return figure


def _draw_rows(axes: Axes, rows: list[Row]) -> None:
    """Means with their intervals; rows whose environment depends on the step are shaded."""
    lanes = dict(zip(LOOKS, np.linspace(-0.26, 0.26, len(LOOKS)), strict=True))
    for y, row in enumerate(rows):
        axes.plot([uniform_regret(row.first)], [y], "|", color=QUIET, markersize=11)
        for label, arm in row.arms.items():
            mean, low, high = arm.interval
            look, at = _look(label), y + lanes[label]
            axes.plot([low, high], [at, at], color=look["color"], linewidth=1.2)
            axes.plot([mean], [at], linestyle="", **look)
    stationary = sum(not row.depends for row in rows)
    if stationary < len(rows):
        axes.axhspan(stationary - 0.5, len(rows) - 0.5, color=QUIET, alpha=0.09, linewidth=0, zorder=0)
    axes.set_yticks(range(len(rows)), [row.name for row in rows], fontsize=SMALL)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xscale("log")


def _name_groups(axes: Axes, rows: list[Row]) -> None:
    """Beside the rows, upright: whether the environment is the same at every step."""
    for words, of in (("same at every step", False), ("depends on the step", True)):
        here = [y for y, row in enumerate(rows) if row.depends is of]
        if here:
            at: Any = {"transform": axes.get_yaxis_transform(), "rotation": 270, "va": "center", "color": QUIET}
            axes.text(1.02, float(np.mean(here)), words, fontsize=SMALL, **at)


def _look(label: str) -> dict[str, Any]:
    mark, hue, hollow = LOOKS[label]
    face = "white" if hollow else hue
    return {"marker": mark, "color": hue, "markersize": 4.2, "markerfacecolor": face, "markeredgecolor": hue}


def table(experiment: StoredExperiment) -> Rows:
    """Every environment, way to count and ε."""
    regret = ("mean regret (median; largest)", "95% interval", "uniform policy")
    return [("environment", "counts", "ε (replaced)", *regret), *map(_row, experiment.arms)]


def _row(arm: StoredArm) -> tuple[str, ...]:
    epsilon, uniform = f"{arm.point[EPSILON]:g}", f"{uniform_regret(arm):,.0f}"
    return (str(arm.panel), arm.label, epsilon, spread_of(arm), interval_of(arm), uniform)


STUDY = Study(draw, table, points=60)
