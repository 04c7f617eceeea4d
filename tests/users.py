"""Users as a privatizer meets them, for tests."""

import numpy as np

import dpucbvi as dp


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
