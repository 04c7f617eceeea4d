"""The same world again and again, with other noise each time: what an attacker sees in each of many trials.

A release made of arrays runs compiled, as in the fast engine: its state is started once, all its arrays lie in
one tape, and a trial sets the tape back and gives the generator a state of its own. Exact noise and what does
not compile are trials of the reference's release, in Python.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.audit.replay import release_of
from dpucbvi.audit.worlds import World
from dpucbvi.counts import counters, shape_of
from dpucbvi.engine.compiled import compiled, is_the_packages
from dpucbvi.engine.exact import compiled_draws
from dpucbvi.engine.state import arrays_of
from dpucbvi.privacy.laplace import Words
from dpucbvi.privacy.words import SeededWords, WordSource
from dpucbvi.privatizers.arrays import Take, has_take, is_exact
from dpucbvi.protocol import Floats, Ints, Noisy, Setup, User

GENERATOR = 4  # words of SFC64: three of state, one that counts


class Tape(NamedTuple):
    """A state whose arrays lie in one array, that array as it was, and where its generators' words are."""

    state: Any
    now: Words
    blank: Words
    seeds: Ints


def on_tape(state: Any) -> Tape:
    """The state with its arrays moved to one tape; scratch that overlaps with itself stays where it is."""
    arrays = {name: array for name, array in arrays_of("state", state) if 0 not in array.strides}
    tape, at, moved = np.zeros(sum(array.size for array in arrays.values()), dtype=np.uint64), 0, {}
    seeds = list[int]()
    for name, array in arrays.items():
        moved[name] = tape[at : at + array.size].view(array.dtype).reshape(array.shape)
        moved[name][...] = array
        seeds += range(at, at + array.size) if name.endswith(".generator") else ()
        at += array.size
    return Tape(_with_arrays("state", state, moved), tape, tape.copy(), np.array(seeds, dtype=np.int64))


def _with_arrays(name: str, part: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The tuple with these arrays in place of its own, by the names that arrays_of gives them."""
    if not hasattr(part, "_asdict"):
        return arrays.get(name, part)
    return part._make(_with_arrays(f"{name}.{key}", value, arrays) for key, value in part._asdict().items())


def generators(rng: np.random.Generator, trials: int, tape: Tape) -> Words:
    """The generators' states for every trial: of each three random words, and its counter at 1."""
    words = rng.integers(0, 2**64, size=(trials, tape.seeds.size), dtype=np.uint64)
    words[:, GENERATOR - 1 :: GENERATOR] = 1
    return words


def stacked(world: World, H: int) -> tuple[User, Ints]:
    """The users of a world as arrays, a row each, and how many steps of it count."""
    n = len(world.users)
    s, a, place = np.zeros((n, H + 1), np.int64), np.zeros((n, H), np.int64), np.zeros((n, H), np.int64)
    r, steps = np.zeros((n, H)), np.zeros(n, np.int64)
    for t, user in enumerate(world.people()):
        steps[t] = m = len(user.a)
        s[t, : m + 1], a[t, :m], r[t, :m], place[t, :m] = user.s, user.a, user.r, user.place
    return User(s, a, r, np.array(world.policies), place), steps


def feed_of(take: Take) -> Any:
    """The loop over trials and users around a `take`, to be compiled with it."""

    def feed(
        state: Any, arrays: Any, words: Words, stack: Any, noisy: Noisy, places: Any, seen: Floats
    ) -> None:
        (now, blank, seeds), (users, steps), (rows, cells) = arrays, stack, places
        for trial in range(seen.shape[0]):
            now[:] = blank
            for i in range(seeds.size):
                now[seeds[i]] = words[trial, i]
            row = 0
            for t in range(steps.size):
                n = steps[t]
                s, a, r, place = users.s[t, : n + 1], users.a[t, :n], users.r[t, :n], users.place[t, :n]
                if take(state, t + 1, User(s, a, r, users.pi[t], place), noisy):
                    for i in range(rows.size):
                        if rows[i] == row:
                            seen[trial, i] = noisy.counts[cells[i]]
                    row += 1

    return feed


class Trials:
    """Trials of one world: `draw(n, rng)` is what is seen in n of them, [trial, column]."""

    def __init__(self, setup: Setup, world: World, columns: Ints):
        self._setup, self._world = setup, world
        self._size = counters(*shape_of(setup.problem, setup.G, setup.privatizer.families))
        self._rows, self._cells = divmod(columns, self._size)  # which release, and which counter
        self.compiled = not is_exact(setup.privatizer) and has_take(setup.privatizer) and self._compile()

    def _compile(self) -> bool:
        """Compile, and compare a trial with one in Python; False if it does not compile, or is not the same."""
        setup: Any = self._setup
        first, second = np.random.SeedSequence(1), np.random.SeedSequence(2)
        try:
            self._tape = on_tape(setup.privatizer.start(setup.problem, setup.G, first))
            take = setup.privatizer.take
            self._feed = compiled(feed_of(take), boundscheck=not is_the_packages(take))  # one's own may err
            self._stack = stacked(self._world, setup.problem.H)
            other = on_tape(setup.privatizer.start(setup.problem, setup.G, second))
            seen = self._fed(other.now[other.seeds][None])[0]
        except Exception:  # numba has many, not all of one family
            return False
        return np.array_equal(seen, self._trial(setup.privatizer, second))

    def draw(self, trials: int, rng: np.random.Generator) -> Floats:
        if self.compiled:
            return self._fed(generators(rng, trials, self._tape))
        privatizer: Any = self._setup.privatizer
        seeds = [np.random.SeedSequence(int(word)) for word in rng.integers(2**63, size=trials)]
        if is_exact(privatizer):
            privatizer = replace(privatizer, words=OneSource(seeds[0]))
        return np.array([self._trial(privatizer, seed) for seed in seeds])

    def _fed(self, words: Words) -> Floats:
        seen, noisy = np.zeros((len(words), self._rows.size)), Noisy(np.zeros(self._size), np.zeros(self._size))
        state, now, blank, seeds = self._tape
        arrays, places = (now, blank, seeds), (self._rows, self._cells)
        self._feed(state, arrays, words, self._stack, noisy, places, seen)
        return seen

    def _trial(self, privatizer: Any, seed: np.random.SeedSequence) -> Floats:
        made, seen = release_of(privatizer, self._setup, seed, compiled_draws), np.zeros(self._rows.size)
        row = 0
        for user in self._world.people():
            released = made.release(user)
            if released is not None:
                seen[self._rows == row] = released[self._cells[self._rows == row]]
                row += 1
        return seen


class OneSource(SeededWords):
    """A source that goes on from one trial to the next: reading ahead for each would take most of the time."""

    def __call__(self, seed: np.random.SeedSequence) -> WordSource:
        return self
