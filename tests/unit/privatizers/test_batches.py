"""Batches: when they end, and noise where their policies may go and nowhere else.

That a user is in one batch, which is released once, the replay sees (tests/unit/audit/test_replay.py).

Noise is continuous, so that a counter that has noise is not a whole number, and one that has none is.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from users import shown_pairs, user_of

import dpucbvi as dp
from dpucbvi.counts import as_counts
from dpucbvi.mdp import Trajectory
from dpucbvi.privatizers.batches import batch_ends

H, S, A, K = 3, 3, 2, 41
PROBLEM = dp.Problem(H, S, A, K, 0.1)
TEN = {"first": 10, "growth": 1.0}  # batches end after 10, 20, 30, 40 users


def rolled(pi, rng):
    """A user who follows the policy, next states and rewards at random."""
    s = rng.integers(S, size=H + 1)
    a = np.array([pi[h, s[h]] for h in range(H)])
    return Trajectory(s, a, rng.integers(2, size=H).astype(float))


def users(n, seed=0, policies=None):
    """So many users, each with the policy she was shown."""
    rng = np.random.default_rng(seed)
    shown = policies or [rng.integers(A, size=(H, S)) for _ in range(n)]
    return [user_of(rolled(pi, rng), pi) for pi in shown]


# --- when batches end ---------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(users=st.integers(0, 5000), first=st.integers(1, 400), growth=st.floats(1.0, 4.0))
@example(users=0, first=1, growth=1.0)
@example(users=150, first=150, growth=1.3)
def test_ends_of_batches(users, first, growth):
    """Increasing, within the users, each batch of the least size or the users so far times (growth - 1)."""
    ends = batch_ends(users, first, growth).tolist()
    for start, end in pairwise([0, *ends]):
        assert end - start == max(first, math.floor((growth - 1.0) * start))
    assert not ends or ends[-1] <= users
    last = ends[-1] if ends else 0
    assert users < last + max(first, math.floor((growth - 1.0) * last))  # one more would not fit


# --- noise where the policies of the batch may go -------------------------------------------------------


@pytest.mark.parametrize("G", [1, H])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_only_pairs_that_a_policy_of_the_batch_could_visit_have_noise(G, delta):
    """Batch 1 has two policies, batch 2 one of them; the rest is exactly 0, in counts and in sd."""
    always_0 = np.zeros((H, S), dtype=np.int64)
    in_state_1 = always_0.copy()
    in_state_1[1, 1] = 1
    policies = [always_0] * 5 + [in_state_1] * 5 + [always_0] * 10
    privatizer = dp.Batches(1.0, delta=delta, drop_empty=False, **TEN)
    release = privatizer.release(PROBLEM, G, np.random.SeedSequence(4))
    variance = np.zeros((G, S, A))
    cell = privatizer.unit_sd(PROBLEM, G) ** 2
    for t, user in enumerate(users(20, 2, policies), start=1):
        released = release.release(user)
        if released is None:
            continue
        shown = np.zeros((G, S, A), dtype=bool)
        shown[:, :, 0] = True
        variance += cell * (shown | shown_pairs(in_state_1, G, S, A) if t == 10 else shown)
        counts = as_counts(released, G, S, A)
        for family in (counts.N_sas, counts.R[..., None]):
            noisy = (family % 0.5 != 0.0).all(axis=-1)
            assert np.array_equal(noisy, variance > 0)
            assert not family[variance == 0].any()
        assert release.sd == pytest.approx(np.sqrt(variance), rel=1e-12)
    assert variance[0, 0, 1] == 0.0 and (variance[1 % G, 1, 1], variance[0, 2, 0]) == (cell, 2 * cell)


def test_empty_rows_are_left_out_with_all_that_belongs_to_them():
    """Kept are rows whose noisy sum is at least √S sd: the same release with and without, row by row."""
    crowd = users(10, 2)
    kept_all, dropped = (
        dp.Batches(2.0, drop_empty=drop, **TEN).release(PROBLEM, 1, np.random.SeedSequence(6))
        for drop in (False, True)
    )
    full, thin = ([release.release(user) for user in crowd][-1] for release in (kept_all, dropped))
    full, thin = as_counts(full, 1, S, A), as_counts(thin, 1, S, A)
    least = math.sqrt(S) * math.sqrt(2) * dp.Batches(2.0).scales(PROBLEM, 1).M
    stays = full.N_sas.sum(axis=-1) >= least
    assert 0 < stays.sum() < stays.size
    assert np.array_equal(thin.N_sas, np.where(stays[..., None], full.N_sas, 0.0))
    assert np.array_equal(thin.R, np.where(stays, full.R, 0.0))
    assert np.array_equal(dropped.sd, np.where(stays, kept_all.sd, 0.0))


def test_batches_of_more_users_than_there_are():
    assert len(dp.Batches(1.0, first=2, growth=1e308).ends(PROBLEM)) == 1  # 2e308 overflows
    assert dp.Batches(1.0).certificate(PROBLEM, 1) == dp.Certificate("JDP", 0.0, 0.0)  # 150 users are too few
