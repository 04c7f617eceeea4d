"""Batches: a user is in one batch, each released once, with noise where its policies may go and nowhere else.

Noise is continuous, so that a counter that has noise is not a whole number, and one that has none is.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from users import Silence, shown_pairs, user_of

import dpucbvi as dp
from dpucbvi.counts import FAMILIES, as_counts, counters, statistics
from dpucbvi.mdp import Trajectory
from dpucbvi.privatizers.arrays import ArrayRelease
from dpucbvi.privatizers.batches import batch_ends, take
from dpucbvi.privatizers.noisy_sums import by_counter
from dpucbvi.simulate import episodes, set_up

H, S, A, K = 3, 3, 2, 41
PROBLEM = dp.Problem(H, S, A, K, 0.1)
TEN = {"first": 10, "growth": 1.0}  # batches end after 10, 20, 30, 40 users


class Counted:
    """A source that notes how many were drawn, and gives the number of the draw times a scale."""

    def __init__(self, scale):
        self.calls, self.scale = [], scale

    def draw(self, n):
        self.calls.append(n)
        return self.scale * len(self.calls)


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


def sigma(user, G, families="tuned", clip=None):
    return statistics(user, G, S, A, FAMILIES[families], clip)


def counts_of(privatizer, G, source, like=None):
    return ArrayRelease(like or privatizer, privatizer.state(PROBLEM, G, source), (G, S, A, S))


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


# --- a user is in one batch -----------------------------------------------------------------------------


def draws_that_a_user_is_in(make, i):
    """Which releases show user i for the first time, by how much more than before: she moves one of them."""
    crowd = users(K - 1, seed=3)
    other = list(crowd)
    still = Trajectory(np.zeros(H + 1, dtype=np.int64), crowd[i].pi[:, 0].copy(), np.ones(H))
    other[i] = user_of(still, crowd[i].pi)
    moved, last = [], np.zeros(counters(1, S, A))
    one_release, other_release = make(), make()
    for t, (one, another) in enumerate(zip(crowd, other, strict=True), start=1):
        first, second = one_release.release(one), other_release.release(another)
        assert (first is None) == (second is None)
        if first is not None:
            difference = first - second
            if not np.array_equal(difference, last):
                moved.append(t)
            last = difference
    return moved


class Twice:
    """Broken: a batch, all but its last user, stays in the next one and is so released twice."""

    one_action = False

    def take(self, state, t, user, noisy):
        kept = state.batch.copy()
        new = take(state, t, user, noisy)
        if new:
            state.batch[:] = kept
        return new


@pytest.mark.parametrize("i", [0, 9, 10, 25, 39])
def test_a_user_enters_exactly_one_batch_once_it_ends(i):
    privatizer = dp.Batches(1.0, policy_cells=False, drop_empty=False, **TEN)
    moved = draws_that_a_user_is_in(lambda: counts_of(privatizer, 1, Silence()), i)
    assert moved == [10 * (i // 10 + 1)]


def test_a_batch_that_is_released_twice_is_noticed():
    privatizer = dp.Batches(1.0, policy_cells=False, drop_empty=False, **TEN)
    moved = draws_that_a_user_is_in(lambda: counts_of(privatizer, 1, Silence(), Twice()), 5)
    assert len(moved) > 1


@pytest.mark.parametrize("G", [1, H])
@pytest.mark.parametrize("families", ["paper", "tuned"])
def test_noise_is_drawn_once_for_a_batch_and_the_releases_add_up(G, families):
    """With noise j in batch j: after j batches every counter is the sum of its users plus b(1 + ... + j)."""
    privatizer = dp.Batches(1.0, policy_cells=False, drop_empty=False, families=families, **TEN)
    stream = Counted(by_counter(privatizer.scales(PROBLEM, G), families, G, S, A))
    release, true = counts_of(privatizer, G, stream), np.zeros(counters(G, S, A))
    offset = FAMILIES[families].released(G, S, A, S).start
    scales = privatizer.scales(PROBLEM, G)
    n = G * S * A
    scale = np.repeat([scales.N, scales.M, scales.R], [n, n * S, n])
    for t, user in enumerate(users(K - 1, seed=1), start=1):
        released = release.release(user)
        true += sigma(user, G, families)
        if t % 10:
            assert released is None
            continue
        j = t // 10
        assert stream.calls == [len(true) - offset] * j
        assert released[offset:] == pytest.approx((true + scale * j * (j + 1) / 2)[offset:], rel=1e-12)
        assert not released[:offset].any()
        assert release.sd == pytest.approx(np.full((G, S, A), math.sqrt(2 * j) * scales.M), rel=1e-12)


def test_nothing_is_known_before_the_first_batch_ends():
    setup = set_up(dp.riverswim(3, 4), dp.DPUCBVI(), dp.Batches(5.0, **TEN), 25)
    for episode in episodes(setup, 0):
        assert any(family.any() for family in episode.counts) == (episode.k > 10)


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


def test_the_noise_of_a_batch_has_the_scale_of_its_certificate():
    """b = Δ/(share ε), Δ = 2H for N(s,a,s') and H for centred rewards, whatever K is: no composition over
    time."""
    for long in (K, 50_000):
        scales = dp.Batches(1.0).scales(PROBLEM._replace(K=long), 1)
        assert scales == pytest.approx((0.0, 2 * H / 0.75, H / 0.25), rel=1e-12)
        assert not dp.Batches(1.0).noise_of(PROBLEM._replace(K=long), 1).proven
    assert dp.Batches(1.0, **TEN).certificate(PROBLEM, 1).replace_one == pytest.approx(1.0, rel=1e-12)
    assert len(dp.Batches(1.0, first=2, growth=1e308).ends(PROBLEM)) == 1  # 2e308 overflows
    assert dp.Batches(1.0).certificate(PROBLEM, 1) == dp.Certificate("JDP", 0.0, 0.0)  # 150 users are too few
