"""How many episodes a run needs, at the least, before its first Q can leave its start.

A Q leaves its start, H or the steps left, where r̃ + P̃·Ṽ_{h+1} + b < Q⁰. Before any has left, Ṽ_{h+1} is what
Q starts with at every step but the last, where Ṽ_{H+1} = 0 and b has the fewest terms. So the first Q to leave
is one of the last step, and it leaves where

    r̃ + b(Ñ) < Q⁰_H,    r̃ ≥ 0,    b the bonus with a value to come of 0, which falls in Ñ.

An episode adds at most one visit to a pair of the last step, at most H if counts are pooled, so k episodes give
N ≤ k - 1 or H (k - 1) when the k-th is planned (the last user's counts are not there yet). And Ñ is at most
N̂ + E/4 + E/2 (Eq. 4 and 5), where N̂ ≤ N + E/4 if the noise is within its bound (confidence.bound_to_E); with a
factor f on E, that bound is E/(4f). The least such k is a lower bound on K:

    with the run's own ι and E, which grow with K; with every visit in one pair and no reward;
    unless the noise is beyond its bound, which has a probability of at most β/3.
"""

from typing import Any

import numpy as np

from dpucbvi.agents.register import Optimistic
from dpucbvi.bonus import bernstein_bonus
from dpucbvi.protocol import Counts, Setup

MOST_VISITS = 10**18
WITHIN_BAND = ("none", "closed_form", "cvxpy")  # post-processings that keep Ñ within E/4 + E/2 of N̂


class Visited:
    """In the place of private counts: one pair that was visited so often, and no reward."""

    G = 1

    def __init__(self, N: float):
        visits = np.full((1, 1, 1), N)
        self.counts = Counts(visits, visits[..., None], np.zeros((1, 1, 1)))

    def update(self, trajectory: object) -> Counts:
        return self.counts


def least_episodes(setup: Setup) -> int | None:
    """A lower bound on the K at which a Q leaves its start; None if there is none that can be told.

    It is for the package's own agents on counts that are not noisy or post-processed by the LP.
    """
    agent, noise = setup.agent, setup.noise
    private = setup.privatizer.model != "none"
    own_bonus = getattr(agent, "bonus", bernstein_bonus) is not bernstein_bonus  # it need not fall in Ñ
    if not isinstance(agent, Optimistic) or own_bonus or (private and agent.raw):
        return None
    if setup.postprocess not in WITHIN_BAND or (private and noise.factor <= 0.0):
        return None
    beyond = 0.75 * noise.E + 0.25 * noise.E / noise.factor if private else 0.0
    start = _last_Q(setup, 0.0)
    if _last_Q(setup, MOST_VISITS + beyond) >= start:
        return None
    low, high = 0, MOST_VISITS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _last_Q(setup, middle + beyond) < start else (middle, high)
    return -(-high // (setup.problem.H // setup.G)) + 1


def _last_Q(setup: Setup, N: float) -> float:
    """Q of a pair with these visits at the last step, as the second plan has it."""
    one_pair = setup.problem._replace(S=1, A=1, K=2)
    private: Any = Visited(N)
    algorithm: Any = setup.agent.algorithm(one_pair, private, setup.constants)
    next(algorithm)
    return float(algorithm.send(None).Q[-1, 0, 0])
