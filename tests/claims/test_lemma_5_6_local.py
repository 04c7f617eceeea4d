"""Lemma 5.6, the Local Privatizer: noise is added by each user to her own statistics; the server only sums.

False alarms: every distribution test refuses a right mechanism with probability 1e-6. Power: on 7,680
magnitudes the Kolmogorov distance of scales 2/3 and 3/2 is above 0.12, so a wrong scale passes with probability
below 1e-20 (Dvoretzky, Kiefer, Wolfowitz).
"""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, chi2, kstest

from dpucbvi import factory
from dpucbvi.config import (
    ConfidenceConfig,
    EngineConfig,
    EnvConfig,
    PostprocessConfig,
    PrivatizerConfig,
    RunConfig,
)
from dpucbvi.mdp import Trajectory, rollout, uniforms_per_episode
from dpucbvi.noise import LaplaceStream, seed_stream
from dpucbvi.privatizers import Local, LocalRandomizer, as_counts, local_scale, statistics

ALARM = 1e-6


def setup_local(K, epsilon=1.0, beta=0.05, confidence=1.0, sensitivity="paper", env=None, pooled=False):
    config = RunConfig(
        env=env or EnvConfig("riverswim"),
        privatizer=PrivatizerConfig("local", epsilon, sensitivity),
        postprocess=PostprocessConfig("closed_form"),
        confidence=ConfidenceConfig("proven", scale=confidence),
        engine=EngineConfig("reference"),
        K=K,
        beta=beta,
    )
    config.agent.pooled = pooled
    return factory.set_up(config)


def flat(counts):
    """All counters of the three families as one vector."""
    return np.concatenate([family.ravel() for family in counts])


def random_trajectory(mdp, rng):
    pi = rng.integers(mdp.A, size=(mdp.H, mdp.S))
    return rollout(mdp, pi, rng.random(uniforms_per_episode(mdp.H)))


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

    def __init__(self, size):
        self.shown = []
        self.answers = np.random.default_rng(3).normal(size=(100, size))

    def perturb(self, sigma):
        self.shown.append(sigma.copy())
        return self.answers[len(self.shown) - 1]


def test_a_user_is_shown_her_own_trajectory_and_the_server_her_answer_only():
    setup = setup_local(K=8)
    mdp, size = setup.mdp, 1920
    randomizer = MarkedRandomizer(size)
    server = Local(size, randomizer)
    rng = np.random.default_rng(4)
    for k in range(1, 8):
        sigma = statistics(random_trajectory(mdp, rng), mdp.H, mdp.S, mdp.A)
        released = server.release(sigma)
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
    assert set(vars(seasoned)) == before == {"scale", "_stream"}


def test_perturbing_leaves_the_users_statistics_alone():
    sigma = np.arange(5.0)
    LocalRandomizer(1.0, LaplaceStream(seed_stream(0, "privacy"))).perturb(sigma)
    assert sigma.tolist() == [0, 1, 2, 3, 4]


def test_a_release_is_the_sum_of_all_answers_so_far():
    """N̂^k = Σ_{i<k} σ̃^i: earlier releases are not changed by later ones, and noise is never drawn again."""
    setup = setup_local(K=6, epsilon=3.0)
    mdp = setup.mdp
    privatizer = factory.privatizer(setup, seed=1)
    draws = LaplaceStream(seed_stream(1, "privacy"))
    rng = np.random.default_rng(6)
    expected, kept = np.zeros(1920), []
    for _ in range(5):
        trajectory = random_trajectory(mdp, rng)
        privatizer.update(trajectory)
        expected += statistics(trajectory, mdp.H, mdp.S, mdp.A) + 20.0 * draws.draw(1920)  # 3 · 20 / 3
        value = flat(as_counts(expected, mdp.H, mdp.S, mdp.A))
        assert flat(privatizer.N_hat) == pytest.approx(value, abs=1e-9)
        kept.append((privatizer.N_hat, value))
    for counts, value in kept:
        assert flat(counts) == pytest.approx(value, abs=1e-9)


