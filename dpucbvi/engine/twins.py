"""What the fast engine can run: agents that are plans, and privatizers whose release is written on arrays.

A class that changes more than that is none: what it changes would be left out. It is found by where in the
classes above it a name stands.
"""

from typing import Any

from dpucbvi.agents.own import OwnAgent
from dpucbvi.privatizers.arrays import take_of
from dpucbvi.protocol import Agent, Privatizer, Setup


def has_plan(agent: Agent) -> bool:
    """Whether the agent is a plan, which the fast engine can call: no class below its plan has `algorithm`."""
    if isinstance(agent, OwnAgent):
        return agent.planner is not None
    return _depth(agent, "plan") <= _depth(agent, "algorithm")


def has_take(privatizer: Privatizer) -> bool:
    """Whether it releases by `start` and `take` (privatizers/arrays.py): none below `take` has `release`."""
    return _depth(privatizer, "take") <= _depth(privatizer, "release")


def _depth(part: Any, name: str) -> float:
    """How far up the classes of a part the name is defined; infinite if it is not."""
    return next((i for i, c in enumerate(type(part).__mro__) if name in vars(c)), float("inf"))


def is_own(setup: Setup) -> bool:
    """Whether a part of a run with a plan is not the package's."""
    from dpucbvi.engine.compiled import cacheable, is_the_packages  # numba is slow to import

    agent: Any = setup.agent
    privatizer: Any = setup.privatizer
    if isinstance(agent, OwnAgent) or not has_take(privatizer) or not is_the_packages(take_of(privatizer)):
        return True
    return not cacheable(agent.plan)
