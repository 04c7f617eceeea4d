"""NonPrivate: the true counts."""

import math
from dataclasses import dataclass

import numpy as np

from dpucbvi.counts import counters
from dpucbvi.privatizers.certificate import Certificate
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.protocol import Floats, Noise, Problem, User


@dataclass(frozen=True)
class NonPrivate:
    """No noise, so E = 0 and nothing is certified."""

    model = "none"
    families = "paper"
    sparse = True

    def noise_of(self, problem: Problem, G: int) -> Noise:
        return Noise(scale=0.0, E=0.0, terms=problem.K)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        return Certificate(self.model, math.inf, math.inf)

    def release(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> "TrueCounts":
        return TrueCounts(counters(*problem.shape(G)))


class TrueCounts:
    """The sum of all users' statistics."""

    def __init__(self, size: int):
        self.sum = np.zeros(size)

    def release(self, user: User) -> Floats:
        self.sum += user.sigma
        return self.sum.copy()


PRIVATIZERS.add("non_private", NonPrivate)
