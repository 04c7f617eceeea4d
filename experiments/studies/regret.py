"""Regret against episodes, for any experiment: mean and 95% interval over runs, the printed curves dashed."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from dpucbvi.errors import InputError
from dpucbvi.mdp import TabularMDP
from dpucbvi.planning import uniform_loss
from dpucbvi.protocol import Floats, Ints
from dpucbvi.trace import Runs, Trace, none_learnt
from experiments.lab.assemble import stored_environment
from experiments.lab.results import Results
from experiments.lab.stats import summarise
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Study
from experiments.studies.shared.arms import check_same_grid
from experiments.studies.shared.end_labels import POINTS_A_LABEL, EndLabel, draw_end_labels
from experiments.studies.shared.labels import as_written, certified, environment_name, names
from experiments.studies.shared.printed import PrintedCurve, printed_beside
from experiments.studies.shared.style import (
    DASHED,
    DOTTED,
    LINES,
    MARKER,
    QUIET,
    Line,
    colour,
    house_style,
    line,
    marker,
    new_figure,
    thousands,
)

DECADES = 2.7  # shown of a logarithmic episode axis: before, all arms explore alike
MARKS = 5  # on every curve
AXES = (0.62, 0.75, 4.6, 3.2)  # left, bottom, width, height in inches; it grows with the number of arms
TOP = 0.35  # inches above the axes
AIR = 0.1  # and right of the labels
SCALE_FROM = 4  # so many arms that differ in one number get the colours of a scale
SCALE = "viridis"
OPAQUE = 0.18  # an interval, if there are few; many lie over each other, and all must be seen through


class Curve(NamedTuple):
    """An arm as it is drawn."""

    episodes: Ints
    mean: Floats
    half_width: Floats
    printed: PrintedCurve | None
    label: EndLabel
    dashes: Line

    @property
    def has_interval(self) -> bool:
        return not np.isnan(self.half_width).any()


class Look(NamedTuple):
    """How a curve is told from the others."""

    colour: str
    marker: str
    dashes: Line


def draw(experiment: StoredExperiment) -> Figure:
    """One curve per arm, named at its end with the ε it certifies and with what else tells it from others."""
    check_same_grid(experiment)
    arms = experiment.arms
    told, looks = names(arms), _looks(len(arms), _scale(arms))
    curves = [
        _curve(
            arm.episodes,
            arm.regret,
            printed_beside(arm),
            name,
            _learnt(detail, [run.trace for run in arm.runs]),
            look,
        )
        for arm, (name, detail), look in zip(arms, told, looks, strict=True)
    ]
    return _draw(curves, experiment.figure, setting(experiment), "", _environment(experiment))


def plot(
    runs: "Results | Mapping[str, Runs] | Runs",
    mdp: TabularMDP | None = None,
    path: str | Path | None = None,
    x: str = "log",
    y: str = "log",
) -> Figure:
    """The regret of runs against episodes: one curve per arm, with 95% intervals, named by the keys.

    `runs` is what dp.load returns, or runs over several seeds as dp.run gives them, by name. With `mdp`, the
    uniform policy is drawn beside them. With `path`, the figure is also written there.
    """
    for key, value in (("x", x), ("y", y)):
        if value not in ("log", "linear"):
            raise InputError(f"{key}: {value!r} is not accepted; it must be one of log, linear")
    with house_style():
        if isinstance(runs, Results):
            figure = draw(runs.experiment._replace(figure={"x": x, "y": y}))
        else:
            figure = _plot({"": runs} if isinstance(runs, Runs) else runs, mdp, {"x": x, "y": y})
        if path is not None:
            figure.savefig(path, dpi=200)
    return figure


def _learnt(detail: str, runs: Sequence[Trace]) -> str:
    """What is told of a curve, and that its runs learnt nothing where that is known."""
    return f"{detail}; nothing was learnt" if none_learnt(runs) else detail


def _plot(runs: Mapping[str, Runs], mdp: TabularMDP | None, options: dict[str, Any]) -> Figure:
    if not (isinstance(runs, Mapping) and runs and all(isinstance(of, Runs) for of in runs.values())):
        raise InputError(
            "plot: it takes runs over several seeds by name, as dp.run gives them for seed=range(5)"
        )
    curves = []
    for (label, of), look in zip(runs.items(), _looks(len(runs)), strict=True):
        name, detail = certified(label, of.certificate)
        curves.append(_curve(of.episodes, of.regret, None, name, _learnt(detail, of.runs), look))
    H, S, A = next(iter(runs.values())).runs[0].N_sa.shape
    title = f"Regret on {mdp.name if mdp else 'own MDP'}, $S={S}$, $A={A}$, $H={H}$"
    number = _range([len(of.runs) for of in runs.values()])
    private = any(of.certificate.model != "none" for of in runs.values())
    return _draw(curves, options, title, _says(number, [], private), mdp)


def _draw(
    curves: list[Curve], options: dict[str, Any], title: str, said: str, mdp: TabularMDP | None
) -> Figure:
    left, bottom, width, height = AXES
    height = max(height, len(curves) * POINTS_A_LABEL / 72.0)
    figure, axes = new_figure(left + width + 2.0, bottom + height + TOP)
    _place(figure, axes, height)
    first = _set_axes(axes, options, curves)
    for i, curve in enumerate(curves):
        _draw_curve(axes, curve, _marked(axes, curve, first, i / len(curves)), min(OPAQUE, 1.0 / len(curves)))
    handles = _legend(curves)
    if mdp is not None:
        handles += _draw_references(axes, mdp, curves, options["y"])
    axes.set_title(title, loc="left", fontsize=9.5)
    axes.legend(handles=handles, loc="upper left", frameon=False)
    draw_end_labels(axes, [curve.label for curve in curves])
    _fit(figure, axes, height)
    characters = round(figure.get_figwidth() / 0.051)  # of 7 points, on average
    below = "\n".join(textwrap.wrap(said, characters))
    figure.text(left / figure.get_figwidth(), 0.08 / figure.get_figheight(), below, fontsize=7, color=QUIET)
    return figure


def _place(figure: Figure, axes: Axes, height: float) -> None:
    left, bottom, width, _ = AXES
    whole = figure.get_figwidth(), figure.get_figheight()
    axes.set_position((left / whole[0], bottom / whole[1], width / whole[0], height / whole[1]))


def _fit(figure: Figure, axes: Axes, height: float) -> None:
    """Make the figure as wide as its labels need."""
    ends = [text.get_window_extent().x1 for text in axes.texts]
    figure.set_figwidth(max(*ends, axes.title.get_window_extent().x1) / figure.dpi + AIR)
    _place(figure, axes, height)


def setting(experiment: StoredExperiment) -> str:
    """The environment and its size, if all arms share it."""
    environments = [arm.config["env"] for arm in experiment.arms]
    if any(env != environments[0] for env in environments):
        return "Regret, several environments"
    H, S, A = experiment.arms[0].sizes
    return f"Regret on {environment_name(environments[0])}, $S={S}$, $A={A}$, $H={H}$"


def caption(experiment: StoredExperiment) -> str:
    """How many runs, the factors where they are not the paper's, and what ε means."""
    configs = [arm.config for arm in experiment.arms]
    private = [config for config in configs if config["privatizer"]["name"] != "non_private"]
    factors = [
        ("bonus", [config["bonus"]["scale"] for config in configs]),
        ("E", [config["confidence"]["scale"] for config in private]),
    ]
    changed = [f"{name} × {_range(values)}" for name, values in factors if set(values) - {1.0}]
    return _says(_range([len(arm.runs) for arm in experiment.arms]), changed, bool(private))


