"""The local model, exactly: the law of a user's message, every outcome of her coins with its probability.

A privatizer whose users answer with exact coins asks them for uniform integers and random answers. Here
the coins are branches: each is taken once, and what a message is worth is the product of its branches. The ε of
the largest ratio of two users' laws is that of the mechanism, not a bound.
"""

import math
from types import FunctionType
from typing import Any

import numpy as np

from dpucbvi.audit.worlds import candidates, place
from dpucbvi.counts import FAMILIES, counters
from dpucbvi.engine.compiled import bound
from dpucbvi.protocol import Noisy, Setup, User

FEW = 64  # outcomes of a uniform integer that are branches of their own; of more, only comparisons are
Law = dict[bytes, float]


class Branches:
    """Coins that take the branches of `path`, and then the first ones; `open` has how many each offered."""

    def __init__(self, path: list[int]):
        self.path, self.open, self.chance = path, list[int](), 1.0

    def branch(self, chances: list[float]) -> int:
        """One of these outcomes; those that cannot be are left out."""
        possible = [i for i, chance in enumerate(chances) if chance > 0.0]
        chosen = self.path[len(self.open)] if len(self.open) < len(self.path) else 0
        self.open.append(len(possible))
        self.chance *= chances[possible[chosen]]
        return possible[chosen]

    def uniform_below(self, n: int, _words: Any) -> Any:
        return self.branch([1.0 / n] * n) if n <= FEW else Uniform(self, n)

    def response(self, truth: int, d: int, n: int, m: int, _words: Any) -> int:
        weights = [1.0 if x == truth else math.exp(-n / m) for x in range(d)]
        return self.branch([weight / sum(weights) for weight in weights])

    def to_grid(self, r: float, grid: int, _words: Any) -> int:
        below, rest = divmod(grid * r, 1.0)
        return int(below) + self.branch([1.0 - rest, rest])

    def in_place_of_words(self, take: Any) -> Any:
        """The `take` of an exact release, and all that it calls in its module, with these coins."""
        coins = {name: getattr(self, name) for name in ("uniform_below", "response", "to_grid")}
        of_module = {
            name: bound(f, **coins)
            for name, f in take.__globals__.items()
            if isinstance(f, FunctionType) and f.__module__ == take.__module__
        }
        return bound(take, **coins, **of_module)


class Uniform:
    """A uniform integer below a large n, which is only compared."""

    def __init__(self, coins: Branches, n: int):
        self._coins, self._n = coins, n

    def __lt__(self, least: int) -> bool:
        return self._coins.branch([least / self._n, 1.0 - least / self._n]) == 0


def law(setup: Setup, user: User) -> Law:
    """Every message with its probability, path by path."""
    privatizer: Any = setup.privatizer
    size, path = counters(*privatizer.shape(setup.problem, setup.G)), list[int]()
    found: Law = {}
    while path is not None:
        coins, state = Branches(path), privatizer.start(setup.problem, setup.G, np.random.SeedSequence(0))
        coins.in_place_of_words(privatizer.exact_take)(state, 1, user, Noisy(np.zeros(size), np.zeros(size)))
        tallies = state.inner.tallies
        message = b"".join(part.tobytes() for part in (tallies.asked, tallies.moved, tallies.earned))
        found[message] = found.get(message, 0.0) + coins.chance
        path = _next(coins)
    return found


def _next(coins: Branches) -> Any:
    """The next path in order; None after the last."""
    taken = (coins.path + [0] * len(coins.open))[: len(coins.open)]
    while taken:
        if taken[-1] + 1 < coins.open[len(taken) - 1]:
            return [*taken[:-1], taken[-1] + 1]
        taken.pop()
    return None


def largest_ratios(setup: Setup, pi: np.ndarray, rng: np.random.Generator) -> dict[str, tuple[float, int]]:
    """ε under each relation, over so many pairs of users."""
    joint = setup.problem.S * FAMILIES[setup.privatizer.families].joint
    people = candidates(setup.problem, pi, rng)
    laws = [law(setup, User(*user, pi, place(user, joint))) for user in people]
    messages = sorted({message for one in laws for message in one})
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log([[one.get(message, 0.0) for message in messages] for one in laws])
        apart = np.nan_to_num(np.abs(logs - logs[0]), nan=0.0, posinf=np.inf).max()
        spread = (logs.max(axis=0) - logs.min(axis=0)).max()
    return {"replace_one": (float(spread), len(people) ** 2), "add_remove": (float(apart), len(people))}
