"""Lemma 5.6, the Local Privatizer: noise is added by each user to her own statistics; the server only sums.

False alarms: every distribution test refuses a right mechanism with probability 1e-6. Power: on 7,680
magnitudes the Kolmogorov distance of scales 2/3 and 3/2 is above 0.12, so a wrong scale passes with probability
below 1e-20 (Dvoretzky, Kiefer, Wolfowitz).
"""

import math

import numpy as np
import pytest
from private_counts import ALARM, RIVER, check_assumption_3_1, check_scale, flat, users
from scipy.stats import binomtest, chi2
from theory import exact_tail
from users import user_of

import dpucbvi as dp
from dpucbvi.counts import as_counts, counters, statistics
from dpucbvi.mdp import Trajectory
from dpucbvi.privacy.laplace import LaplaceStream, privacy_stream, seed_stream
from dpucbvi.privatizers.local import BothSides, LocalRandomizer
from dpucbvi.simulate import private_counts, set_up

# --- who sees what ----------------------------------------------------------------------------------


def test_statistics_of_one_user():
    """H = 2, S = 2, A = 2: (s, a, r, s') = (0, 1, .25, 1), then (1, 0, .5, 1); all else is 0."""
    trajectory = Trajectory(np.array([0, 1, 1]), np.array([1, 0]), np.array([0.25, 0.5]))
    one = as_counts(statistics(trajectory, 2, 2, 2), 2, 2, 2)
    assert {tuple(map(int, i)): one.N_sa[tuple(i)] for i in np.argwhere(one.N_sa)} == {
        (0, 0, 1): 1,
        (1, 1, 0): 1,
    }
    assert {tuple(map(int, i)) for i in np.argwhere(one.N_sas)} == {(0, 0, 1, 1), (1, 1, 0, 1)}
    assert one.R[0, 0, 1] == 0.25 and one.R[1, 1, 0] == 0.5 and one.R.sum() == 0.75
    pooled = as_counts(statistics(trajectory, 1, 2, 2), 1, 2, 2)
    assert (one.N_sa.shape, one.N_sas.shape, one.R.shape) == ((2, 2, 2), (2, 2, 2, 2), (2, 2, 2))
    assert np.array_equal(pooled.N_sa[0], one.N_sa.sum(axis=0))
    assert np.array_equal(pooled.N_sas[0], one.N_sas.sum(axis=0))
    assert np.array_equal(pooled.R[0], one.R.sum(axis=0))


class MarkedRandomizer:
    """In place of a user: notes what it is shown and answers something unrelated."""

    dtype = np.float64

    def __init__(self, size):
        self.shown = []
        self.answers = np.random.default_rng(3).normal(size=(100, size))

    def perturb(self, sigma):
        self.shown.append(sigma.copy())
        return self.answers[len(self.shown) - 1]


def test_a_user_is_shown_her_own_trajectory_and_the_server_her_answer_only():
    size = 1920
    randomizer = MarkedRandomizer(size)
    both = BothSides((20, 6, 2, 6), randomizer, "paper", unit_sd=1.0)
    for k, trajectory in enumerate(users(RIVER, 7, seed=4), start=1):
        sigma = statistics(trajectory, 20, 6, 2)
        released = both.release(user_of(trajectory, np.zeros((20, 6), dtype=np.int64)))
        assert len(randomizer.shown) == k  # each user is asked once
        assert np.array_equal(randomizer.shown[-1], sigma)
        # Nothing of any σ is in the release: it is the sum of the answers.
        assert released == pytest.approx(randomizer.answers[:k].sum(axis=0), abs=1e-12)


def test_the_users_side_keeps_nothing():
    """After many users a randomizer answers as one that never saw them, its stream at the same place."""
    seasoned = LocalRandomizer(60.0, LaplaceStream(seed_stream(0, "privacy")))
    rng = np.random.default_rng(5)
    before = set(vars(seasoned))
    for _ in range(20):
        seasoned.perturb(rng.random(32))
    fresh_stream = LaplaceStream(seed_stream(0, "privacy"))
    fresh_stream.draw(20 * 32)
    fresh = LocalRandomizer(60.0, fresh_stream)
    sigma = rng.random(32)
    assert np.array_equal(seasoned.perturb(sigma), fresh.perturb(sigma))
    assert set(vars(seasoned)) == before and not any(
        isinstance(kept, np.ndarray) for kept in vars(seasoned).values()
    )


def test_perturbing_leaves_the_users_statistics_alone():
    sigma = np.arange(5.0)
    LocalRandomizer(1.0, LaplaceStream(seed_stream(0, "privacy"))).perturb(sigma)
    assert sigma.tolist() == [0, 1, 2, 3, 4]


