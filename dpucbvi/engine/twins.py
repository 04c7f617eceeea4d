"""What the fast engine can run: agents that are plans, and privatizers whose release is written on arrays.

Each file of releases/ ends in its entry. It is found by the exact class: a subclass of one's own is another
class and has none, so that nothing it changes is ever left out.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from dpucbvi.agents.own import OwnAgent
from dpucbvi.protocol import Agent, Privatizer, Setup


class ReleaseTwin(NamedTuple):
    """The compiled release of a privatizer, known by the type of its state when it is compiled."""

    release: Callable[..., bool]
    state: type
    start: Callable[[Setup, int, int], Any]  # from the setup, the seed and the number of counters to a state


RELEASES: dict[type, ReleaseTwin] = {}


def add_release(
    privatizer: type, state: type, release: Callable[..., bool], start: Callable[[Setup, int, int], Any]
) -> None:
    RELEASES[privatizer] = ReleaseTwin(release, state, start)


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
    import dpucbvi.engine.releases  # noqa: F401  (its modules add themselves)

    return type(privatizer) in RELEASES
