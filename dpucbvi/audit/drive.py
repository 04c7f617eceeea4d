"""The compiled release of a privatizer, fed by hand: the same users again and again, other noise each time.

Nothing of the release is written again here. Its state is started as a run starts it, a trial sets it back and
gives its generator a state of the trial's own (or other noise, where all is made beforehand), users go in
through the engine's memory, and what the release has put out is copied after every user.

All arrays of a state lie in one tape, so that to set it back is to copy one array.

With exact noise the reference's release is fed, its noise drawn by compiled code. Its words are seeded, so that
an audit can be repeated.
"""

from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from dpucbvi.audit.neighbours import Users
from dpucbvi.engine.boxes import box, boxed_callback, call
from dpucbvi.engine.compiled import compiled
from dpucbvi.engine.exact import compiled_draws
from dpucbvi.engine.fast import FastRun, start
from dpucbvi.engine.releases import arguments_of, release_of
from dpucbvi.engine.state import Memory, arrays_of
from dpucbvi.mechanisms.square_root import Rows, noise_table
from dpucbvi.privacy.draws import seeded
from dpucbvi.privacy.laplace import Words
from dpucbvi.privacy.words import SeededWords, WordSource
from dpucbvi.privatizers.release_mode import is_exact
from dpucbvi.protocol import Floats, Setup, User

GENERATOR = 4  # words of SFC64: three of state, one that counts


class Tape(NamedTuple):
    """A state whose arrays lie in one array, and that array as it was."""

    state: Any
    now: Words
    blank: Words


class Faults(NamedTuple):
    """How a broken release is driven: its noise again for every user, or without the noise it had kept.

    `absent` is no fault: the place of a user who is not there, -1 if all are.
    """

    rewind: bool
    forget: Floats  # an array of the state that is emptied before every user; empty if there is none
    absent: int = -1


NO_FAULTS = Faults(False, np.zeros((0, 0)))


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


def views(run: FastRun, state: Any) -> tuple[Floats, ...]:
    """What is seen after every user: the noisy counts; of a local mechanism that sends answers, the answers."""
    if sends_answers(state):
        return tallies_of(state)
    return (run.private.flat[run.private.flat.size - state.source.scale.size :],)


def sends_answers(state: Any) -> bool:
    """Whether users send answers, not sums (privatizers/answers.py)."""
    return hasattr(state, "tallies")


def tallies_of(state: Any) -> tuple[np.ndarray, ...]:
    tallies = state.tallies
    return tallies.asked.reshape(-1), tallies.moved.reshape(-1), tallies.earned.reshape(-1)


def made_beforehand(state: Any) -> bool:
    """Whether all noise of a run is in the state."""
    return isinstance(getattr(state, "mechanism", None), Rows)


def source(state: Any) -> np.ndarray:
    """The array that a trial's noise comes from: the generator, or the noise itself."""
    if made_beforehand(state):
        return state.mechanism.table.noise.reshape(-1)
    return state.generator if sends_answers(state) else state.source.generator


def randomness(state: Any, rng: np.random.Generator, trials: int) -> np.ndarray:
    """What `source` holds in every trial."""
    if not made_beforehand(state):
        return generators(rng, trials)
    T, size = state.mechanism.table.noise.shape
    noise = seeded(
        np.random.SeedSequence(int(rng.integers(2**63))), np.tile(state.source.scale, trials), gaussian=True
    )
    table = noise_table(trials * size, T, noise)
    return np.ascontiguousarray(table.reshape(T, trials, size).swapaxes(0, 1)).reshape(trials, -1)


def generators(rng: np.random.Generator, trials: int) -> Words:
    """A generator's state for every trial: three random words, and its counter at 1."""
    words = rng.integers(0, 2**64, size=(trials, GENERATOR), dtype=np.uint64)
    words[:, -1] = 1
    return words


