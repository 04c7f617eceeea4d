"""Seeded noise and coins as arrays: what a mechanism draws from, in either engine.

The generator is numpy's SFC64, kept as its four words so that a state is made of arrays alone. What needs the
bits of a word (`next_words`, `fill`) has a compiled version of its own in engine/noise.py, which gives the same
bits; everything else here is compiled as it stands.

Lattice. Noise and rewards are rounded to multiples of 2^-20, whose sums are exact below 2^33. Then
N + snapped(noise) is N + noise, rounded to the lattice whatever N is: its low bits do not tell N. x + 1.5·2^32
lies between 2^32 and 2^33, where floats are 2^-20 apart, for |x| < 2^31.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.elementary import exp
from dpucbvi.privacy.gaussian import gaussian_from_words
from dpucbvi.privacy.laplace import Words, laplace_from_words
from dpucbvi.protocol import Floats

LATTICE = 1.5 * 2.0**32  # its addition rounds to multiples of 2^-20


def snapped(x: Any) -> Any:
    """The lattice point nearest to x."""
    return (x + LATTICE) - LATTICE


class Draws(NamedTuple):
    """A seeded source of independent noises: scale × standard Laplace or normal variates."""

    generator: Words
    words: Words  # scratch
    scale: Floats  # of every coordinate
    gaussian: bool

    def draw(self, n: int) -> Floats:
        """The next n noises, one for each coordinate."""
        next_words(self.generator, self.words)
        standard = gaussian_from_words(self.words) if self.gaussian else laplace_from_words(self.words)
        return snapped(self.scale * standard[:n])


def seeded(seed: np.random.SeedSequence, scale: Floats, gaussian: bool) -> Any:
    """The source of a run whose privacy stream has this seed."""
    if isinstance(seed, Tape):
        return Recorded(seed, scale, gaussian)
    n = scale.size
    words = np.zeros(2 * ((n + 1) // 2) if gaussian else n, dtype=np.uint64)
    return Draws(generator(seed), words, scale, gaussian)


def another(seed: np.random.SeedSequence) -> np.random.SeedSequence:
    """The seed of a second source, independent of the first; a tape has the noise of both."""
    if isinstance(seed, Tape):
        return seed
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 1))


def generator(seed: np.random.SeedSequence) -> Words:
    """The four words (a, b, c, counter) of a new SFC64 generator."""
    return np.array(np.random.SFC64(seed).state["state"]["state"], dtype=np.uint64)


def next_words(generator: Words, words: Words) -> None:
    """Fill `words` with the generator's next words and advance it."""
    source = np.random.SFC64(0)
    source.state = {
        "bit_generator": "SFC64",
        "state": {"state": generator},
        "has_uint32": 0,
        "uinteger": 0,
    }
    words[:] = source.random_raw(words.size)
    generator[:] = source.state["state"]["state"]


def fill(source: Any, noise: np.ndarray) -> None:
    """Fill a vector with new noise: from Draws, or from anything else that can `draw`."""
    noise[:] = source.draw(noise.size)


def published(source: Any, values: np.ndarray) -> np.ndarray:
    """What leaves, before anything is made of it: an audit looks at it here, and may freeze it."""
    tape = getattr(source, "tape", None)
    return values if tape is None else tape.published(values)


# --- noise that is written down -------------------------------------------------------------------------------


class Tape(np.random.SeedSequence):
    """A seed whose noise is given, so that an audit can replay a release: `given(i, scale)` is the i-th vector.

    What was drawn is kept in `drawn`, as its scales and its law (True: Gaussian), and what was published in
    `left`; the i-th of `frozen` goes on in the place of what was published i-th.
    """

    def __init__(
        self, given: Callable[[int, Floats], Floats], entropy: int = 0, frozen: Sequence[np.ndarray] = ()
    ):
        super().__init__(entropy)
        self.given, self.drawn = given, list[tuple[Floats, bool]]()
        self.frozen, self.left = frozen, list[np.ndarray]()

    def draw(self, scale: Floats, gaussian: bool) -> Floats:
        self.drawn.append((scale.copy(), gaussian))
        return self.given(len(self.drawn) - 1, scale)

    def published(self, values: np.ndarray) -> np.ndarray:
        self.left.append(values.copy())
        return self.frozen[len(self.left) - 1] if len(self.left) <= len(self.frozen) else values


class Recorded(NamedTuple):
    """A source on tape, in the place of Draws."""

    tape: Tape
    scale: Floats
    gaussian: bool

    def draw(self, n: int) -> Floats:
        return self.tape.draw(self.scale[:n], self.gaussian)


# --- coins ----------------------------------------------------------------------------------------------------


def unit(word: np.uint64) -> float:
    """A uniform in [0, 1) from the top 53 bits of a word."""
    return float(word >> np.uint64(11)) * 2.0**-53


def answer_odds(epsilon: float, d: int) -> tuple[float, float]:
    """p of the true answer and q of each other one, of d answers: p + (d-1)q = 1 and p/q = e^ε."""
    away = exp(-epsilon)
    return 1.0 / (1.0 + (d - 1) * away), away / (1.0 + (d - 1) * away)


def randomised_response(truth: int, d: int, p: float, u: float, v: float) -> int:
    """The truth if u < p, else one of the d - 1 others, by v."""
    if u < p:
        return truth
    other = int(v * (d - 1))
    return other if other < truth else other + 1
