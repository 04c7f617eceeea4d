"""What the fast engine can run: agents that are plans, and privatizers whose release is written on arrays.

A privatizer is found by its exact class: a subclass of one's own is another class, so that nothing it changes
is ever left out.
"""

from dpucbvi.agents.own import OwnAgent
from dpucbvi.protocol import Agent, Privatizer, Setup


def has_plan(agent: Agent) -> bool:
    """Whether the agent is a plan, which the fast engine can call.

    A class that changes `algorithm` below its plan is not: what it changes would be left out.
    """
    if isinstance(agent, OwnAgent):
        return agent.planner is not None
    classes = type(agent).__mro__
    plan, algorithm = ([name in vars(c) for c in classes] for name in ("plan", "algorithm"))
    return any(plan) and plan.index(True) <= algorithm.index(True)


def is_own(setup: Setup) -> bool:
    """Whether a part of a run with a plan is not the package's."""
    from dpucbvi.engine.compiled import cacheable  # numba is slow to import

    agent = setup.agent
    if isinstance(agent, OwnAgent) or not has_release(setup.privatizer):
        return True
    return not cacheable(agent.plan)  # type: ignore[attr-defined]


def has_release(privatizer: Privatizer) -> bool:
    from dpucbvi.engine import releases

    return releases.has_release(privatizer)