def test_a_release_is_the_sum_of_all_answers_so_far():
    """N̂^k = Σ_{i<k} σ̃^i: earlier releases are not changed by later ones, and noise is never drawn again."""
    setup = set_up(RIVER, dp.DPUCBVI(), dp.Local(3.0), 6)
    private, draws = private_counts(setup, seed=1), LaplaceStream(privacy_stream(setup, 1))
    expected, kept = np.zeros(1920), []
    for trajectory in users(RIVER, 5, seed=6):
        private.update(trajectory)
        noise = np.rint(2**20 * 20.0 * draws.draw(1920)) / 2**20  # of scale 3 · 20 / 3, on the lattice (D15)
        expected += statistics(trajectory, 20, 6, 2) + noise
        value = flat(as_counts(expected, 20, 6, 2))
        assert flat(private.N_hat) == pytest.approx(value, abs=1e-9)
        kept.append((private.N_hat, value))
    for counts, value in kept:
        assert flat(counts) == pytest.approx(value, abs=1e-9)


# --- the noise ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def user_noise():
    """Noise of 4 users, ε = 2, on RiverSwim's 1,920 counters: row i is σ̃^i - σ^i, from the releases."""
    private = private_counts(set_up(RIVER, dp.DPUCBVI(), dp.Local(2.0), 5), seed=2)
    last, noises = np.zeros(1920), []
    for trajectory in users(RIVER, 4, seed=7):
        private.update(trajectory)
        released = flat(private.N_hat)
        noises.append(released - last - flat(as_counts(statistics(trajectory, 20, 6, 2), 20, 6, 2)))
        last = released
    return np.array(noises)


USER_SCALE = 3 * 20 / 2.0  # 3 families · H = 20 / ε = 2


def test_each_user_adds_laplace_noise_of_the_right_scale_only(user_noise):
    assert user_noise.size == 7680
    check_scale(user_noise, USER_SCALE, "expon")
    assert binomtest(int((user_noise > 0).sum()), user_noise.size).pvalue > ALARM


def test_every_family_has_the_noise(user_noise):
    """The same for N(s,a), N(s,a,s') and R(s,a) apart: 960, 5,760 and 960 magnitudes."""
    for family in np.split(user_noise, [240, 240 + 1440], axis=1):
        check_scale(family, USER_SCALE, "expon", wrong=(1 / 2, 2))


def correlations(noise):
    """Chi-square p-value of all correlations between users, and of neighbours within a user."""
    z = noise / noise.std()
    users, n = z.shape
    between = [np.mean(z[i] * z[j]) * math.sqrt(n) for i in range(users) for j in range(i)]
    within = [np.mean(z[:, :-lag] * z[:, lag:]) * math.sqrt(users * (n - lag)) for lag in range(1, 8)]
    return tuple(chi2.sf(np.square(values).sum(), len(values)) for values in (between, within))


def test_noise_is_independent_between_users_and_counters(user_noise):
    assert len(np.unique(user_noise)) == user_noise.size
    assert min(correlations(user_noise)) > ALARM
    assert correlations(np.repeat(user_noise[:1], 4, axis=0))[0] < ALARM  # control: users share a draw
    assert correlations(np.repeat(user_noise[:, ::6], 6, axis=1))[1] < ALARM  # control: the s' share a draw


def test_the_scale_follows_the_sensitivity_and_not_the_pooling():
    assert dp.Local(2.0).scales(dp.Problem(20, 6, 2, 5, 0.05)) == (USER_SCALE,) * 3
    for agent in (dp.DPUCBVI(), dp.DPUCBVI(pooled=True)):
        assert set_up(RIVER, agent, dp.Local(2.0), 5).noise.scale == USER_SCALE
        replaced = set_up(RIVER, agent, dp.Local(2.0, sensitivity="replace_one"), 5)
        assert replaced.noise.scale == 2 * USER_SCALE


# --- Assumption 3.1 with the proven E -----------------------------------------------------------------


def test_assumption_3_1_holds_with_the_proven_e():
    check_assumption_3_1(dp.Local)


def test_the_proven_e_is_large_enough_and_three_quarters_of_it_are_not():
    """RiverSwim's sizes with K = 400, so that the last release has 399 noises.

    All releases together go beyond a bound at most twice as often as the last one (Lévy's inequality, for sums
    of symmetric variates).

    With 3/4 of E the last release alone, its counters independent, fails more often than β/3.
    """
    problem = dp.Problem(20, 6, 2, 400, 0.05)
    noise, size = dp.Local(1.0).noise_of(problem, problem.H), counters(*problem.shape(problem.H))
    beyond, nearer = (exact_tail(share * noise.E / 4 / noise.scale, problem.K - 1) for share in (1, 0.75))
    assert 2 * size * beyond <= problem.beta / 3 < 1 - (1 - nearer) ** size
