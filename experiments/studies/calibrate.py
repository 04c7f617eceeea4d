"""The factors on the bonus and on E of an algorithm, chosen on seeds that no figure uses.

+exp=calibrate chooses those of Figure 1; +exp=calibrate_mechanisms, +exp=calibrate_table1 and
+exp=calibrate_windows choose those of the studies `mechanisms`, `table1` and `windows`. The figure has the
objective at every point of the grid, the choice marked, its sensitivity to be read.

The rule by which the two factors of an algorithm are chosen, and how much hangs on the choice.

An algorithm is run at every point of its grid (the factors bonus.scale and confidence.scale), in one or more
settings (privacy model, ε), a few runs each. With R̄_j the mean and Q_j the 90% quantile of the regret after the
last episode in setting j,

    objective(point) = (Π_j √(R̄_j Q_j))^{1/J}

The quantile is there because a mean of a few runs rewards luck: small factors do well in most runs and fail in
some. The geometric mean lets every setting count by factors, so that a setting in which all regrets are large
does not decide alone.

Valleys are flat: the points within 10% of the least objective cannot be told apart by a few runs. The choice is
the middle of them, the one nearest to all the others in decades (dpucbvi/calibrate.py).

Label, panel and, where there are several, environment identify an algorithm: what
differs otherwise is a setting. In a panel of `all environments` the environment is a setting too.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from dpucbvi.calibrate import Calibration, Factors, around, geometric_mean, objective
from dpucbvi.drawing.style import BLACK, MARKER, SMALL, marker, thousands
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Study
from experiments.studies.shared.arms import SHORT_ENVIRONMENTS, Key, grouped
from experiments.studies.shared.style import ALGORITHMS, new_panels
from experiments.studies.shared.tables import as_regret

KEYS = ("bonus.scale", "confidence.scale")
TOGETHER = "all environments"


def factors_of(arm: StoredArm) -> Factors:
    return tuple(float(arm.point[key]) for key in KEYS if key in arm.point)


def objectives(
    experiment: StoredExperiment, told_by: Callable[[StoredArm], Key]
) -> dict[Key, dict[Factors, float]]:
    """The objective at every point, for every key of the arms, in their order."""
    made = {}
    for key, arms in grouped(experiment.arms, told_by).items():
        points = grouped(arms, factors_of)
        assert len(set(map(len, points.values()))) == 1, f"{key}: points with different settings"
        values = {factors: [objective(arm.finals) for arm in at] for factors, at in points.items()}
        made[key] = {factors: geometric_mean(of) for factors, of in values.items()}
    return made


def name_of(experiment: StoredExperiment, arm: StoredArm) -> str:
    """The algorithm: `batches, pooled`, or `RiverSwim: PUCB, JDP` if there are several environments."""
    if arm.panel == TOGETHER:
        return arm.label
    name = arm.label if arm.panel is None else f"{arm.label}, {arm.panel}"
    environments = {other.config["env"]["name"] for other in experiment.arms}
    env = SHORT_ENVIRONMENTS.get(arm.config["env"]["name"])
    return name if len(environments) == 1 else f"{env}: {name}"


def calibrations(experiment: StoredExperiment) -> list[Calibration]:
    """Every algorithm of a stored grid, in the order of its arms."""
    made = objectives(experiment, lambda arm: (str(arm.config["agent"]["name"]), name_of(experiment, arm)))
    return [Calibration(agent, label, points) for (agent, label), points in made.items()]


def in_use(made: list[Calibration], one: Calibration) -> Factors:
    """The factors that it is run with: `DP-UCBVI, pooled`, a variant, has those of DP-UCBVI [conf/arm]."""
    alike = (c for c in made if c.agent == one.agent and f"{one.label}, ".startswith(f"{c.label}, "))
    return next(alike).choice


COLOURS = "cividis_r"  # dark is much regret; made for colour-blind readers
CHOICE = BLACK
BOX: dict[str, Any] = {
    **{"color": CHOICE, "linestyle": "", "marker": "s", "markersize": 9, "zorder": 4},
    **{"markerfacecolor": "none", "markeredgecolor": CHOICE, "markeredgewidth": 1.8},
}
A_ROW = 2  # panels


def draw(experiment: StoredExperiment) -> Figure:
    """A heat map for every algorithm with two factors, lines for those with one."""
    made = calibrations(experiment)
    maps = [calibration for calibration in made if len(calibration.choice) == 2]
    lines = [calibration for calibration in made if len(calibration.choice) == 1]
    every = [max(value, 1.0) for calibration in maps or made for value in calibration.objective.values()]
    norm = LogNorm(min(every), 1.5 * max(every))
    count = len(maps) + bool(lines)
    columns = min(count, A_ROW)
    figure, panels = new_panels([1.9] * -(-count // columns), columns)
    for axes, calibration in zip(panels, maps, strict=False):
        _draw_map(axes, calibration, in_use(made, calibration), norm)
        axes.set_title(f"{calibration.label}\n{_settings(experiment, calibration.label)}", fontsize=SMALL)
    if lines:
        _draw_lines(panels[len(maps)], lines)
    for axes in panels[count:]:
        axes.set_axis_off()
    return figure


def _draw_map(axes: Axes, calibration: Calibration, used: Factors, norm: LogNorm) -> None:
    import seaborn  # slow to import

    bonuses, confidences = (sorted(set(factors)) for factors in zip(*calibration.objective, strict=True))
    values = np.array([[calibration.objective.get((b, c), np.nan) for c in confidences] for b in bonuses])
    seaborn.heatmap(
        np.maximum(values, norm.vmin or 1.0),
        norm=norm,
        cmap=COLOURS,
        cbar=False,
        linewidths=0.5,
        annot=np.vectorize(_short, otypes=[str])(values),
        fmt="",
        annot_kws={"fontsize": SMALL},
        xticklabels=[thousands(value, None) for value in confidences],
        yticklabels=[thousands(value, None) for value in bonuses],
        ax=axes,
    )
    axes.invert_yaxis()
    for factors, style in {used: "dashed", calibration.choice: "solid"}.items():
        at = confidences.index(factors[1]), bonuses.index(factors[0])
        box: Any = {"fill": False, "edgecolor": CHOICE, "linewidth": 2.0, "linestyle": style, "zorder": 3}
        axes.add_patch(Rectangle(at, 1, 1, **box))
    axes.set(xlabel="factor on $E$", ylabel="factor on the bonus")
    axes.grid(False)
    axes.tick_params(length=0, rotation=0)


def _draw_lines(axes: Axes, lines: list[Calibration]) -> None:
    for i, calibration in enumerate(lines):
        dashes, mark, _ = ALGORITHMS.get(calibration.label, ("-", marker(i), False))
        points = sorted((factors[0], value) for factors, value in calibration.objective.items())
        x, y = zip(*points, strict=True)
        axes.plot(x, y, color=BLACK, linewidth=1.3, linestyle=dashes, marker=mark, **MARKER)
        chosen = calibration.choice
        axes.plot(chosen[0], calibration.objective[chosen], **BOX)
        last, place, side = (-1, (-4, 5), "right") if i else (-2, (4, -9), "left")
        look: Any = {"textcoords": "offset points", "ha": side, "fontsize": SMALL}
        axes.annotate(calibration.label, (x[last], y[last]), place, **look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.1)  # for the boxes
    axes.yaxis.set_major_formatter(FuncFormatter(thousands))
    axes.yaxis.set_minor_formatter(NullFormatter())
    low, high = axes.get_ylim()
    if high < 10.0 * low:  # there may be no power of ten to label
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="factor on the bonus", ylabel="regret")
    axes.set_title("not private", fontsize=SMALL)


def _settings(experiment: StoredExperiment, label: str) -> str:
    """What an algorithm's objective is the geometric mean of: its models and the ε that they certify."""
    here = [arm for arm in experiment.arms if name_of(experiment, arm) == label]
    told = [
        f"{model} {', '.join(f'{e:.4g}' for e in sorted({arm.certificate.add_remove for arm in arms}))}"
        for model, arms in grouped(here, lambda arm: arm.certificate.model).items()
    ]
    return f"ε: {'; '.join(told)}"


