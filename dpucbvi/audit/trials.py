"""The same world again and again, with other noise each time: what an attacker sees in each of many trials.

A release made of arrays runs compiled, as in the fast engine: its state is started once, all its arrays lie in
one tape, and a trial sets the tape back and gives the generator a state of its own. Exact noise, noise that is
made before the first user, and what does not compile are trials of the reference's release, in Python.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.audit.replay import release_of
from dpucbvi.audit.worlds import World
from dpucbvi.counts import counters
from dpucbvi.engine import exact
from dpucbvi.engine.compiled import compiled
from dpucbvi.engine.releases import Take
from dpucbvi.engine.state import arrays_of
from dpucbvi.engine.twins import has_take
from dpucbvi.privacy.laplace import Words
from dpucbvi.privacy.law import Samplers
from dpucbvi.privacy.words import SeededWords, WordSource
from dpucbvi.privatizers.release_mode import is_exact
from dpucbvi.protocol import Floats, Ints, Noisy, Setup, User

GENERATOR = 4  # words of SFC64: three of state, one that counts
COMPILED = Samplers(exact.ExactLaplace, exact.ExactGaussian, exact.ExactCoins)


class Tape(NamedTuple):
    """A state whose arrays lie in one array, and that array as it was."""

    state: Any
    now: Words
    blank: Words


def on_tape(state: Any) -> Tape:
    """The state with its arrays moved to one tape; scratch that overlaps with itself stays where it is."""
    arrays = {name: array for name, array in arrays_of("state", state) if 0 not in array.strides}
    tape, at, moved = np.zeros(sum(array.size for array in arrays.values()), dtype=np.uint64), 0, {}
    for name, array in arrays.items():
        moved[name] = tape[at : at + array.size].view(array.dtype).reshape(array.shape)
        moved[name][...] = array
        at += array.size
    return Tape(_with_arrays("state", state, moved), tape, tape.copy())


def _with_arrays(name: str, part: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The same tuple with these arrays, by the names that arrays_of gives them."""
    if not hasattr(part, "_asdict"):
        return arrays.get(name, part)
    return part._make(_with_arrays(f"{name}.{key}", value, arrays) for key, value in part._asdict().items())


def generators(rng: np.random.Generator, trials: int) -> Words:
    """A generator's state for every trial: three random words, and its counter at 1."""
    words = rng.integers(0, 2**64, size=(trials, GENERATOR), dtype=np.uint64)
    words[:, -1] = 1
    return words


def generator_of(state: Any) -> Words:
    """The one array of a state that its seed is in."""
    (found,) = (array for name, array in arrays_of("state", state) if name.endswith(".generator"))
    return found


class Users(NamedTuple):
    """The users of a world as arrays, a row each, of which `steps` count."""

    s: Ints
    a: Ints
    r: Floats
    steps: Ints
    pi: np.ndarray


def users_of(world: World, H: int) -> Users:
    n = len(world.users)
    s, a, r = np.zeros((n, H + 1), np.int64), np.zeros((n, H), np.int64), np.zeros((n, H))
    steps = np.array([len(user.a) for user in world.users])
    for t, user in enumerate(world.users):
        s[t, : len(user.s)], a[t, : len(user.a)], r[t, : len(user.r)] = user
    return Users(s, a, r, steps, np.array(world.policies))


def feed_of(take: Take) -> Any:
    """The loop over trials and users around a `take`, to be compiled with it."""

    def feed(
        state: Any, arrays: Any, words: Words, users: Users, noisy: Noisy, places: Any, seen: Floats
    ) -> None:
        (now, blank, generator), (rows, cells) = arrays, places
        for trial in range(seen.shape[0]):
            now[:] = blank
            generator[:] = words[trial]
            row = 0
            for t in range(users.steps.size):
                n = users.steps[t]
                s, a, r = users.s[t, : n + 1], users.a[t, :n], users.r[t, :n]
                if take(state, t + 1, User(s, a, r, users.pi[t], s[1:]), noisy):
                    for i in range(rows.size):
                        if rows[i] == row:
                            seen[trial, i] = noisy.counts[cells[i]]
                    row += 1

    return feed


class Trials:
    """Trials of one world: `draw(n, rng)` is what is seen in n of them, [trial, column]."""

    def __init__(self, setup: Setup, world: World, columns: Ints):
        self._setup, self._world = setup, world
        self._size = counters(*setup.problem.shape(setup.G))
        self._places = divmod(columns, self._size)  # which release, and which counter
        self.compiled = self._compile()

    def _compile(self) -> bool:
        """Whether the trials run compiled; compiles them."""
        setup: Any = self._setup
        if is_exact(setup.privatizer) or not has_take(setup.privatizer):
            return False
        one, other = (
            setup.privatizer.start(setup.problem, setup.G, np.random.SeedSequence(seed)) for seed in (1, 2)
        )
        for (name, left), (_, right) in zip(_all_arrays(one), _all_arrays(other), strict=True):
            if not name.endswith(".generator") and not np.array_equal(left, right):
                return False  # noise is drawn before the first user
        try:
            self._tape, self._feed = on_tape(one), compiled(feed_of(setup.privatizer.take))
            self._arrays = (self._tape.now, self._tape.blank, generator_of(self._tape.state))
            self._users = users_of(self._world, setup.problem.H)
            self._feed_compiled(np.zeros((1, len(self._places[0]))), np.random.default_rng(0))
        except Exception:  # numba has many, not all of one family
            return False
        return True

    def draw(self, trials: int, rng: np.random.Generator) -> Floats:
        seen = np.zeros((trials, len(self._places[0])))
        (self._feed_compiled if self.compiled else self._feed_in_python)(seen, rng)
        return seen

    def _feed_compiled(self, seen: Floats, rng: np.random.Generator) -> None:
        noisy, words = Noisy(np.zeros(self._size), np.zeros(self._size)), generators(rng, len(seen))
        self._feed(self._tape.state, self._arrays, words, self._users, noisy, self._places, seen)

    def _feed_in_python(self, seen: Floats, rng: np.random.Generator) -> None:
        privatizer: Any = self._setup.privatizer
        people, (rows, cells) = self._world.people(), self._places
        if is_exact(privatizer):
            privatizer = replace(privatizer, words=OneSource(np.random.SeedSequence(int(rng.integers(2**63)))))
        for trial in seen:
            seed, row = np.random.SeedSequence(int(rng.integers(2**63))), 0
            made = release_of(privatizer, self._setup, seed, COMPILED)
            for user in people:
                released = made.release(user)
                if released is not None:
                    trial[rows == row] = released[cells[rows == row]]
                    row += 1


def _all_arrays(part: Any, name: str = "") -> list[tuple[str, np.ndarray]]:
    if isinstance(part, np.ndarray):
        return [(name, part)]
    if not hasattr(part, "_asdict"):
        return []
    return [found for key, value in part._asdict().items() for found in _all_arrays(value, f"{name}.{key}")]


class OneSource(SeededWords):
    """A source that goes on from one trial to the next: reading ahead for each would take most of the time."""

    def start(self, seed: np.random.SeedSequence) -> WordSource:  # type: ignore[override]
        return self
