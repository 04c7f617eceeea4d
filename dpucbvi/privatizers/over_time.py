"""Counts that are released again and again while users come: the mechanisms of mechanisms/ on every counter.

Releasing after every `every` users only makes the items sums of so many users, of whom one changes: the budget
is the same and T is smaller. Between two releases the counts lag by at most `every` - 1 users, who add to E as
noise does. Adaptive data (a user's actions depend on earlier releases): for Laplace, shifting z by the column
of C times the change of the item is a shear, which leaves all earlier releases and the law of z but for e^ε;
for Gaussian, Denisov et al. (2022), Theorem 2.1.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.counts import Counting, add_user, counters, counting
from dpucbvi.mechanisms import Next, NextEstimate
from dpucbvi.privacy.certificate import NOTHING, Scales
from dpucbvi.privatizers.arrays import Take
from dpucbvi.privatizers.noisy_sums import NoisySums, add_noise
from dpucbvi.protocol import Noisy, Problem, User


class RunningSums(NamedTuple):
    """The users' sums, and the noise on them."""

    sum: np.ndarray
    mechanism: Any
    source: Any
    counting: Counting
    unit_sd: float
    every: int

    def seek(self, users: int) -> None:
        self.mechanism.seek(users // self.every)


def running_sums(next_noise: Next) -> Take:
    """The release of running sums with the noise of a mechanism."""

    def take(state: RunningSums, t: int, user: User, noisy: Noisy) -> bool:
        add_user(state.counting, state.sum, user)
        if t % state.every:
            return False
        noise, variance = next_noise(state.mechanism, state.source)
        add_noise(state.sum, noise, state.counting.first, noisy.counts)
        noisy.sd[:] = state.unit_sd * math.sqrt(variance)
        return True

    return take


def estimated_sums(next_estimate: NextEstimate) -> Take:
    """The release of running sums as the estimates that a mechanism makes of noisy integers."""

    def take(state: RunningSums, t: int, user: User, noisy: Noisy) -> bool:
        add_user(state.counting, state.sum, user)
        if t % state.every:
            return False
        first, end = state.counting.first, state.counting.end
        estimates, variance = next_estimate(state.mechanism, state.source, state.sum[first:end])
        noisy.counts[first:end] = estimates
        noisy.sd[:] = state.unit_sd * math.sqrt(variance)
        return True

    return take


class OverTime(NoisySums):
    """A mechanism on every counter."""

    def mechanism(self, size: int, T: int, source: Any, dtype: type) -> Any:
        """Its state before the first of T releases."""
        raise NotImplementedError

    def scales(self, problem: Problem, G: int = 1) -> Scales:
        return super().scales(problem, G) if self.releases(problem) else NOTHING

    def state(self, problem: Problem, G: int, source: Any, grid: int | None = None) -> RunningSums:
        shape, dtype = self.shape(problem, G), np.float64 if grid is None else np.int64
        tally = counting(shape, problem.H, self.families, self.clip, grid)
        size = tally.end - tally.first
        mechanism = self.mechanism(size, self.releases(problem), source, dtype)
        sums, unit_sd = np.zeros(counters(*shape), dtype), self.unit_sd(problem, G)
        return RunningSums(sums, mechanism, source, tally, unit_sd, self.every)
