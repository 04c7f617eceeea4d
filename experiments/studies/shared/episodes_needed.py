"""How many episodes until the literal bonus says anything: the least K at which it is below a given level.

Line 7's bonus at a cell that every episode visits, before the last step, with Ṽ_{h+1} constant (no variance)
and every count as large as Assumption 3.1 lets it be (Ñ_h(s,a) = K + E, Ñ_{h+1}(s') = K + A·E; KH for K if
pooled):

    b(K) = √(2ι/Ñ) + 20HSEι/Ñ + 4√(ι min{...}/Ñ),      ι and E being those of K

No cell before the last step has a smaller one, so a K below the result is too few for all of them. It is a
fixed point in K: ι grows like log K, E like (log K)² under JDP and like √K under LDP. Within 2ⁿ⁻¹ < K ≤ 2ⁿ the
tree has n levels and b falls with K; at 2ⁿ + 1 a level more lifts it, so the search goes from power to power.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpucbvi.bonus import BernsteinConstants, bernstein_bonus, next_value_gap
from dpucbvi.protocol import Setup
from experiments.lab.assemble import assemble, without_checksum
from experiments.lab.settings import run_settings
from experiments.lab.store import StoredExperiment
from experiments.studies.shared.arms import config_of

MOST_LEVELS = 62  # counts stay 64-bit integers


def least_bonus(setup: Setup) -> float:
    """b(K) of DP-UCBVI with this setup's constants and factors."""
    c, problem, E = setup.constants, setup.problem, setup.noise.E
    assert isinstance(c, BernsteinConstants)
    visits = problem.K * (problem.H // setup.G)
    gap = next_value_gap(visits + problem.A * E, c)
    certain = np.ones(1)  # one next state, reached for sure
    return bernstein_bonus(visits + E, certain, np.zeros(1), np.array([gap]), c)


def episodes_needed(setup: Setup, level: float) -> int | None:
    """The least K > 1 with b(K) < level, found by bisection; None if there is none up to 2⁶²."""

    def below(K: int) -> bool:
        return least_bonus(with_episodes(setup, K)) < level

    for n in range(1, MOST_LEVELS + 1):
        if below(2**n):
            return _first(below, 2 ** (n - 1), 2**n)
    return None


def with_episodes(setup: Setup, K: int) -> Setup:
    """The same run set up for K episodes, which may be more than any engine would run."""
    problem = setup.problem._replace(K=K)
    noise = setup.privatizer.noise_of(problem, setup.G)
    return setup._replace(problem=problem, noise=noise, constants=setup.agent.constants(problem, noise))


def literal_setup(config: dict[str, Any], pooled: bool, model: str, epsilon: float) -> Setup:
    """DP-UCBVI in the environment of a stored run with the literal constants."""
    private = {} if model == "non_private" else {"epsilon": epsilon}
    tree = {
        "env": without_checksum(config["env"]),
        "agent": {"name": "dp_ucbvi", "pooled": pooled},
        "privatizer": {"name": model, **private},
        "beta": config["beta"],
    }
    return assemble(run_settings(tree))


def check_literal(experiment: StoredExperiment) -> None:
    """Both factors of every arm are 1: the constants are the paper's."""
    for arm in experiment.arms:
        config = config_of(arm)
        assert config["bonus"]["scale"] == config["confidence"]["scale"] == 1.0, f"{arm.key}: a factor is not 1"


def _first(true_from: Callable[[int], bool], low: int, high: int) -> int:
    """The least K in (low, high] with true_from(K). Requires true_from(high), and that it stays true."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if true_from(middle) else (middle, high)
    return high
