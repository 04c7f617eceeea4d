"""Releases made of arrays: a state, and a plain function that takes the next user, for both engines.

    start(problem, G, seed) -> state         a tuple of arrays, numbers and such tuples
    take(state, t, user, noisy) -> bool      takes user t; True if the counts in `noisy` are new

The reference engine calls `take`, the fast engine compiles it with every function that it calls. A privatizer
that offers these two has its release from `Arrays`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpucbvi.counts import counters, on_grid, shape_of
from dpucbvi.errors import InputError
from dpucbvi.protocol import Floats, Noisy, Problem, Release, Shape, User

Take = Callable[[Any, int, User, Noisy], bool]


class Arrays:
    """A privatizer with `start` and `take`."""

    take: Take
    families: str
    one_action = False  # whether it takes only policies that choose one action per state

    def start(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Any:
        raise NotImplementedError

    def release(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Release:
        return ArrayRelease(self, self.start(problem, G, seed), shape_of(problem, G, self.families))


def check_policy(privatizer: Any, stochastic: bool) -> None:
    """Raise InputError for a policy of probabilities where actions are needed."""
    if stochastic and privatizer.one_action:
        raise InputError(f"privatizer: {privatizer.name} takes policies that choose one action per state")


class ArrayRelease:
    """A state and its function at work in plain Python."""

    def __init__(self, privatizer: Any, state: Any, shape: Shape, dtype: type = np.float64):
        self.state, self.t = state, 0
        self.noisy = Noisy(np.zeros(counters(*shape), dtype), np.zeros(math.prod(shape[:3])))
        self._privatizer, self._shape = privatizer, shape

    def release(self, user: User) -> np.ndarray | None:
        check_policy(self._privatizer, user.pi.ndim == 3)
        self.t += 1
        if self._privatizer.take(self.state, self.t, user, self.noisy):
            return self.noisy.counts.copy()
        return None

    @property
    def sd(self) -> Floats:
        return self.noisy.sd.reshape(self._shape[:3])


class Published:
    """An exact release: rewards go in as integers, counts come out as floats; `last` has them as integers."""

    def __init__(self, release: Any, shape: Shape, grid: int):
        self.last: np.ndarray | None = None
        self.inner, self.grid = release, grid
        self._rewards = math.prod(shape[:3])

    def release(self, user: User) -> Floats | None:
        units: Any = np.array([on_grid(r, self.grid) for r in user.r], dtype=np.int64)
        released = self.inner.release(user._replace(r=units))
        if released is None:
            return None
        self.last = released
        counts = np.array(released, dtype=np.float64)
        counts[-self._rewards :] /= self.grid
        return counts

    @property
    def sd(self) -> Floats:
        return self.inner.sd
