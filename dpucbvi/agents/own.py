"""Agents made of functions: from counts to a plan, or a whole algorithm written like algorithm1.py."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from dpucbvi.counts import PrivateCounts
from dpucbvi.errors import InputError, finite
from dpucbvi.mdp import SUM_ERROR, TabularMDP
from dpucbvi.protocol import Algorithm, Counts, Noise, Plan, Problem, depth_of


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
    """Make an agent of a function from the private counts to a plan.

    The function has no memory; an algorithm with one is a generator function, started anew in every run.

    Parameters
    ----------
    plan : callable
        Takes `Counts` and returns a `Plan`, in every episode.
    raw : bool
        Hand it the noisy counts as they were released, without post-processing.
    pooled : bool
        Hand it counts of all steps together, for an MDP whose P and r do not depend on h.

    Returns
    -------
    OwnAgent
        An agent for `dp.run`, `dp.Session` and `dp.fit`.

    Examples
    --------
    >>> import numpy as np
    >>> import dpucbvi as dp
    >>> def least_tried(counts):
    ...     return dp.Plan(pi=counts.N_sa.argmin(axis=-1), Q=np.zeros((4, 3, 2)), V=np.zeros((5, 3)))
    >>> run = dp.run(dp.riverswim(S=3, H=4), dp.planner(least_tried), dp.Central(epsilon=10), K=50)
    >>> int(run.episodes[-1])
    50
    """

    def algorithm(problem: Problem, private: PrivateCounts) -> Algorithm:
        return episodes(problem.K, private, plan)

    algorithm.__name__ = getattr(plan, "__name__", "planner")  # what messages call it
    return OwnAgent(algorithm, raw, pooled, planner=plan)


def has_plan(agent: Any) -> bool:
    """Whether the agent is a plan, which the fast engine can call: no class below its plan has `algorithm`."""
    if isinstance(agent, OwnAgent):
        return agent.planner is not None
    return depth_of(agent, "plan") <= depth_of(agent, "algorithm")


def episodes(K: int, private: PrivateCounts, plan: Callable[[Counts], Plan]) -> Algorithm:
    """K episodes: yields the plan, is sent the user (the loop of Algorithm 1, lines 3 and 16-18)."""
    counts = private.counts
    for _k in range(1, K + 1):
        user = yield plan(counts)
        counts = private.update(user)


def checked_plan(plan: Any, k: int, mdp: TabularMDP | Problem) -> Plan:
    """A copy of the plan; InputError if it is none: the regret of an algorithm of one's own would mean nothing.

    Whoever made the plan may write its next one into the same arrays.
    """
    (H, S, A), (pi, Q, V) = (mdp.H, mdp.S, mdp.A), [getattr(plan, key, None) for key in Plan._fields]
    if not is_policy(pi, H, S, A):
        raise InputError(
            f"agent: its plan of episode {k} is no policy; pi must be an array of actions [h, s], "
            "or of probabilities [h, s, a]"
        )
    of = f"of its plan of episode {k}"
    return Plan(pi.copy(), finite(f"agent: Q {of}", Q, (H, S, A)), finite(f"agent: V {of}", V, (H + 1, S)))


def is_policy(pi: Any, H: int, S: int, A: int) -> TypeGuard[np.ndarray]:
    """Whether it is an array of actions [h, s], or of probabilities [h, s, a]."""
    if isinstance(pi, np.ndarray) and pi.shape == (H, S) and pi.dtype.kind in "iu":
        return bool(((pi >= 0) & (pi < A)).all())
    if not (isinstance(pi, np.ndarray) and pi.shape == (H, S, A) and pi.dtype.kind in "iuf"):
        return False
    return bool((pi >= 0.0).all()) and bool((np.abs(pi.sum(axis=-1) - 1.0) <= SUM_ERROR).all())
