"""Coins from the privacy stream, and what the local mechanisms do with them: randomised response."""

import math

import numpy as np

from dpucbvi.privatizers.laplace import Words


class Coins:
    """Raw 64-bit words from one seeded SFC64 generator."""

    def __init__(self, seed: np.random.SeedSequence):
        self._words = np.random.SFC64(seed)

    def words(self, n: int) -> Words:
        return self._words.random_raw(n)

    def state(self) -> Words:
        """The generator's four words, for the compiled engine to go on from."""
        return np.array(self._words.state["state"]["state"], dtype=np.uint64)


def unit(word: np.uint64) -> float:
    """A uniform in [0, 1) from the top 53 bits of a word."""
    return float(word >> np.uint64(11)) * 2.0**-53


def answer_odds(epsilon: float, d: int) -> tuple[float, float]:
    """p of the true answer and q of each other one, of d answers: p + (d-1)q = 1 and p/q = e^ε."""
    away = math.exp(-epsilon)
    return 1.0 / (1.0 + (d - 1) * away), away / (1.0 + (d - 1) * away)


def randomised_response(truth: int, d: int, p: float, u: float, v: float) -> int:
    """The truth if u < p, else one of the d - 1 others, by v."""
    if u < p:
        return truth
    other = int(v * (d - 1))
    return other if other < truth else other + 1
