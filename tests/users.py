"""Users as a privatizer meets them, releases that are made up and noise that is none, for tests."""

import numpy as np

import dpucbvi as dp
from dpucbvi.mdp import Trajectory

NOBODY = Trajectory(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))


class Silence:
    """A source of no noise: releases show the true sums."""

    def draw(self, n):
        return np.zeros(n)


class Fixed:
    """Releases that are made up, in turn, the last again and again; the sd is what zeroing reads."""

    def __init__(self, *flats, sd=None):
        self.flats, self.sd = list(flats), sd

    def release(self, user):
        return self.flats.pop(0) if len(self.flats) > 1 else self.flats[0]


def user_of(trajectory, pi):
    """A user who may go to every state."""
    return dp.User(*trajectory, pi, trajectory.s[1:])


def shown_pairs(pi, G, S, A):
    """The pairs [g, s, a] that a user who follows the policy may visit."""
    chosen = np.eye(A, dtype=bool)[pi] if pi.ndim == 2 else pi > 0.0
    return chosen if G > 1 else np.any(chosen, axis=0, keepdims=True)


def true_counts(H, S, A, G):
    """A release of the users' sums as they are."""
    return dp.NonPrivate().release(dp.Problem(H, S, A, 2, 0.1), G, np.random.SeedSequence(0))