def _says(runs: str, changed: list[str], private: bool) -> str:
    parts = [f"{runs} run{'s' * (runs != '1')} of each arm."]
    if changed:
        parts.append(f"Factors: {', '.join(changed)} (1 in the paper).")
    if private:
        parts.append("ε: as certified if a user is added or removed.")
    return " ".join(parts)


def _range(values: list[Any]) -> str:
    low, high = as_written(min(values)), as_written(max(values))
    return low if low == high else f"{low} to {high}"


def _environment(experiment: StoredExperiment) -> TabularMDP | None:
    """The MDP that all arms share, if it can still be made."""
    environments = [arm.config["env"] for arm in experiment.arms]
    alike = all(env == environments[0] for env in environments)
    return stored_environment(environments[0]) if alike else None


def _scale(arms: list[StoredArm]) -> Floats | None:
    """The values of the one number of the grid in which all arms differ; None if it is not that simple."""
    varied = {key for arm in arms for key in arm.point if len({str(a.point.get(key)) for a in arms}) > 1}
    if len(varied) != 1 or len(arms) < SCALE_FROM or len({arm.of for arm in arms}) > 1:
        return None
    values = [arm.point.get(*varied) for arm in arms]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return np.array(values, dtype=np.float64) if numbers else None


def _looks(n: int, scale: Floats | None = None) -> list[Look]:
    """Colours of a scale, or as many colours and dashes as there are arms."""
    if scale is None:
        return [Look(colour(i), marker(i + i // len(LINES)), line(i)) for i in range(n)]
    wide = scale.min() > 0.0 and scale.max() > 20.0 * scale.min()
    at = np.log(scale) if wide else scale
    share = 0.85 * (at - at.min()) / (at.max() - at.min())  # the yellow end is too pale
    return [
        Look(to_hex(matplotlib.colormaps[SCALE](value)), marker(i), LINES[0]) for i, value in enumerate(share)
    ]


def _curve(
    episodes: Ints, regret: Floats, printed: PrintedCurve | None, name: str, detail: str, look: Look
) -> Curve:
    summary = summarise(regret)
    end = (float(episodes[-1]), float(summary.mean[-1]))
    label = EndLabel(name, detail, look.colour, look.marker, *end)
    return Curve(episodes, summary.mean, summary.half_width, printed, label, look.dashes)


def _draw_curve(axes: Axes, curve: Curve, marked: list[int], opaque: float) -> None:
    hue = curve.label.colour
    axes.plot(curve.episodes, curve.mean, color=hue, linewidth=1.5, linestyle=curve.dashes, zorder=4)
    at = curve.episodes[marked], curve.mean[marked]
    axes.plot(*at, linestyle="", color=hue, marker=curve.label.marker, zorder=5, **MARKER)
    if curve.has_interval:
        low, high = curve.mean - curve.half_width, curve.mean + curve.half_width
        axes.fill_between(curve.episodes, low, high, color=hue, alpha=opaque, linewidth=0)
    if curve.printed is not None:
        axes.plot(*curve.printed, color=hue, linestyle=DASHED, linewidth=1.1, zorder=3)


def _draw_references(axes: Axes, mdp: TabularMDP, curves: list[Curve], scale: str) -> list[Line2D | Patch]:
    """The uniform policy's regret, which grows by the same in every episode, and the best policy's, 0."""
    lost, K = uniform_loss(mdp), max(curve.episodes[-1] for curve in curves)
    k = np.geomspace(1.0, K, 200)
    axes.plot(k, lost * k, color=QUIET, linestyle=DOTTED, linewidth=1.0, zorder=2)
    low, high = axes.get_ylim()
    axes.set_ylim(low, max(high, min(1.25 * lost * K, 10.0 * high)))
    best = "the best policy has 0" if scale == "log" else "the axis is the best policy's"
    return [Line2D([], [], color=QUIET, linestyle=DOTTED, linewidth=1.0, label=f"uniform policy ({best})")]


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
    top = 1.25 * max(mean.max() for mean in shown) or 1.0
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


STUDY = Study(draw, caption, keeps_figure=False)
