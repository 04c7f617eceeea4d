"""The algorithms by name (each file here ends in its entry), and what those with a bonus have in common."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpucbvi.agents.own import episodes
from dpucbvi.agents.plans import by_row, first_values
from dpucbvi.counts import PrivateCounts
from dpucbvi.errors import Registry, check_flag, check_number, refused
from dpucbvi.protocol import Agent, Algorithm, Counts, Floats, Plan, Problem

AGENTS: Registry[type[Agent]] = Registry("agent.name")

# The models of privacy that an algorithm may be defined for.
NONE = ("none",)
JDP = ("none", "JDP")
LDP = ("none", "LDP")
ANY = ("none", "JDP", "LDP")


@dataclass(frozen=True)
class Optimistic:
    """An algorithm with a bonus. `bonus_scale` multiplies the bonus and is 1 in the algorithm's paper.

    `pooled`: counts of all steps together, for an MDP whose P and r do not depend on h. `bonus_without` leaves
    one term of the bonus out (of `terms`), to see what it is there for [D32].
    """

    bonus_scale: float = 1.0
    pooled: bool = False
    bonus_without: str | None = None

    terms: ClassVar[tuple[str, ...]] = ()
    stochastic: ClassVar[bool] = False  # the policy is probabilities
    lazy: ClassVar[bool] = False  # planning again on the same counts gives the same plan
    plan: ClassVar[Callable[..., None]]  # plans.py

    def __post_init__(self) -> None:
        check_number("bonus_scale", self.bonus_scale, lambda scale: scale > 0.0, "a number > 0")
        check_flag("pooled", self.pooled)
        without = self.bonus_without
        if without is not None and not (isinstance(without, str) and without in self.terms):
            accepted = f"one of {', '.join(self.terms)}, or null" if self.terms else "null for this algorithm"
            raise refused("bonus_without", without, accepted)

    def ceiling(self, H: int) -> Floats:
        """Q⁰ of every step: what a Q is before anything is known."""
        return np.full(H, float(H))

    def algorithm(self, problem: Problem, private: PrivateCounts, constants: Any) -> Algorithm:
        """The plan as it stands, episode after episode."""
        values = first_values(self.ceiling(problem.H), problem.S, problem.A, self.stochastic)
        episode = iter(range(1, problem.K + 1))

        def plan(counts: Counts) -> Plan:
            with np.errstate(all="ignore"):
                self.plan(constants, by_row(counts), values, next(episode))
            Q = values.Q.reshape(problem.H, problem.S, problem.A).copy()
            return Plan(values.pi.copy(), Q, values.V.copy())

        return episodes(problem.K, private, plan)
