"""Regret against the horizon: does a Bernstein bonus save √H against a Hoeffding bonus, and by which term?

The bounds are about the worst case in the regime of √T. On an instance with a fixed gap an algorithm has
settled after some episodes, and the regret says how long that took. So where an arm has a grid over the gap,
its regret at a horizon is that at the worst gap, the largest mean over runs; the exponent of its growth in k
over the second half of the episodes tells which regime it is (0: settled, ½: √k, 1: nothing learnt). A mean
between 0 and 1 may be a mixture of runs that settled and runs that are stuck, so the stuck ones are counted.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from dpucbvi.protocol import Floats
from dpucbvi.stats import exponent, exponent_text
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.shared.arms import check_same_grid, panels_of, runs_text
from experiments.studies.shared.printed import PRINTED_ENV
from experiments.studies.shared.style import dots
from experiments.studies.shared.tables import WRITTEN, as_regret, markdown

NOTES = """\
Mean regret of {runs} after 50,000 episodes at H = {H}; exponents are fitted to every run, then mean and 95%
interval over runs. Where a gap is a parameter of the environment, every horizon has the gap with the largest
mean regret. An exponent in k of ½ is the regime of the bounds, H^1.5 for a Bernstein and H² for a Hoeffding
bonus; near 0 the algorithm has settled, and the exponent in H only says how long that took; near 1 it has
learnt nothing. "stuck runs": at every H, of the runs at its worst gap, those whose own regret has an exponent
in k above {stuck:g} over the second half. The exponent in k is that of the mean over runs, which stuck runs
lead: between 0 and 1 it can be a mixture of settled and stuck runs, not √k. Factors are the same at all H.
Private: JDP, ε = {epsilon:g} if a user is added or removed.
"""
HORIZON, GAP = "env.H", "env.gap"
STUCK = 0.9  # exponent in k over the second half: a run with a larger one has learnt nothing
HEADER = ("environment", "algorithm", "exponent in H", "in k at the end", "stuck runs", "regret", "worst gaps")
NAMES = {
    "ucbvi_bf": "UCBVI, Bernstein",
    "ucbvi_ch": "UCBVI, Hoeffding",
    "dp_ucbvi": "DP-UCBVI, Bernstein",
    "private_ucb_vi": "P.-UCB-VI, Hoeffding",
}
TERMS = {"variance": "variance", "correction": "14HL/(3N)", "next_value": "next value"}


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
    """The mean regrets of every algorithm, a dot for each horizon: the table says more."""
    check_same_grid(experiment)
    rows = {f"{row[0]}: {row[1]}": means for row, means in _rows(experiment)}
    figure, _ = dots(rows, "regret at every horizon")
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


def _name(config: dict[str, Any]) -> str:
    without = config["bonus"].get("without")
    return NAMES[config["agent"]["name"]] if without is None else f"without {TERMS[without]}"


def _epsilon(experiment: StoredExperiment) -> float:
    """The ε that every private run certifies if a user is added or removed."""
    epsilons = {arm.certificate.add_remove for arm in experiment.arms} - {np.inf}
    assert max(epsilons) - min(epsilons) < 1e-9 * max(epsilons), f"several: {epsilons}"
    return max(epsilons)


def caption(experiment: StoredExperiment) -> str:
    return (
        f"Regret after {experiment.arms[0].K:,} episodes, mean of {runs_text(experiment)}, a dot for every H. "
        f"Private: JDP, ε = {_epsilon(experiment):g} if a user is added or removed."
    )


def table(experiment: StoredExperiment) -> Rows:
    """Every algorithm on every environment: exponents, stuck runs, and the gaps that were the worst."""
    return [HEADER, *(row for row, _ in _rows(experiment))]


def _rows(experiment: StoredExperiment) -> Iterator[tuple[tuple[str, ...], list[float]]]:
    """Every row of the table, and the mean regrets in it."""
    for panel, inside in panels_of(experiment).items():
        for line in scalings(inside):
            means = [float(mean) for mean in line.regret.mean(axis=0)]
            yield (
                (
                    _environment(panel, inside),
                    _name(line.arms[-1].config),
                    exponent_text(exponent(line.H, line.regret), "").strip(),
                    f"{line.growth:.2f}",
                    f"{', '.join(map(str, line.stuck))} of {len(line.regret)}",
                    ", ".join(map(as_regret, means)),
                    ", ".join(f"{gap:g}" for gap in line.gaps) or "-",
                ),
                means,
            )


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    header, *rows = table(experiment)
    horizons = ", ".join(f"{H:g}" for H in sorted({arm.point[HORIZON] for arm in experiment.arms}))
    notes = NOTES.format(runs=runs_text(experiment), stuck=STUCK, H=horizons, epsilon=_epsilon(experiment))
    path = folder / "horizon.md"
    path.write_text("\n".join([WRITTEN, markdown(header, rows), "\n" + notes]))
    return [path]


STUDY = Study(draw, caption, table, write, points=400, keeps_figure=False)  # all: it interpolates
