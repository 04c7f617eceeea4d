"""Table 1 with measurements: for every system and model its bound and, per environment, regret and both ranks.

    rank by bound         1 + how many systems of the same model and ε have a smaller bound at that S, A, H, T
    rank by measurement   1 + how many have a smaller mean regret there

Equal bounds order nothing.
"""

from typing import NamedTuple

import numpy as np

from dpucbvi.calibrate import Calibration
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.calibrate import objectives
from experiments.studies.shared.arms import uniform_regret
from experiments.studies.table1.bounds import BY_AGENT, Bound, Row, Sizes

MODELS = ("JDP", "LDP", "none")


class Measurement(NamedTuple):
    """One system under one model in one environment."""

    row: Row
    model: str
    env: str
    at: Sizes
    regret: float
    low: float  # 95% interval
    high: float
    runs: tuple[float, ...]
    rank_bound: int = 0
    rank_measured: int = 0
    equals: int = 1  # systems with the same bound, this one among them

    @property
    def bound(self) -> float:
        return _bound(self).value(self.at)

    @property
    def in_order(self) -> bool:
        """Whether the measured rank is one that the bound leaves open."""
        return 0 <= self.rank_measured - self.rank_bound < self.equals

    @property
    def over_lower_bound(self) -> float:
        """Regret over √(SAH²T)."""
        S, A, H, T, _ = self.at
        return self.regret / float(np.sqrt(S * A * H**2 * T))


class Table(NamedTuple):
    """All measurements, and per environment what a uniformly random policy would have."""

    measurements: list[Measurement]
    uniform: dict[str, float]
    K: int
    runs: int

    @property
    def environments(self) -> list[str]:
        return list(self.uniform)

    @property
    def epsilon(self) -> float:
        """The one ε that every private run certifies if a user is added or removed."""
        (epsilon,) = {round(m.at.epsilon, 9) for m in self.measurements if m.model != "none"}
        return epsilon

    def find(self, row: Row, model: str, env: str) -> Measurement | None:
        return next((m for m in self.measurements if (m.row, m.model, m.env) == (row, model, env)), None)

    def sizes(self, env: str) -> Sizes:
        return next(m.at for m in self.measurements if m.env == env)


def tabulate(experiment: StoredExperiment) -> Table:
    """The table of a stored +exp=table1."""
    measured = [measure(arm) for arm in experiment.arms]
    first = experiment.arms[0]
    one_each = {arm.config["env"]["name"]: arm for arm in experiment.arms}
    uniform = {env: uniform_regret(arm) for env, arm in one_each.items()}
    bounds = [m.bound for m in measured]
    ranked = [_ranked(m, measured, bounds) for m in measured]
    return Table(ranked, uniform, first.K, len(first.runs))


def place(arm: StoredArm) -> tuple[Row, str, str]:
    """The row, the model and the environment of an arm."""
    config = arm.config
    return BY_AGENT[config["agent"]["name"]], arm.certificate.model, config["env"]["name"]


def _same_contest(a: Measurement, b: Measurement) -> bool:
    return (a.model, a.env, a.at.epsilon) == (b.model, b.env, b.at.epsilon)


def _bound(m: Measurement) -> Bound:
    bound = m.row.bound(m.model)
    assert bound is not None, f"{m.row.name} has no bound under {m.model}"
    return bound


def measure(arm: StoredArm) -> Measurement:
    """Without ranks, which need the others."""
    H, S, A = arm.sizes
    at = Sizes(S, A, H, H * arm.K, arm.certificate.add_remove)
    return Measurement(*place(arm), at, *arm.interval, tuple(map(float, arm.finals)))


def _ranked(m: Measurement, measured: list[Measurement], bounds: list[float]) -> Measurement:
    own = m.bound
    peers = [(other, bound) for other, bound in zip(measured, bounds, strict=True) if _same_contest(other, m)]
    return m._replace(
        rank_bound=1 + sum(bound < own for _, bound in peers),
        rank_measured=1 + sum(other.regret < m.regret for other, _ in peers),
        equals=sum(bound == own for _, bound in peers),
    )


Chosen = dict[tuple[Row, str, str], Calibration]  # by row, model and environment


def chosen(calibrated: StoredExperiment) -> Chosen:
    """The factors that a stored +exp=calibrate_table1 chose for every system in every environment."""
    return {
        key: Calibration(key[0].agent, key[0].name, points)
        for key, points in objectives(calibrated, place).items()
    }
