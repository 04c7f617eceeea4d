"""Agents made of functions: from counts to a plan, or a whole algorithm written like algorithm1.py."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpucbvi.counts import PrivateCounts
from dpucbvi.errors import InputError
from dpucbvi.mdp import TabularMDP
from dpucbvi.protocol import Algorithm, Counts, Noise, Plan, Problem


@dataclass(frozen=True)
class OwnAgent:
    """An algorithm given as a generator function of the problem and the private counts.

    It yields the plan of an episode and is sent its user, a handle without data that `private.update` takes
    once, as algorithm1.dp_ucbvi does. `raw`: it reads the noisy counts as they are; `pooled`: counts of all
    steps together.
    """

    generator: Callable[[Problem, PrivateCounts], Algorithm]
    raw: bool = False
    pooled: bool = False
    models: tuple[str, ...] = ("none", "JDP", "LDP")
    planner: Callable[[Counts], Plan] | None = None  # the function, if that is all there is

    @property
    def reads_trajectories(self) -> bool:
        """Whether the generator is sent trajectories in place of handles: then nothing is certified."""
        return bool(getattr(self.generator, "reads_trajectories", False))

    def constants(self, problem: Problem, noise: Noise) -> None:
        return None

    def algorithm(self, problem: Problem, private: PrivateCounts, constants: Any) -> Algorithm:
        return self.generator(problem, private)


def planner(plan: Callable[[Counts], Plan], raw: bool = False, pooled: bool = False) -> OwnAgent:
    """The agent that plans every episode by `plan`, a function from the private counts to a Plan.

    The function has no memory; an algorithm with one is a generator function, started anew in every run.
    """

    def algorithm(problem: Problem, private: PrivateCounts) -> Algorithm:
        return episodes(problem.K, private, plan)

    algorithm.__name__ = getattr(plan, "__name__", "planner")  # what messages call it
    return OwnAgent(algorithm, raw, pooled, planner=plan)


def episodes(K: int, private: PrivateCounts, plan: Callable[[Counts], Plan]) -> Algorithm:
    """K episodes: yields the plan, is sent the user (the loop of Algorithm 1, lines 3 and 16-18)."""
    counts = private.counts
    for _k in range(1, K + 1):
        user = yield plan(counts)
        counts = private.update(user)


def check_plan(plan: Any, k: int, mdp: TabularMDP) -> None:
    """Raise InputError if the plan is no policy: the regret of an algorithm of one's own would mean nothing."""
    pi, good = getattr(plan, "pi", None), False
    if isinstance(pi, np.ndarray) and pi.shape == (mdp.H, mdp.S) and pi.dtype.kind in "iu":
        good = bool(((pi >= 0) & (pi < mdp.A)).all())
    elif isinstance(pi, np.ndarray) and pi.shape == (mdp.H, mdp.S, mdp.A):
        good = bool((pi >= 0.0).all()) and np.allclose(pi.sum(axis=-1), 1.0)
    if not good:
        raise InputError(
            f"agent: its plan of episode {k} is no policy; pi must be an array of actions [h, s], "
            "or of probabilities [h, s, a]"
        )
