"""The rows of Table 1 at ε = 1 and 10, a user replaced: every system with factors of its own, chosen fairly.

All systems have the same grid of factors. Half of the runs of each point choose, by the objective of the
calibrations (dpucbvi/calibrate.py); the regret is that of the other half, on seeds that chose nothing.
"""

from typing import NamedTuple

from dpucbvi.calibrate import objective
from dpucbvi.stats import mean_interval, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Study
from experiments.studies.shared.arms import AGENTS, SHORT_ENVIRONMENTS, grouped
from experiments.studies.shared.tables import in_thousands

Key = tuple[str, str, float, str]  # agent, model, ε if a user is replaced, environment


class Chosen(NamedTuple):
    """The arm with the least objective over its first runs; the regret of the others, with its 95% interval."""

    arm: StoredArm
    regret: float
    low: float
    high: float


def key_of(arm: StoredArm) -> Key:
    certificate, config = arm.certificate, arm.config
    return config["agent"]["name"], certificate.model, round(certificate.replace_one, 9), config["env"]["name"]


def chosen(experiment: StoredExperiment) -> dict[Key, Chosen]:
    """For every system, model, ε and environment."""
    found = {}
    for key, arms in grouped(experiment.arms, key_of).items():
        half = len(arms[0].runs) // 2
        best = min(arms, key=lambda arm: objective(arm.finals[:half] if half else arm.finals))
        found[key] = Chosen(best, *mean_interval(best.finals[half:]))
    return found


def table(experiment: StoredExperiment) -> Rows:
    """A row for every system, model and ε, a column for every environment; regret in thousands."""
    found = chosen(experiment)
    environments = list(dict.fromkeys(key[-1] for key in found))
    header = ("system", "model", "ε (replaced)", *(SHORT_ENVIRONMENTS.get(env, env) for env in environments))
    systems = list(dict.fromkeys(key[:-1] for key in found))
    rows: Rows = [header]
    for agent, model, epsilon in sorted(systems, key=lambda key: (key[1], key[2])):
        here = [found.get((agent, model, epsilon, env)) for env in environments]
        cells = ["-" if one is None else in_thousands(*one[1:]) for one in here]
        rows.append((AGENTS.get(agent, agent), model, three_digits(epsilon), *cells))
    return rows


STUDY = Study(None, table)
