"""Releases made of arrays: a state, and a plain function that takes the next user, for both engines.

    start(problem, G, seed) -> state         a tuple of arrays, numbers and such tuples
    take(state, t, user, noisy) -> bool      takes user t; True if the counts in `noisy` are new

The reference engine calls `take`, the fast engine compiles it with every function that it calls. A privatizer
that offers these two has its release from `Arrays`. Each file of a privatizer ends in its entry in PRIVATIZERS.

One with both kinds of noise (privacy/law.py) is a `ReleaseMode`, too: with `noise="exact"` its state and its
`take` are in integers, and `in_integers` stands around them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpucbvi.counts import counters, shape_of
from dpucbvi.errors import InputError, Registry, check_name
from dpucbvi.privacy.certificate import SIMULATION
from dpucbvi.privacy.exact import uniform_below
from dpucbvi.privacy.law import ExactDraws
from dpucbvi.privacy.words import Stream, SystemWords, Words, WordSource
from dpucbvi.protocol import (
    Floats,
    Ints,
    Noisy,
    Privatizer,
    Problem,
    Release,
    Shape,
    User,
    cut_to_unit,
    depth_of,
)

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


# --- the release mode, noise="exact" --------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ReleaseMode:
    """What a privatizer with both kinds of noise takes.

    `noise`: `simulation` (seeded, floating point) or `exact` (to publish). `words`: where exact noise has its
    bits from; a seeded source is for tests, and makes a simulation of it.
    """

    noise: str = SIMULATION
    words: type[WordSource] = field(default=SystemWords, repr=False)  # not a setting: never by config

    modes: ClassVar[tuple[str, ...]] = (SIMULATION, "exact")

    @property
    def exact(self) -> bool:
        return self.noise == "exact"

    def check_mode(self) -> None:
        check_name("noise", self.noise, self.modes)
        if not self.exact and self.words is not SystemWords:
            raise InputError("words: has no effect on simulated noise; it is for noise=exact")


class InIntegers(NamedTuple):
    """A release in integers: its state, and what it has released."""

    inner: Any
    released: Noisy  # rewards in units of 1/grid
    grid: int
    words: Words  # of the rounding of rewards, which shares none with the noise
    units: Ints  # scratch: a user's rewards


def in_integers(take: Take) -> Take:
    """The release that rounds a user's rewards to the grid, and hands out floats made of integers."""

    def taken(state: InIntegers, t: int, user: User, noisy: Noisy) -> bool:
        for h in range(user.a.size):
            state.units[h] = to_grid(user.r[h], state.grid, state.words)
        units: Any = state.units[: user.a.size]
        if not take(state.inner, t, User(user.s, user.a, units, user.pi, user.place), state.released):
            return False
        noisy.counts[:] = state.released.counts
        noisy.sd[:] = state.released.sd
        rewards = noisy.counts[noisy.counts.size - noisy.sd.size :]
        for row in range(rewards.size):
            rewards[row] /= state.grid  # in units of 1
        return True

    return taken


def to_grid(r: float, grid: int, words: Stream) -> int:
    """One of the two integers around grid·r, with this mean, r cut to [0, 1]; itself, if that is an integer.

    The binary digits of grid·r below the point, at most 53, are compared with uniform ones, 32 at a time.
    """
    r = cut_to_unit(r)
    x = grid * r
    below, nearest = int(x), int(x + 0.5)
    if nearest / grid == r:
        return nearest
    rest = x - below
    while rest > 0.0:
        rest *= 2.0**32
        digits, word = int(rest), uniform_below(2**32, words)
        if word != digits:
            return below + int(word < digits)
        rest -= digits
    return below


class AddedNoise(Arrays, ReleaseMode):
    """What a privatizer has in both modes that adds noise to sums."""

    exact_dtype: type = np.int64  # of what is handed on with exact noise

    def start(
        self, problem: Problem, G: int, seed: np.random.SeedSequence, kind: Callable[..., Any] = ExactDraws
    ) -> Any:
        """The state of the release, whose exact noise is drawn by the given kind of source."""
        source = self.source(problem, G, seed, kind)
        if not self.exact:
            return self.state(problem, G, source)
        grid, shape = self.grid(problem, G), self.shape(problem, G)
        released = Noisy(np.zeros(counters(*shape), self.exact_dtype), np.zeros(math.prod(shape[:3])))
        rounding = self.words(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 0)))
        units, inner = np.zeros(problem.H, np.int64), self.state(problem, G, source, grid)
        return InIntegers(inner, released, grid, Words._make(rounding), units)

    def source(self, problem: Problem, G: int, seed: np.random.SeedSequence, kind: Callable[..., Any]) -> Any:
        """Noise for every released counter, seeded or exact."""
        raise NotImplementedError

    def grid(self, problem: Problem, G: int) -> int:
        """With exact noise rewards are integers in units of 1/grid."""
        raise NotImplementedError

    def state(self, problem: Problem, G: int, source: Any, grid: int | None = None) -> Any:
        """The state of the release before its first user; in integers if there is a `grid`."""
        raise NotImplementedError

    @property
    def exact_take(self) -> Take:
        """`take` on integers."""
        return in_integers(self.take)


def is_exact(privatizer: object) -> bool:
    return isinstance(privatizer, ReleaseMode) and privatizer.exact