# --- the noise ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def user_noise():
    """Noise of 4 users, ε = 2, on RiverSwim's 1,920 counters: row i is σ̃^i - σ^i, from the releases."""
    setup = setup_local(K=5, epsilon=2.0)
    mdp = setup.mdp
    privatizer = factory.privatizer(setup, seed=2)
    rng = np.random.default_rng(7)
    last, noises = np.zeros(1920), []
    for _ in range(4):
        trajectory = random_trajectory(mdp, rng)
        privatizer.update(trajectory)
        released = flat(privatizer.N_hat)
        noises.append(released - last - flat(as_counts(statistics(trajectory, 20, 6, 2), 20, 6, 2)))
        last = released
    return np.array(noises)


USER_SCALE = 3 * 20 / 2.0  # 3 families · H = 20 / ε = 2


def test_each_user_adds_laplace_noise_of_the_right_scale_only(user_noise):
    z = np.abs(user_noise.ravel())
    assert len(z) == 7680
    assert kstest(z / USER_SCALE, "expon").pvalue > ALARM
    for wrong in (2 / 3, 3 / 2):
        assert kstest(z / (wrong * USER_SCALE), "expon").pvalue < ALARM
    assert binomtest(int((user_noise > 0).sum()), user_noise.size).pvalue > ALARM


def test_every_family_has_the_noise(user_noise):
    """The same for N(s,a), N(s,a,s') and R(s,a) apart: 960, 5,760 and 960 magnitudes."""
    for family in np.split(np.abs(user_noise), [240, 240 + 1440], axis=1):
        assert kstest(family.ravel() / USER_SCALE, "expon").pvalue > ALARM
        for wrong in (1 / 2, 2):
            assert kstest(family.ravel() / (wrong * USER_SCALE), "expon").pvalue < ALARM


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
    assert local_scale(2.0, 20) == USER_SCALE
    for pooled in (False, True):
        assert setup_local(K=5, epsilon=2.0, pooled=pooled).noise_scale == USER_SCALE
        replaced = setup_local(K=5, epsilon=2.0, pooled=pooled, sensitivity="replace_one")
        assert replaced.noise_scale == 2 * USER_SCALE


# --- Assumption 3.1 with the proven E -----------------------------------------------------------------


def assumption_3_1(tilde, true, E):
    """(1) all three families within E; (2) Ñ(s,a) = Σ Ñ(s,a,s') ≥ N(s,a) and Ñ(s,a,s') > 0. Up to rounding."""
    slack = 1e-9 * E
    close = all(np.abs(a - b).max() <= E + slack for a, b in zip(tilde, true, strict=True))
    consistent = np.abs(tilde.N_sas.sum(axis=-1) - tilde.N_sa).max() <= slack
    never_below = (tilde.N_sa >= true.N_sa - slack).all()
    return close and consistent and never_below and tilde.N_sas.min() > 0


def failures(confidence, runs, beta):
    """In how many runs Assumption 3.1 fails at some episode; users follow random policies."""
    setup = setup_local(K=30, beta=beta, confidence=confidence, env=EnvConfig("random", S=2, A=2, H=2, seed=11))
    mdp, failed = setup.mdp, 0
    for seed in range(runs):
        privatizer = factory.privatizer(setup, seed)
        rng = np.random.default_rng(seed)
        true = np.zeros(32)
        good = True
        for _ in range(setup.problem.K - 1):
            trajectory = random_trajectory(mdp, rng)
            tilde = privatizer.update(trajectory)
            true += statistics(trajectory, mdp.H, mdp.S, mdp.A)
            good = good and assumption_3_1(tilde, as_counts(true, 2, 2, 2), setup.E)
        failed += not good
    return failed


def test_assumption_3_1_holds_with_the_proven_e():
    """200 runs, β = 0.3: the 99.9% Clopper-Pearson bound on the failure rate is at most β/3 = 0.1.

    Were the failure rate above β/3, this would pass with probability below 0.1%. Control: with E/8 the
    assumption fails in so many of 60 runs that a rate of β/3 is refused at 1e-6.
    """
    few = failures(1.0, 200, beta=0.3)
    assert binomtest(few, 200).proportion_ci(0.998, "exact").high <= 0.1
    many = failures(1 / 8, 60, beta=0.3)
    assert binomtest(many, 60, 0.1, alternative="greater").pvalue < ALARM
