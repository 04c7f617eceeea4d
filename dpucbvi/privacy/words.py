"""Where the bits of exact noise come from: 32-bit words, seeded or from the operating system.

A source hands out uniform words one after the other. It is made of arrays, which both engines read: a block of
words, of which block[at[0]:] are still to come. So with equal seeds both engines meet the same words in the
same order, even if they take turns on one source. A word has 32 bits because nearly every decision of exact.py
needs fewer.

    SeededWords   numpy's SFC64 from a named stream: repeats, so its noise hides nothing from who knows the seed
    SystemWords   the operating system's cryptographic generator: nothing to publish, nothing to repeat

What was read ahead before a fork is the parent's: the child reads words of its own.

Formal guarantees: none of its own. What exact.py proves holds for uniform independent words; SystemWords gives
them as far as the operating system's generator is secure, SeededWords for simulations only.
"""

import ctypes
import os
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dpucbvi.privacy.draws import generator, next_words
from dpucbvi.privacy.laplace import Words as Words64
from dpucbvi.protocol import Ints

HalfWords = NDArray[np.uint32]

BLOCK = 8192  # words read at a time
FORKS: Ints = np.zeros(1, np.int64)  # how often this process and those above it were forked


def _count_fork() -> None:
    FORKS[0] += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def _read(address: int, size: int, _flags: int) -> int:
    """Fill so many bytes at an address with the operating system's; returns how many."""
    ctypes.memmove(address, os.urandom(size), size)
    return size


_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
# What os.urandom calls, for compiled code to call. No Python runs there, so that no interrupt gets lost in it.
READER: Any = getattr(ctypes.CDLL(None) if os.name == "posix" else None, "getrandom", _SIGNATURE(_read))


class Stream(Protocol):
    """Words one after the other."""

    def __next__(self) -> int: ...


class Words(NamedTuple):
    """A source as arrays: an endless iterator of integers below 2^32."""

    block: HalfWords  # words are read into its second half; before them stand those that were left
    new: Words64  # the second half, as 64-bit words
    at: Ints  # at[0]: the next word of the block; at[1]: `forks` when it was read
    forks: Ints
    generator: Words64  # of seeded words; empty: they are the system's
    reader: int  # the address of a C function (address, size, flags), READER

    def __next__(self) -> int:
        if self.at[0] == self.block.size or self.at[1] != self.forks[0]:
            refill(self)
        self.at[0] += 1
        return int(self.block[self.at[0] - 1])


def refill(words: Words) -> None:
    """Read a new block, when no word is left."""
    if words.generator.size > 0:
        next_words(words.generator, words.new)
    else:
        words.new[:] = np.frombuffer(os.urandom(words.new.nbytes), np.uint64)
    words.at[0], words.at[1] = words.block.size // 2, words.forks[0]


class WordSource(Words):
    """A source that says what it is."""

    seeded: ClassVar[bool]

    def __new__(cls, seed: np.random.SeedSequence | None = None) -> Self:
        """The source of one run, whose privacy stream has this seed; the system's words take none from it."""
        forks, state = FORKS, np.zeros(0, np.uint64)
        if cls.seeded:
            assert seed is not None, "seeded words need a seed"
            forks, state = np.zeros(1, np.int64), generator(seed)
        reader = ctypes.cast(READER, ctypes.c_void_p).value or 0
        at = np.array([2 * BLOCK, forks[0]])  # nothing is read yet
        block = np.zeros(2 * BLOCK, np.uint32)
        return super().__new__(cls, block, block[BLOCK:].view(np.uint64), at, forks, state, reader)


class SeededWords(WordSource):
    """Words of a seeded SFC64 generator, two from each of its 64 bits: an experiment, not private."""

    seeded = True


class SystemWords(WordSource):
    """Words of the operating system's cryptographic generator."""

    seeded = False
