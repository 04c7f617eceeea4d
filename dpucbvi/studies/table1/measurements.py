"""Table 1 with measurements: for every system and model its bound and, per environment, regret and both ranks.

    rank by bound         1 + how many systems of the same model have a smaller bound at that (S, A, H, T, ε)
    rank by measurement   1 + how many have a smaller mean regret there

The orders disagree about two systems if one has the smaller bound and the larger regret; clearly so if the 95%
intervals of the two regrets do not meet. Equal bounds order nothing.
"""

from itertools import permutations
from typing import NamedTuple

import numpy as np

from dpucbvi.bounds import BY_AGENT, Bound, Row, Sizes
from dpucbvi.config import EnvConfig
from dpucbvi.factory import environment
from dpucbvi.planning import optimal_values, policy_values
from dpucbvi.stats import summarise
from dpucbvi.store import StoredArm, StoredExperiment

ENVIRONMENT_NAMES = {"riverswim": "RiverSwim", "random": "random MDP", "hard_tree": "hard instance"}
MODELS = ("JDP", "LDP", "none")
FACTOR = "bonus.scale"


class Measurement(NamedTuple):
    """One system under one model in one environment."""

    row: Row
    model: str
    env: str
    at: Sizes
    regret: float
    half_width: float  # nan from a single run
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


class Disagreement(NamedTuple):
    """`better` has the smaller bound and the larger regret."""

    better: Measurement
    worse: Measurement

    @property
    def clear(self) -> bool:
        low, high = self.better.regret - self.better.half_width, self.worse.regret + self.worse.half_width
        return low > high


def table1(experiment: StoredExperiment) -> Table:
    """The table of a stored +exp=table1."""
    measured = [_measure(arm) for arm in experiment.arms]
    config = experiment.arms[0].runs[0].config
    uniform = {arm.runs[0].config["env"]["name"]: _uniform_regret(arm, config["K"]) for arm in experiment.arms}
    ranked = [_ranked(m, measured) for m in measured]
    return Table(ranked, uniform, config["K"], len(experiment.arms[0].runs))


def disagreements(table: Table) -> list[Disagreement]:
    """Every pair of systems about which the orders disagree, by environment and model."""
    pairs = [
        Disagreement(a, b)
        for a, b in permutations(table.measurements, 2)
        if (a.model, a.env) == (b.model, b.env) and a.bound < b.bound and a.regret > b.regret
    ]
    order = [(env, model) for env in table.environments for model in MODELS]
    return sorted(pairs, key=lambda pair: order.index((pair.better.env, pair.better.model)))


class Best(NamedTuple):
    """The least mean regret over the factors on the bonus, its factor, and the rank within the same model."""

    regret: float
    factor: float
    rank: int


def best_factors(experiment: StoredExperiment) -> dict[tuple[Row, str, str], Best]:
    """Of a stored +exp=calibrate_environments, by row, model and environment."""
    least: dict[tuple[Row, str, str], tuple[float, float]] = {}
    for arm in experiment.arms:
        m = _measure(arm)
        found, key = (m.regret, float(arm.point[FACTOR])), (m.row, m.model, m.env)
        least[key] = min(found, least.get(key, found))
    return {
        key: Best(*best, 1 + sum(other < best for k, other in least.items() if k[1:] == key[1:]))
        for key, best in least.items()
    }


def _bound(m: Measurement) -> Bound:
    bound = m.row.bound(m.model)
    assert bound is not None, f"{m.row.name} has no bound under {m.model}"
    return bound


def _measure(arm: StoredArm) -> Measurement:
    run = arm.runs[0]
    H, S, A = run.trace.N_sa.shape
    at = Sizes(S, A, H, H * run.config["K"], run.certificate.add_remove)
    runs = tuple(float(run.trace.regret[-1]) for run in arm.runs)
    final = summarise(np.array(runs))
    row = BY_AGENT[run.config["agent"]["name"]]
    env = run.config["env"]["name"]
    return Measurement(row, run.certificate.model, env, at, float(final.mean), float(final.half_width), runs)


def _ranked(m: Measurement, measured: list[Measurement]) -> Measurement:
    peers = [other for other in measured if (other.model, other.env) == (m.model, m.env)]
    return m._replace(
        rank_bound=1 + sum(other.bound < m.bound for other in peers),
        rank_measured=1 + sum(other.regret < m.regret for other in peers),
        equals=sum(other.bound == m.bound for other in peers),
    )


def _uniform_regret(arm: StoredArm, K: int) -> float:
    """K times what the uniformly random policy loses in an episode."""
    env = {key: value for key, value in arm.runs[0].config["env"].items() if key != "sha256"}
    mdp = environment(EnvConfig(**env))
    uniform = np.full(mdp.r.shape, 1.0 / mdp.A)
    loss = optimal_values(mdp)[0][0] - policy_values(mdp, uniform)[0]
    return K * float(mdp.initial @ loss)
