"""The calibration grid: the objective at every point, the choice marked, its sensitivity to be read."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from dpucbvi.calibrate import Calibration, Factors
from experiments.lab.store import StoredExperiment
from experiments.studies.calibrate.rule import calibrations, in_use
from experiments.studies.shared.arms import certificate_of, episodes_of, runs_text
from experiments.studies.shared.sheet import PAGE, PLAIN, Sheet, lay_out
from experiments.studies.shared.style import ALGORITHMS, BLACK, MARKER, QUIET, SMALL, marker, thousands

COLOURS = "cividis_r"  # dark is much regret; made for colour-blind readers
CHOICE = BLACK
A_ROW = 2  # panels


def draw(experiment: StoredExperiment, sheet: Sheet = PAGE, shared: bool = True) -> Figure:
    """A heat map for every algorithm with two factors, lines for those with one.

    If `shared`, a variant is run with the factors of its agent, else with its own.
    """
    made = calibrations(experiment)
    run_with = in_use(made) if shared else [calibration.choice for calibration in made]
    used = dict(zip((calibration.label for calibration in made), run_with, strict=True))
    maps = [calibration for calibration in made if len(calibration.choice) == 2]
    lines = [calibration for calibration in made if len(calibration.choice) == 1]
    every = [max(value, 1.0) for calibration in maps or made for value in calibration.objective.values()]
    norm = LogNorm(min(every), 1.5 * max(every))
    varied = any(calibration.choice != used[calibration.label] for calibration in made)
    count = len(maps) + bool(lines)
    columns = min(count, A_ROW)
    figure, panels = lay_out(sheet, [1.7] * count, columns, PLAIN, _caption(experiment, varied))
    for axes, calibration in zip(panels, maps, strict=False):
        _draw_map(axes, calibration, used[calibration.label], norm)
        axes.set_title(calibration.label, loc="left")
        said = _settings(experiment, calibration.label)
        axes.set_title(said, loc="right", fontsize=SMALL, color=QUIET)
    if lines:
        _draw_lines(panels[len(maps)], lines)
    return figure


def _draw_map(axes: Axes, calibration: Calibration, used: Factors, norm: LogNorm) -> None:
    from seaborn import heatmap  # slow to import: other studies do without

    bonuses = sorted({factors[0] for factors in calibration.objective})
    confidences = sorted({factors[1] for factors in calibration.objective})
    values = np.array([[calibration.objective[b, c] for c in confidences] for b in bonuses])
    heatmap(
        np.maximum(values, norm.vmin or 1.0),
        cmap=COLOURS,
        norm=norm,
        annot=np.vectorize(_short)(values),
        fmt="",
        annot_kws={"fontsize": SMALL},
        linewidths=0.5,  # a PDF would show hairlines of its own
        cbar=False,
        xticklabels=False,
        yticklabels=False,
        ax=axes,
    )
    axes.invert_yaxis()  # seaborn begins at the top
    for text, value in zip(axes.texts, values.flat, strict=True):  # seaborn has white on tan too
        text.set_color("white" if norm(value) > 0.5 else BLACK)
    for factors, style in {used: "dashed", calibration.choice: "solid"}.items():
        at = confidences.index(factors[1]), bonuses.index(factors[0])
        axes.add_patch(
            Rectangle(at, 1, 1, fill=False, edgecolor=CHOICE, linewidth=2.0, linestyle=style, zorder=3)
        )
    axes.set_xticks(np.arange(len(confidences)) + 0.5, [thousands(value, None) for value in confidences])
    axes.set_yticks(np.arange(len(bonuses)) + 0.5, [thousands(value, None) for value in bonuses])
    axes.set_xlabel("factor on $E$")
    axes.set_ylabel("factor on the bonus", labelpad=1)
    axes.tick_params(length=0)


def _draw_lines(axes: Axes, lines: list[Calibration]) -> None:
    for i, calibration in enumerate(lines):
        dashes, mark, _ = ALGORITHMS.get(calibration.label, ("-", marker(i), False))
        points = sorted((factors[0], value) for factors, value in calibration.objective.items())
        x, y = zip(*points, strict=True)
        axes.plot(x, y, color=BLACK, linewidth=1.3, linestyle=dashes, marker=mark, **MARKER)
        chosen = calibration.choice
        axes.plot(
            chosen[0],
            calibration.objective[chosen],
            color=CHOICE,
            linestyle="",
            marker="s",
            markersize=9,
            markerfacecolor="none",
            markeredgecolor=CHOICE,
            markeredgewidth=1.8,
            zorder=4,
        )
        last = -1 if i else -2
        axes.annotate(
            calibration.label,
            (x[last], y[last]),
            (-4, 5) if i else (4, -9),
            textcoords="offset points",
            ha="right" if i else "left",
            fontsize=SMALL,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.1)  # for the boxes
    axes.grid(True)
    axes.yaxis.set_major_formatter(FuncFormatter(thousands))
    axes.yaxis.set_minor_formatter(NullFormatter())
    low, high = axes.get_ylim()
    if high < 10.0 * low:  # there may be no power of ten to label
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("factor on the bonus")
    axes.set_ylabel("regret", labelpad=1)
    axes.set_title("not private", loc="left")
    axes.spines[["top", "right"]].set_visible(False)


def _settings(experiment: StoredExperiment, label: str) -> str:
    """What an algorithm's objective is the geometric mean of: its models and the ε that they certify."""
    epsilons: dict[str, set[float]] = {}
    for arm in experiment.arms:
        if arm.label == label:
            certificate = certificate_of(arm)
            epsilons.setdefault(certificate.model, set()).add(certificate.add_remove)
    return "; ".join(f"{m} ε = {', '.join(f'{e:.4g}' for e in sorted(of))}" for m, of in epsilons.items())


def _caption(experiment: StoredExperiment, varied: bool) -> str:
    seeds = [run.config["seed"] for arm in experiment.arms for run in arm.runs]
    variant = " Dashed: what pooled counts are run with, the choice for counts per step." if varied else ""
    return (
        f"Regret after {episodes_of(experiment.arms[0]):,} episodes, √(mean · 90% quantile) of "
        f"{runs_text(experiment)} (seeds {min(seeds)} to {max(seeds)}, in no other figure); for private "
        "algorithms the geometric mean over the settings above the map (ε: if a user is added or removed). A "
        "solid box marks the choice, the middle of the points within 10% of the least. A factor of 1 is the "
        f"paper.{variant}"
    )


def _short(value: float) -> str:
    """A regret in a cell: 12k, 5.3k, 420, 9.71."""
    if value < 999.5:
        return f"{value:.3g}"
    return f"{value / 1000:.0f}k" if value >= 10_000 else f"{value / 1000:.1f}k"
