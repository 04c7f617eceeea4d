"""The release mode, `noise="exact"`: what a privatizer takes that has both kinds of noise (privacy/law.py)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpucbvi.counts import counters
from dpucbvi.errors import InputError, check_name
from dpucbvi.privacy.certificate import SIMULATION
from dpucbvi.privacy.exact import uniform_below
from dpucbvi.privacy.law import ExactDraws
from dpucbvi.privacy.words import Stream, SystemWords, Words, WordSource
from dpucbvi.privatizers.arrays import Arrays, Take
from dpucbvi.protocol import Ints, Noisy, Problem, User, cut_to_unit


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


# --- the release in integers ----------------------------------------------------------------------------------


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
        rounding = self.words.start(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 0)))
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
