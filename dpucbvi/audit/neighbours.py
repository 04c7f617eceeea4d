"""Two users who are as easy to tell apart as any two can be, and the others around them.

All users follow one public policy, so a user is her states and rewards. Of all pairs of users with rewards 0
and 1 the one with the largest privacy loss is taken, worked out through the real feature code:

    Laplace    Σ_c |σ(c) - σ'(c)| / b_c         Gaussian    Σ_c (σ(c) - σ'(c))² / s_c²

and among equals the one that moves fewest counters, since each is one more noise between the attacker and the
sum. Two users in different cells, or one cell with rewards 1 against 0: sensitivity.py has the proof. If the
second user is not there, σ' = 0.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

from dpucbvi.counts import FAMILIES, statistics
from dpucbvi.mdp import Trajectory
from dpucbvi.protocol import Floats, Ints, Setup

TINY = 4096  # trajectories that are worth trying all


class Users(NamedTuple):
    """One trajectory a row."""

    s: Ints
    a: Ints
    r: Floats

    def pick(self, rows: Ints) -> "Users":
        s, a, r = self.s[rows], self.a[rows], self.r[rows]
        return Users(np.ascontiguousarray(s), np.ascontiguousarray(a), np.ascontiguousarray(r))


def all_users(H: int, S: int, pi: Ints | Floats) -> Users:
    """Every user who follows the policy, with rewards 0 and 1."""
    rows = [
        (states, [int(pi[h, states[h]]) for h in range(H)], rewards)
        for states in product(range(S), repeat=H + 1)
        for rewards in product((1.0, 0.0), repeat=H)
    ]
    s, a, r = zip(*rows, strict=True)
    return Users(np.array(s, dtype=np.int64), np.array(a, dtype=np.int64), np.array(r, dtype=np.float64))


def how_many(H: int, S: int) -> int:
    return int(S ** (H + 1) * 2**H)


def features(setup: Setup, users: Users, clipped: bool = True) -> Floats:
    """σ of every user, the released counters only."""
    shape, privatizer = (setup.G, setup.problem.S, setup.problem.A), setup.privatizer
    families, clip = FAMILIES[privatizer.families], getattr(privatizer, "clip", None) if clipped else None
    rows = [statistics(Trajectory(*user), *shape, families, clip) for user in zip(*users, strict=True)]
    return np.array(rows)[:, families.released(*shape, families.cells(shape[1]))]


def worst_pair(sigma: Floats, scale: Floats, gaussian: bool) -> tuple[int, int]:
    """The rows of the two users with the largest loss."""
    best, found = (-1.0, 0), (0, 0)
    for i, one in enumerate(sigma):
        change = np.abs(sigma - one) / scale
        loss = np.round((change**2 if gaussian else change).sum(axis=1), 9)
        moved = (change > 0.0).sum(axis=1)
        j = int(np.lexsort((moved, -loss))[0])
        if (key := (float(loss[j]), -int(moved[j]))) > best:
            best, found = key, (i, j)
    return found


def largest(sigma: Floats, scale: Floats, gaussian: bool) -> int:
    """The row of the user who is farthest from one who is not there."""
    loss = np.abs(sigma) / scale
    loss = np.round((loss**2 if gaussian else loss).sum(axis=1), 9)
    return int(np.lexsort(((sigma != 0.0).sum(axis=1), -loss))[0])


def apart(users: Users) -> tuple[int, int]:
    """Two users who share no state: for mechanisms that send one of their visits."""
    first, last = users.s.min(), users.s.max()
    paid = users.r.all(axis=1)
    one, other = (np.flatnonzero((users.s == state).all(axis=1) & paid)[0] for state in (first, last))
    return int(one), int(other)
