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
from experiments.studies.shared.arms import grouped, uniform_regret
from experiments.studies.table1.bounds import BY_AGENT, Row, Sizes

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
        bound = self.row.bound(self.model)
        assert bound is not None, f"{self.row.name} has no bound under {self.model}"
        return bound.value(self.at)

    @property
    def ranks(self) -> str:
        """By bound, and as measured."""
        return f"{self.rank_bound} → {self.rank_measured}"

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
    contests = grouped(experiment.arms, lambda arm: (*place(arm)[1:], arm.certificate.add_remove))
    measured = {contest: [measure(arm) for arm in arms] for contest, arms in contests.items()}
    ranked = {(m.row, m.model, m.env): m for peers in measured.values() for m in _ranked(peers)}
    by_env = grouped(experiment.arms, lambda arm: str(arm.config["env"]["name"]))
    uniform = {env: uniform_regret(arms[-1]) for env, arms in by_env.items()}
    first = experiment.arms[0]
    return Table([ranked[place(arm)] for arm in experiment.arms], uniform, first.K, len(first.runs))


def place(arm: StoredArm) -> tuple[Row, str, str]:
    """The row, the model and the environment of an arm."""
    config = arm.config
    return BY_AGENT[config["agent"]["name"]], arm.certificate.model, config["env"]["name"]


def measure(arm: StoredArm) -> Measurement:
    """Without ranks, which need the others."""
    H, S, A = arm.sizes
    at = Sizes(S, A, H, H * arm.K, arm.certificate.add_remove)
    return Measurement(*place(arm), at, *arm.interval, tuple(map(float, arm.finals)))


def _ranked(peers: list[Measurement]) -> list[Measurement]:
    """Measurements of the same model, environment and ε, with their ranks among each other."""
    bounds, regrets = np.array([m.bound for m in peers]), np.array([m.regret for m in peers])
    return [
        m._replace(
            rank_bound=1 + int((bounds < m.bound).sum()),
            rank_measured=1 + int((regrets < m.regret).sum()),
            equals=int((bounds == m.bound).sum()),
        )
        for m in peers
    ]


Chosen = dict[tuple[Row, str, str], Calibration]  # by row, model and environment


def chosen(calibrated: StoredExperiment) -> Chosen:
    """The factors that a stored +exp=calibrate_table1 chose for every system in every environment."""
    return {
        key: Calibration(key[0].agent, key[0].name, points)
        for key, points in objectives(calibrated, place).items()
    }
