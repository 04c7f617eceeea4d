"""The compiled releases: a privatizer's own `take` (privatizers/arrays.py) on the engine's memory."""

from collections.abc import Callable
from typing import Any

from dpucbvi.counts import add_bits
from dpucbvi.engine.exact import compiled_draws
from dpucbvi.engine.state import Memory, Private
from dpucbvi.privacy.laplace import privacy_stream
from dpucbvi.privatizers.arrays import Take, check_policy
from dpucbvi.privatizers.release_mode import AddedNoise, is_exact
from dpucbvi.protocol import Ints, Noisy, Setup, User


def start(setup: Setup, seed: int, stochastic: bool) -> Any:
    """The state of the release before the first user."""
    privatizer: Any = setup.privatizer
    check_policy(privatizer, stochastic)
    drawn = (compiled_draws,) if is_exact(privatizer) and isinstance(privatizer, AddedNoise) else ()
    return privatizer.start(setup.problem, setup.G, privacy_stream(setup, seed), *drawn)


def arguments_of(state: Any, memory: Memory, private: Private) -> tuple[Any, ...]:
    """What a release reads and writes, but for the number of its user."""
    return state, memory, Noisy(private.flat, private.sd), private.after


def release_of(take: Take) -> Callable[[Any, Memory, Noisy, Ints, int], int]:
    """The `take` of a privatizer as a plain function of the engine's arrays, for the loop of kernel.py."""

    def release(state: Any, memory: Memory, noisy: Noisy, after: Ints, t: int) -> int:
        """Take user t, whose trajectory memory has; 1 if what is in `noisy` is new."""
        cells = noisy.counts.size // noisy.sd.size - 2
        place_of = symbols(places(after, memory), memory, cells // 2)
        user = User(memory.s, memory.a, memory.r, memory.pi, place_of)
        return int(take(state, t, user, noisy))

    return release


def symbols(moves: Ints, memory: Memory, D: int) -> Ints:
    """The places with the reward's bit in them, where symbols are counted."""
    if memory.rounding.generator.size == 0:
        return moves
    memory.place[:] = moves
    add_bits(memory.rounding, memory.r, D, memory.place)
    return memory.place


def places(after: Ints, memory: Memory) -> Ints:
    """Which of its pair's counters the next state of every step has: the first, if it has none (support.py)."""
    if after.ndim == 3:  # known when compiled: the other branch is left out
        G, D, pairs = after.shape
        for h in range(memory.a.size):
            pair = memory.s[h] * (pairs // memory.V.shape[1]) + memory.a[h]
            memory.place[h] = 0
            for d in range(1, D):
                if after[h % G, d, pair] == memory.s[h + 1]:
                    memory.place[h] = d
        return memory.place
    else:
        return memory.s[1:]
