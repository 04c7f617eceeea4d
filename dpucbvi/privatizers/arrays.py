"""Releases made of arrays: a state, and a plain function that takes the next user, for both engines.

    start(problem, G, seed) -> state         a tuple of arrays, numbers and such tuples
    take(state, t, user, noisy) -> bool      takes user t; True if the counts in `noisy` are new

The reference engine calls `take`, the fast engine compiles it with every function that it calls. A privatizer
that offers these two has its release from `Arrays`. Each file of a privatizer ends in its entry in PRIVATIZERS.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpucbvi.counts import counters, shape_of
from dpucbvi.errors import InputError, Registry
from dpucbvi.protocol import Floats, Noisy, Privatizer, Problem, Release, Shape, User, depth_of

PRIVATIZERS: Registry[type[Privatizer]] = Registry("privatizer.name")

Take = Callable[[Any, int, User, Noisy], bool]


class Arrays:
    """A privatizer with `start` and `take`."""

    take: Take
    families: str
    one_action = False  # whether it takes only policies that choose one action per state

    def shape(self, problem: Problem, G: int) -> Shape:
        return shape_of(problem, G, self.families)

    def start(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Any:
        raise NotImplementedError

    def release(self, problem: Problem, G: int, seed: np.random.SeedSequence, *kind: Any) -> Release:
        """The release at work; with exact noise, `kind` may say what draws it."""
        return ArrayRelease(self, self.start(problem, G, seed, *kind), self.shape(problem, G))


def has_take(privatizer: Any) -> bool:
    """Whether it releases by `start` and `take`: no class below its `take` has `release`."""
    return depth_of(privatizer, "take") <= depth_of(privatizer, "release")


def take_of(privatizer: Any) -> Take:
    """The function that takes a privatizer's users: its `take`, or what that is with exact noise."""
    return privatizer.exact_take if getattr(privatizer, "exact", False) else privatizer.take


def check_policy(privatizer: Any, stochastic: bool) -> None:
    """Raise InputError for a policy of probabilities where actions are needed."""
    if stochastic and privatizer.one_action:
        raise InputError(f"privatizer: {privatizer.name} takes policies that choose one action per state")


class ArrayRelease:
    """A state and its function at work in plain Python."""

    def __init__(self, privatizer: Any, state: Any, shape: Shape):
        self.state, self.t = state, 0
        self.noisy = Noisy(np.zeros(counters(*shape)), np.zeros(math.prod(shape[:3])))
        self._privatizer, self._take, self._shape = privatizer, take_of(privatizer), shape

    def release(self, user: User) -> Floats | None:
        check_policy(self._privatizer, user.pi.ndim == 3)
        self.t += 1
        if self._take(self.state, self.t, user, self.noisy):
            return self.noisy.counts.copy()
        return None

    @property
    def sd(self) -> Floats:
        return self.noisy.sd.reshape(self._shape[:3])
