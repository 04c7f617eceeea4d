"""The compiled releases: a privatizer's own `take` (privatizers/arrays.py) on the engine's memory."""

from collections.abc import Callable
from typing import Any

import dpucbvi.engine.noise  # noqa: F401  (what is compiled by hand)
from dpucbvi.engine.state import Memory, Private
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.privatizers.arrays import Take, check_policy
from dpucbvi.protocol import Floats, Ints, Noisy, Privatizer, Setup, User


def has_release(privatizer: Privatizer) -> bool:
    """Whether it has a `take`, and is one of the package by its exact class: a subclass may change anything."""
    return hasattr(privatizer, "take") and any(type(privatizer) is PRIVATIZERS[name] for name in PRIVATIZERS)


def start(setup: Setup, seed: int, stochastic: bool) -> Any:
    """The state of the release before the first user."""
    privatizer: Any = setup.privatizer
    check_policy(privatizer, stochastic)
    return privatizer.start(setup.problem, setup.G, seed_stream(seed, "privacy"))


def release_of(privatizer: Any) -> Callable[[Any, Memory, Private, int], bool]:
    """The `take` of a privatizer as a plain function of the engine's arrays, for the loop of kernel.py."""
    take: Take = privatizer.take

    def release(state: Any, memory: Memory, private: Private, t: int) -> bool:
        """Take user t, whose trajectory memory has; True if what is noisy in `private` is new."""
        user = User(memory.s, memory.a, memory.r, memory.pi, places(private.places.place, private.N_sa, memory))
        return take(state, t, user, Noisy(private.flat, private.sd))

    return release


def places(place: Ints, N_sa: Floats, memory: Memory) -> Ints:
    """Which of its pair's counters the next state of every step has."""
    if place.ndim == 2:  # known when compiled: the other branch is left out
        (G, pairs), A = N_sa.shape, N_sa.shape[1] // memory.V.shape[1]
        for h in range(memory.a.size):
            pair = (h % G) * pairs + memory.s[h] * A + memory.a[h]
            memory.place[h] = place[pair, memory.s[h + 1]]
        return memory.place
    else:
        return memory.s[1:]
