"""Worlds that differ in one user: who comes, which policies they are shown, and who else she might have been.

A user may send any states, actions and rewards, whether or not she follows her policy; fewer than H steps; or
nothing, which is how a user is removed: her place stays, and adds nothing.
"""

from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.counts import FAMILIES, NO_STEPS
from dpucbvi.mdp import Trajectory
from dpucbvi.protocol import Ints, Problem, Setup, User

MOST_USERS = 300  # who are tried in one place; if there are more, those who stay and others drawn at random


class World(NamedTuple):
    """All of a run but its noise."""

    users: tuple[Trajectory, ...]  # those whose data is read: 1..K-1
    policies: tuple[np.ndarray, ...]
    joint: int = 0  # S, if next state and reward are counted as one symbol

    def with_user(self, place: int, user: Trajectory) -> "World":
        return self._replace(users=(*self.users[:place], user, *self.users[place + 1 :]))

    def people(self) -> list[User]:
        """The users as a privatizer meets them."""
        pairs = zip(self.users, self.policies, strict=True)
        return [User(*user, pi, place(user, self.joint)) for user, pi in pairs]


def place(user: Trajectory, joint: int) -> Ints:
    """Which of its pair's counters each step has; rewards are 0 or 1 here, and so need no coins."""
    return user.s[1:] + joint * user.r.astype(np.int64)


def world(setup: Setup, rng: np.random.Generator, stochastic: bool) -> World:
    """Users at random, and policies that change now and then: they are public, and may be any."""
    policies = [policy(setup.problem, rng, stochastic)]
    while len(policies) < setup.problem.K - 1:
        policies.append(policies[-1] if rng.random() < 0.5 else policy(setup.problem, rng, stochastic))
    users = tuple(any_user(setup.problem, pi, rng) for pi in policies)
    return World(users, tuple(policies), setup.problem.S * FAMILIES[setup.privatizer.families].joint)


def policy(problem: Problem, rng: np.random.Generator, stochastic: bool) -> np.ndarray:
    """One action for every step and state, or probabilities, of which some are 0."""
    H, S, A = problem[:3]
    if not stochastic:
        return rng.integers(A, size=(H, S))
    weights = rng.random((H, S, A)) * (rng.random((H, S, A)) < 0.7) + np.eye(A)[rng.integers(A, size=(H, S))]
    return weights / weights.sum(axis=-1, keepdims=True)


def follow(pi: np.ndarray, s: Any) -> np.ndarray:
    """The actions of who follows the policy through these states, the likeliest ones."""
    chosen = pi if pi.ndim == 2 else pi.argmax(axis=-1)
    return np.array([chosen[h, s[h]] for h in range(len(pi))], dtype=np.int64)


def following(pi: np.ndarray, s: Any, reward: float) -> Trajectory:
    """Who follows the policy through these states, and earns the same at every step."""
    return Trajectory(s, follow(pi, s), np.full(len(pi), reward))


def repeating(problem: Problem, s: int, a: int, reward: float) -> Trajectory:
    """Who stays in a state and repeats one action: all her visits fall into one cell of pooled counts."""
    H = problem.H
    return Trajectory(np.full(H + 1, s), np.full(H, a), np.full(H, reward))


def two_who_stay(problem: Problem, pi: np.ndarray) -> list[Trajectory]:
    """Two users who stay in different states, both paid."""
    return [following(pi, np.full(problem.H + 1, s), 1.0) for s in (0, problem.S - 1)]


def any_user(problem: Problem, pi: np.ndarray, rng: np.random.Generator) -> Trajectory:
    H, S, A = problem[:3]
    s = rng.integers(S, size=H + 1)
    a = follow(pi, s) if rng.random() < 0.5 else rng.integers(A, size=H)
    n = H if rng.random() < 0.9 else int(rng.integers(1, H + 1))
    return Trajectory(s[: n + 1], a[:n], rng.integers(2, size=H).astype(np.float64)[:n])


def candidates(problem: Problem, pi: np.ndarray, rng: np.random.Generator) -> list[Trajectory]:
    """Nobody, and then all users with rewards 0 and 1 if they are few; else those who stay, and random ones."""
    H, S, A = problem[:3]
    if S ** (H + 1) * (2 * A) ** H <= MOST_USERS:
        every = product(
            product(range(S), repeat=H + 1), product(range(A), repeat=H), product((0.0, 1.0), repeat=H)
        )
        return [NO_STEPS, *(Trajectory(np.array(s), np.array(a), np.array(r)) for s, a, r in every)]
    still = [
        following(pi, states, reward)
        for state in range(min(S, MOST_USERS // 8))
        for states in (np.full(H + 1, state), (state + np.arange(H + 1)) % S)
        for reward in (0.0, 1.0)
    ]
    cells = islice(product(range(S), range(A)), MOST_USERS // 8)
    still += [repeating(problem, state, action, reward) for state, action in cells for reward in (0.0, 1.0)]
    return [NO_STEPS, *still, *(any_user(problem, pi, rng) for _ in range(MOST_USERS - len(still)))]
