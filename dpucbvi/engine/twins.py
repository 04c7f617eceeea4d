"""Which agents and privatizers have a compiled twin; each file of plans/ and releases/ ends in its entry.

Twins are found by the exact class. A subclass of one's own is another class and has none, so that nothing it
changes is ever left out.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from dpucbvi.agents.register import Optimistic
from dpucbvi.protocol import Agent, Privatizer, Setup


class PlanTwin(NamedTuple):
    """The compiled plan of an agent, known by the type of its constants when it is compiled."""

    plan: Callable[..., bool]
    constants: type
    scratch: Callable[[int, int, int], Any]  # from S, A and the D next states that are counted to arrays
    stochastic: bool  # the policy is probabilities
    lazy: bool  # planning again on the same counts gives the same plan


class ReleaseTwin(NamedTuple):
    """The compiled release of a privatizer, known by the type of its state when it is compiled."""

    release: Callable[..., bool]
    state: type
    start: Callable[[Setup, int, int], Any]  # from the setup, the seed and the number of counters to a state


PLANS: dict[type, PlanTwin] = {}
RELEASES: dict[type, ReleaseTwin] = {}


def add_plan(
    agent: type[Optimistic],
    constants: type,
    plan: Callable[..., bool],
    scratch: Callable[[int, int, int], Any],
    stochastic: bool = False,
    lazy: bool = False,
) -> None:
    PLANS[agent] = PlanTwin(plan, constants, scratch, stochastic, lazy)


def add_release(
    privatizer: type, state: type, release: Callable[..., bool], start: Callable[[Setup, int, int], Any]
) -> None:
    RELEASES[privatizer] = ReleaseTwin(release, state, start)


def plan_for(constants: type) -> Callable[..., bool]:
    """The plan that takes these constants."""
    return next(twin.plan for twin in PLANS.values() if twin.constants is constants)


def release_for(state: type) -> Callable[..., bool]:
    """The release that takes this state."""
    return next(twin.release for twin in RELEASES.values() if twin.state is state)


def has_plan(agent: Agent) -> bool:
    import dpucbvi.engine.plans  # noqa: F401  (its modules add themselves)

    return type(agent) in PLANS


def has_release(privatizer: Privatizer) -> bool:
    import dpucbvi.engine.releases  # noqa: F401

    return type(privatizer) in RELEASES