def _short(value: float) -> str:
    """A regret in a cell: 12k, 5.3k, 420, 9.71; nothing where there was no run."""
    if np.isnan(value):
        return ""
    if value < 999.5:
        return f"{value:.3g}"
    return f"{value / 1000:.0f}k" if value >= 10_000 else f"{value / 1000:.1f}k"


HEADER = (
    *("algorithm", "factor on the bonus", "factor on E", "objective"),
    *("a step beside it", "within 10%", "at the edge"),
)


def choices(experiment: StoredExperiment) -> Rows:
    """For every algorithm the factors chosen, and how much hangs on the choice.

    That is how many times larger the objective is a step beside them, how many points are within 10% of the
    least, and whether a better one may lie outside the grid.
    """
    rows: Rows = [HEADER]
    for made in calibrations(experiment):
        bonus, confidence, *_ = (*(f"{factor:g}" for factor in made.choice), "-")
        beside = ", ".join(f"× {ratio:.3g}" for ratio in sorted(around(made).values()))
        within = f"{len(made.valley)} of {len(made.objective)}"
        regret, edge = as_regret(made.objective[made.choice]), "yes" if made.at_edge else "no"
        rows.append((made.label, bonus, confidence, regret, beside, within, edge))
    return rows


def records(experiment: StoredExperiment) -> list[dict[str, object]]:
    """Every point of the grid with its objective; conf/arm/ holds each agent's first choice."""
    header = ("algorithm", "bonus_factor", "confidence_factor", "objective", "chosen")
    rows = [
        (made.label, *(*factors, "")[:2], f"{value:.1f}", int(factors == made.choice))
        for made in calibrations(experiment)
        for factors, value in made.objective.items()
    ]
    return [dict(zip(header, row, strict=True)) for row in rows]


STUDY = Study(draw, choices, records=records, points=2)
