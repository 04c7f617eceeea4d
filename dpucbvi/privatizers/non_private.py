"""NonPrivate: the true counts."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpucbvi.counts import Counting, add_user, counters, counting
from dpucbvi.privacy.certificate import Certificate
from dpucbvi.privatizers.arrays import PRIVATIZERS, Arrays
from dpucbvi.protocol import Floats, Noise, Noisy, Problem, User


class TrueSums(NamedTuple):
    """The sum of all users' statistics."""

    sum: Floats
    counting: Counting


def take(state: TrueSums, t: int, user: User, noisy: Noisy) -> bool:
    add_user(state.counting, state.sum, user)
    for i in range(3 * user.a.size):
        cell = state.counting.cells[i]
        noisy.counts[cell] = state.sum[cell]
    return True


@dataclass(frozen=True)
class NonPrivate(Arrays):
    """Counts without noise, so E = 0 and nothing is certified.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> dp.run(dp.riverswim(S=3, H=4), dp.UCBVI(), dp.NonPrivate(), K=5).certificate.model
    'none'
    """

    model = "none"
    families = "paper"
    sparse = True
    take = staticmethod(take)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        return Noise(scale=0.0, E=0.0, terms=problem.K)

    def certificate(self, problem: Problem, G: int) -> Certificate:
        return Certificate(self.model, math.inf, math.inf)

    def start(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> TrueSums:
        shape = problem.shape(G)
        return TrueSums(np.zeros(counters(*shape)), counting(shape, problem.H, self.families))


PRIVATIZERS.add("non_private", NonPrivate)
