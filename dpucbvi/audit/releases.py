"""The attack on releases: which of two users was among the others, from all that is released, as it leaves."""

from typing import Any

import numpy as np

from dpucbvi.audit import replay, scores
from dpucbvi.audit.attack import Bounded, bounds_of
from dpucbvi.audit.replay import Played, Replay
from dpucbvi.audit.trials import Trials
from dpucbvi.audit.worlds import World
from dpucbvi.protocol import Floats, Setup

OTHERS = 24  # numbers that she does not move, and an attack looks at all the same


class Attack:
    """Two worlds that differ in the worst pair of users that a replay has found."""

    def __init__(self, setup: Setup, world: World, found: Replay, relation: str, rng: np.random.Generator):
        self._setup, self._found, self._rng = setup, found, rng
        self._pair = found.worst[relation]
        self._both = [world.with_user(self._pair.place, user) for user in (self._pair.one, self._pair.other)]
        self._seen = [replay.play(setup, one, found.responses.noise) for one in self._both]
        self._columns, self._moved = looked_at(*self._seen)
        self._trials = self._started(setup)

    def _started(self, setup: Setup) -> list[Trials]:
        return [Trials(setup, one, self._columns) for one in self._both]

    def draw(self, which: int, n: int) -> Floats:
        """What is seen in so many trials of one world."""
        return self._trials[which].draw(n, self._rng)

    def bounds(self, trials: int) -> list[Bounded]:
        """On ε, by the size of what is released and by the lowest bits of what she moves; then on μ, if any."""
        certificate = self._setup.certificate
        return bounds_of(self.draw, self._scores, trials, certificate.delta, certificate.delta > 0.0)

    def _scores(self, one: Floats, other: Floats) -> list[list[Any]]:
        sizes: list[Any] = [scores.learn(one, other)]
        if self._pair.shift.any():
            sizes.append(scores.likelihood_ratio(self._found, self._pair, self._seen[0].values, self._columns))
        elif scores.few_outcomes(one, other):
            sizes.append(scores.count(one, other))
        return [sizes, [scores.low_bits(one[:, : self._moved], other[:, : self._moved])]]

    def of(self, setup: Setup) -> "Attack":
        """The same attack on another privatizer, which pretends to be this one."""
        self._trials = self._started(setup)
        return self


def looked_at(one: Played, other: Played) -> tuple[np.ndarray, int]:
    """Which released numbers an attack looks at: those that she moves, their number, and some others."""
    n = min(one.values.size, other.values.size)
    moved = np.flatnonzero(one.values[:n] != other.values[:n])
    others = np.setdiff1d(np.arange(n), moved)[:OTHERS]
    return np.concatenate([moved, others]), max(moved.size, 1)
