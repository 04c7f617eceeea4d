"""Where the bits of exact noise come from: 32-bit words, seeded or from the operating system.

A source hands out uniform words one after the other. It keeps the words it has read ahead in `words`, of which
words[at:] are still to come. Both engines read there, and so with equal seeds they meet the same words in the
same order, even if they take turns on one source. A word has 32 bits because nearly every decision of exact.py
needs fewer, and reading the operating system's words is what its noise costs most.

    SeededWords   numpy's SFC64 from a named stream: repeats, so its noise hides nothing from who knows the seed
    SystemWords   the operating system's cryptographic generator: nothing to publish, nothing to repeat

Formal guarantees: none of its own. What exact.py proves holds for uniform independent words; SystemWords gives
them as far as the operating system's generator is secure, SeededWords for simulations only.
"""

import os
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

HalfWords = NDArray[np.uint32]

BLOCK = 8192  # words read at a time


class WordSource(ABC):
    """An endless iterator of integers below 2^32, with its buffer open to the compiled engine."""

    seeded: bool

    @classmethod
    def start(cls, seed: np.random.SeedSequence) -> "WordSource":
        """The source of one run, whose privacy stream has this seed."""
        raise NotImplementedError

    def __init__(self) -> None:
        self.words: HalfWords = np.empty(0, dtype=np.uint32)
        self.at = 0

    @abstractmethod
    def block(self) -> HalfWords:
        """The next words, BLOCK of them."""

    def __iter__(self) -> "WordSource":
        return self

    def __next__(self) -> int:
        words = self.words  # before `at`, which a fork sets back
        if self.at == len(words):
            self.refill()
        self.at += 1
        return int(self.words[self.at - 1])

    def refill(self) -> None:
        """Drop the words that were used, keep the others, and read another block behind them."""
        words = self.words
        self.words = np.concatenate([words[self.at :], self.block()])
        self.at = 0


class SeededWords(WordSource):
    """Words of a seeded SFC64 generator, two from each of its 64 bits: an experiment, not private."""

    seeded = True

    def __init__(self, seed: np.random.SeedSequence):
        super().__init__()
        self._generator = np.random.SFC64(seed)

    @classmethod
    def start(cls, seed: np.random.SeedSequence) -> "SeededWords":
        return cls(seed)

    def block(self) -> HalfWords:
        return self._generator.random_raw(BLOCK // 2).view(np.uint32)

    def __str__(self) -> str:
        return "seeded words: an experiment, not private"


class SystemWords(WordSource):
    """Words of the operating system's cryptographic generator.

    What was read ahead before a fork is the parent's: the child reads words of its own.
    """

    seeded = False

    @property
    def words(self) -> HalfWords:
        if self._owner != os.getpid():
            self.words, self.at = np.empty(0, dtype=np.uint32), 0
        return self._words

    @words.setter
    def words(self, words: HalfWords) -> None:
        self._words, self._owner = words, os.getpid()

    @classmethod
    def start(cls, seed: np.random.SeedSequence) -> "SystemWords":
        """No seed has anything to say here."""
        return cls()

    def block(self) -> HalfWords:
        return np.frombuffer(os.urandom(4 * BLOCK), dtype=np.uint32)

    def __str__(self) -> str:
        return "words of the operating system's cryptographic generator"
