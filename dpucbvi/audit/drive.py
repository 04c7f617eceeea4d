"""The compiled release of a privatizer, fed by hand: the same users again and again, other noise each time.

Nothing of the release is written again here. Its state is started as a run starts it, a trial sets it back and
gives its generator a state of the trial's own, users go in through the engine's memory, and what the release
has put out is copied after every user.

All arrays of a state lie in one tape, so that to set it back is to copy one array.
"""

from typing import Any, NamedTuple

import numpy as np

from dpucbvi.audit.neighbours import Users
from dpucbvi.engine.compiled import jit
from dpucbvi.engine.fast import FastRun, start
from dpucbvi.engine.releases import release
from dpucbvi.engine.state import Memory, Private
from dpucbvi.privatizers.laplace import Words
from dpucbvi.protocol import Floats, Setup

GENERATOR = 4  # words of SFC64: three of state, one that counts
TALLIES = ("asked", "moved", "where", "earned")  # of the local mechanisms that send answers, not sums


class Tape(NamedTuple):
    """A state whose arrays lie in one array, and that array as it was."""

    state: Any
    now: Words
    blank: Words


class Faults(NamedTuple):
    """How a broken release is driven: its noise again for every user, or without the noise it had kept."""

    rewind: bool
    forget: Floats  # an array of the state that is emptied before every user; empty if there is none


NO_FAULTS = Faults(False, np.zeros((0, 0)))


def on_tape(state: Any) -> Tape:
    """The state with its arrays moved to one tape; scratch that overlaps with itself stays where it is."""
    arrays = {
        name: value
        for name, value in state._asdict().items()
        if isinstance(value, np.ndarray) and 0 not in value.strides
    }
    tape, at, moved = np.zeros(sum(array.size for array in arrays.values()), dtype=np.uint64), 0, {}
    for name, array in arrays.items():
        moved[name] = tape[at : at + array.size].view(array.dtype).reshape(array.shape)
        moved[name][...] = array
        at += array.size
    return Tape(state._replace(**moved), tape, tape.copy())


def views(run: FastRun, state: Any) -> tuple[Floats, ...]:
    """What is seen after every user: the noisy counts; of a local mechanism that sends answers, the answers."""
    tallies = tuple(getattr(state, name).reshape(-1) for name in TALLIES if hasattr(state, name))
    if tallies:
        return tallies
    return (run.private.flat[run.private.flat.size - state.scale.size :],)


def generators(rng: np.random.Generator, trials: int) -> Words:
    """A generator's state for every trial: three random words, and its counter at 1."""
    words = rng.integers(0, 2**64, size=(trials, GENERATOR), dtype=np.uint64)
    words[:, -1] = 1
    return words


def begin(setup: Setup) -> FastRun:
    """The engine's arrays of a run of this setup; all users are shown action 0."""
    return start(setup, 0)


def releases(
    run: FastRun,
    tape: Tape,
    users: Users,
    trials: int,
    rng: np.random.Generator,
    faults: Faults = NO_FAULTS,
) -> Floats:
    """What is seen after every user of every trial: [trial, user, value]."""
    seen = views(run, tape.state)
    out = np.zeros((trials, len(users.s), sum(view.size for view in seen)))
    start_words = generators(rng, trials)
    play(tape.state, tape.now, tape.blank, start_words, users, run.memory, run.private, seen, faults, out)
    return out


@jit
def play(
    state: Any,
    now: Words,
    blank: Words,
    generators: Words,
    users: Users,
    memory: Memory,
    private: Private,
    views: tuple[Floats, ...],
    faults: Faults,
    out: Floats,
) -> None:
    for trial in range(out.shape[0]):
        now[:] = blank
        private.flat[:] = 0.0
        state.generator[:] = generators[trial]
        for t in range(users.s.shape[0]):
            memory.s[:] = users.s[t]
            memory.a[:] = users.a[t]
            memory.r[:] = users.r[t]
            if faults.rewind:
                state.generator[:] = generators[trial]
            if faults.forget.size > 0:
                faults.forget[:] = 0.0
            release(state, t + 1, memory, private)
            i = 0
            for view in views:
                for c in range(view.size):
                    out[trial, t, i] = view[c]
                    i += 1
