"""Regret against the horizon: does a Bernstein bonus save √H against a Hoeffding bonus, and by which term?

The bounds are about the worst case in the regime of √T. On an instance with a fixed gap an algorithm has
settled after some episodes, and the regret says how long that took. So where an arm has a grid over the gap,
its regret at a horizon is that at the worst gap, the largest mean over runs; the exponent of its growth in k
over the second half of the episodes tells which regime it is (0: settled, ½: √k, 1: nothing learnt). A mean
between 0 and 1 may be a mixture of runs that settled and runs that are stuck, so the stuck ones are counted.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.protocol import Floats
from dpucbvi.stats import bootstrap, exponent, exponent_text
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.shared.arms import check_same_grid, panels_of, runs_text
from experiments.studies.shared.printed import PRINTED_ENV
from experiments.studies.shared.style import (
    BLACK,
    BLUE,
    DOTTED,
    MARKER,
    QUIET,
    SMALL,
    TERMS as HUES,
    Line,
    new_panels,
)
from experiments.studies.shared.tables import WRITTEN, as_regret, markdown

NOTES = """\
Mean regret of {runs} after 50,000 episodes at H = {H}; exponents are fitted to every run, then mean and 95%
interval over runs. Where a gap is a parameter of the environment, every horizon has the gap with the largest
mean regret. An exponent in k of ½ is the regime of the bounds, H^1.5 for a Bernstein and H² for a Hoeffding
bonus; near 0 the algorithm has settled, and the exponent in H only says how long that took; near 1 it has
learnt nothing. "stuck runs": at every H, of the runs at its worst gap, those whose own regret has an exponent
in k above {stuck:g} over the second half. The exponent in k is that of the mean over runs, which stuck runs
lead: between 0 and 1 it can be a mixture of settled and stuck runs, not √k.
"""
HORIZON, GAP = "env.H", "env.gap"
STUCK = 0.9  # exponent in k over the second half: a run with a larger one has learnt nothing
HEADER = ("environment", "algorithm", "exponent in H", "in k at the end", "stuck runs", "regret", "worst gaps")
BESIDE = 1.07  # from one arm to the next, as a factor in H: a slope stays what it is
MARK = {**MARKER, "markersize": 4.2}
NAMES = {
    "ucbvi_bf": "UCBVI, Bernstein",
    "ucbvi_ch": "UCBVI, Hoeffding",
    "dp_ucbvi": "DP-UCBVI, Bernstein",
    "private_ucb_vi": "P.-UCB-VI, Hoeffding",
}
TERMS = {"variance": "variance", "correction": "14HL/(3N)", "next_value": "next value"}
# Colour, marker and line of an agent, and of UCBVI without a term.
LOOK: dict[tuple[str, str | None], tuple[str, str, Line]] = {
    ("ucbvi_bf", None): (BLACK, "o", "-"),
    ("ucbvi_bf", "variance"): (HUES["variance"], "^", "-"),
    ("ucbvi_bf", "correction"): (HUES["correction"], "P", "-"),
    ("ucbvi_bf", "next_value"): (HUES["next_value"], "v", "-"),
    ("ucbvi_ch", None): (BLACK, "X", (0, (5, 1.5))),
    ("dp_ucbvi", None): (BLUE, "s", "-"),
    ("private_ucb_vi", None): (BLUE, "D", (0, (1, 1))),
}


class Scaling(NamedTuple):
    """One algorithm's final regret at every horizon, at its worst gap there."""

    arms: list[StoredArm]  # one for every horizon
    H: Floats
    regret: Floats  # [run, H]

    @property
    def growth(self) -> float:
        """The exponent of the regret in k over the second half of the episodes, mean over horizons."""
        ends = [arm.half_and_full for arm in self.arms]
        return float(np.mean([np.log2(full.mean() / half.mean()) for half, full in ends]))

    @property
    def stuck(self) -> list[int]:
        """At every horizon, how many runs have a larger exponent in k than STUCK."""
        ends = [arm.half_and_full for arm in self.arms]
        return [int((full > 2.0**STUCK * half).sum()) for half, full in ends]

    @property
    def gaps(self) -> list[float]:
        return [arm.point[GAP] for arm in self.arms if GAP in arm.point]


def draw(experiment: StoredExperiment) -> Figure:
    """A panel for each environment, a line and its exponent for each algorithm."""
    check_same_grid(experiment)
    panels = panels_of(experiment)
    figure, grid = new_panels([3.2] * len(panels))
    for axes, (panel, inside) in zip(grid, panels.items(), strict=True):
        axes.set(title=_environment(panel, inside), xlabel="horizon $H$", ylabel="cumulative regret")
    for axes, inside in zip(grid, panels.values(), strict=True):
        _draw_panel(axes, scalings(inside))
    return figure


def _environment(panel: str, arms: list[StoredArm]) -> str:
    """The panel's name; of a river with another number of states than the printed figure's, these too."""
    states = {arm.sizes[1] for arm in arms if arm.config["env"]["name"] == PRINTED_ENV["name"]}
    return ", ".join([panel, *(f"S = {S}" for S in sorted(states) if S != PRINTED_ENV["S"])])