def begin(setup: Setup) -> FastRun:
    """The engine's arrays of a run of this setup; all users are shown action 0.

    With exact noise the state is that of the same release in floats, for its scales and sizes.
    """
    run, privatizer = start(setup, 0), cast(Any, setup.privatizer)
    if not is_exact(privatizer):
        return run
    if sends_answers(run.state.inner):
        return run._replace(state=run.state.inner)
    noise = privatizer.source(setup.problem, setup.G, np.random.SeedSequence(0))
    return run._replace(state=privatizer.state(setup.problem, setup.G, noise))


def releases(
    run: FastRun,
    tape: Tape,
    users: Users,
    trials: int,
    rng: np.random.Generator,
    faults: Faults = NO_FAULTS,
) -> Floats:
    """What is seen after every user of every trial: [trial, user, value]."""
    if is_exact(run.setup.privatizer):
        return exact_releases(run, users, trials, rng, faults.absent)
    return fed(run, tape, users, randomness(tape.state, rng, trials), faults)


def fed(run: FastRun, tape: Tape, users: Users, each: np.ndarray, faults: Faults) -> Floats:
    """`releases`, with the randomness of each trial given."""
    state, seen = tape.state, views(run, tape.state)
    out = np.zeros((len(each), len(users.s), sum(view.size for view in seen)))
    nobody = run.memory._replace(s=run.memory.s[:1], a=run.memory.a[:0], r=run.memory.r[:0])  # has no steps
    there, away = (box(*arguments_of(state, memory, run.private)) for memory in (run.memory, nobody))
    privatizer: Any = run.setup.privatizer
    release = boxed_callback(release_of(privatizer.take), there)
    who = (release.address, there.address, away.address)
    arrays = (tape.now, tape.blank, source(state), each, run.private.flat)
    compiled(feed)(who, arrays, users, run.memory, seen, faults, out)
    return out


class OneSource(SeededWords):
    """A source that goes on from one trial to the next: reading ahead for each would take most of the time."""

    def start(self, seed: np.random.SeedSequence) -> WordSource:  # type: ignore[override]
        return self


def exact_releases(run: FastRun, users: Users, trials: int, rng: np.random.Generator, absent: int) -> Floats:
    """`releases` of a privatizer with exact noise."""
    if absent >= 0:
        raise NotImplementedError("an exact release is attacked by replacing a user")
    problem, G, seed = run.setup.problem, run.setup.G, np.random.SeedSequence(int(rng.integers(2**63)))
    privatizer: Any = replace(run.setup.privatizer, words=OneSource(seed))  # type: ignore[type-var]
    people = [User(s, a, r, run.memory.pi, s[1:]) for s, a, r in zip(*users, strict=True)]
    seen = views(run, run.state)
    size = sum(view.size for view in seen)
    out = np.zeros((trials, len(people), size))
    drawn = () if sends_answers(run.state) else (compiled_draws,)
    for trial in out:
        made, last = privatizer.release(problem, G, seed, *drawn), np.zeros(size)
        for t, person in enumerate(people):
            counts = made.release(person)
            if sends_answers(run.state):
                last = np.concatenate(tallies_of(made.state.inner))
            elif counts is not None:
                last = counts[-size:]
            trial[t] = last
    return out


def feed(
    who: tuple[int, int, int],
    arrays: tuple[Words, Words, Any, Any, Floats],
    users: Users,
    memory: Memory,
    views: tuple[Floats, ...],
    faults: Faults,
    out: Floats,
) -> None:
    """Hand the users of every trial to the release and copy what is seen after each of them."""
    release, there, away = who
    now, blank, source, randomness, flat = arrays
    for trial in range(out.shape[0]):
        now[:] = blank
        flat[:] = 0.0
        source[:] = randomness[trial]
        for t in range(users.s.shape[0]):
            memory.s[:] = users.s[t]
            memory.a[:] = users.a[t]
            memory.r[:] = users.r[t]
            if faults.rewind:
                source[:] = randomness[trial]
            if faults.forget.size > 0:
                faults.forget[:] = 0.0
            call(release, away if t == faults.absent else there, t + 1)
            i = 0
            for view in views:
                for c in range(view.size):
                    out[trial, t, i] = view[c]
                    i += 1