def scalings(arms: list[StoredArm]) -> list[Scaling]:
    """The arms of one environment, gathered over the grid's horizons."""
    made = []
    for of in dict.fromkeys(arm.of for arm in arms):
        group = [arm for arm in arms if arm.of == of]
        for arm in group:
            assert arm.sizes[0] == arm.point[HORIZON], f"{arm.key}: another horizon"
        horizons = sorted({arm.point[HORIZON] for arm in group})
        at = [[arm for arm in group if arm.point[HORIZON] == H] for H in horizons]
        worst = [max(arms, key=lambda arm: arm.mean) for arms in at]
        regret = np.array([arm.finals for arm in worst]).T
        made.append(Scaling(worst, np.array(horizons, dtype=np.float64), regret))
    return made


def _draw_panel(axes: Axes, lines: list[Scaling]) -> None:
    labels = []
    for i, line in enumerate(lines):
        arm, H, regret = line.arms[-1], line.H, line.regret
        name, (hue, mark, dashes) = _name_and_look(arm.config)
        mean, low, high = bootstrap(regret)
        bars = None if len(regret) == 1 else (mean - low, high - mean)
        beside = H * BESIDE ** (i - (len(lines) - 1) / 2)  # an arm behind another one could not be read
        axes.plot(beside, mean, color=hue, linestyle=dashes, linewidth=0.8, alpha=0.6, zorder=2)
        axes.errorbar(beside, mean, bars, fmt="none", ecolor=hue, elinewidth=0.9, zorder=3)
        axes.plot(beside, mean, color=hue, marker=mark, linestyle="", zorder=4, **MARK)
        fit = f"{exponent_text(exponent(H, regret), '$H$')}, $k$ {line.growth:.2f}"
        labels.append(EndLabel(name, fit, hue, mark, float(H[-1]), float(mean[-1])))
    axes.set(xscale="log", yscale="log", xlim=(H[0] / 1.4, H[-1] * 1.5))
    axes.set_xticks(H)
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    means = np.array([line.regret.mean(axis=0) for line in lines])
    lowest = _draw_guides(axes, H, np.maximum(means.min(axis=0), 1e-3))
    axes.set_ylim(lowest / 2.0, 3.0 * max(means.max(), 1e-3))
    draw_end_labels(axes, labels, tied=False)


def _name_and_look(config: dict[str, Any]) -> tuple[str, tuple[str, str, Line]]:
    agent, without = config["agent"]["name"], config["bonus"].get("without")
    name = NAMES[agent] if without is None else f"without {TERMS[without]}"
    return name, LOOK[agent, without]


def _draw_guides(axes: Axes, H: Floats, least: Floats) -> float:
    """Dotted lines with the exponents of the bounds, below the least mean at every H, from a common point."""
    powers = {1.5: "$H^{3/2}$", 2.0: "$H^2$"}
    start = float(np.min(least / (H / H[0]) ** max(powers))) / 3.0
    for power, name in powers.items():
        y = start * (H / H[0]) ** power
        axes.plot(H, y, color=QUIET, linewidth=0.8, linestyle=DOTTED, zorder=1)
        at = (H[-1], y[-1])
        axes.annotate(name, at, (2, 0), textcoords="offset points", va="center", fontsize=SMALL, color=QUIET)
    return start


def _epsilon(experiment: StoredExperiment) -> float:
    """The ε that every private run certifies if a user is added or removed."""
    epsilons = {arm.certificate.add_remove for arm in experiment.arms} - {np.inf}
    assert max(epsilons) - min(epsilons) < 1e-9 * max(epsilons), f"several: {epsilons}"
    return max(epsilons)


def caption(experiment: StoredExperiment) -> str:
    return (
        "Regret against the horizon H. "
        f"Regret after {experiment.arms[0].K:,} episodes, mean and 95% bootstrap interval of "
        f"{runs_text(experiment)}; the arms of one H stand side by side, an interval that meets the axis "
        "goes on below it. Beside the names: the exponent in H, fitted to every run, then mean and 95% "
        "interval over runs; and that in k over the second half of the episodes (a mixture, where some runs "
        "are stuck and others settled). Factors are the "
        f"same at all H. Private: JDP, ε = {_epsilon(experiment):g} if a user is added or removed. "
        "Dotted: the bounds, H^1.5 (Bernstein) and H²."
    )


def table(experiment: StoredExperiment) -> Rows:
    """Every algorithm on every environment: exponents, stuck runs, and the gaps that were the worst."""
    rows: Rows = [HEADER]
    for panel, inside in panels_of(experiment).items():
        for line in scalings(inside):
            name, _ = _name_and_look(line.arms[-1].config)
            fit = exponent_text(exponent(line.H, line.regret), "").strip()
            regrets = ", ".join(as_regret(float(mean)) for mean in line.regret.mean(axis=0))
            gaps = ", ".join(f"{gap:g}" for gap in line.gaps) or "-"
            stuck = f"{', '.join(map(str, line.stuck))} of {len(line.regret)}"
            rows.append((_environment(panel, inside), name, fit, f"{line.growth:.2f}", stuck, regrets, gaps))
    return rows


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    header, *rows = table(experiment)
    parts = [
        WRITTEN,
        markdown(header, rows),
        "\n"
        + NOTES.format(
            runs=runs_text(experiment),
            stuck=STUCK,
            H=", ".join(f"{H:g}" for H in sorted({a.point[HORIZON] for a in experiment.arms})),
        ),
    ]
    path = folder / "horizon.md"
    path.write_text("\n".join(parts))
    return [path]


STUDY = Study(draw, caption, table, write, points=400)  # all: it interpolates
