"""Simulated noise: Laplace and Gaussian, word by word, on its lattice; its streams are named and apart.

False alarms: each distribution test refuses a right sampler with probability 1e-6. Power: but with probability
below 1e-9 it refuses Laplace scales of 2/3 and 3/2 with n = 20,000, and Gaussian ones 2% off with n = 10^6
(Dvoretzky, Kiefer, Wolfowitz).
"""

import math

import numpy as np
import pytest
from exact_laws import GaussianStream, fine_bits
from scipy.stats import kstest, laplace

import dpucbvi as dp
from dpucbvi import simulate
from dpucbvi.privacy import draws, laplace as streams
from dpucbvi.privacy.gaussian import gaussian_from_words
from dpucbvi.privacy.laplace import STREAMS, LaplaceStream, laplace_from_words, seed_stream
from dpucbvi.projection import closed_form
from dpucbvi.simulate import set_up

ALARM = 1e-6
N = 20_000


def words(n, seed=0):
    return np.random.default_rng(seed).integers(2**64, size=n, dtype=np.uint64)


def uniform(word):
    """U of one word by integer arithmetic: the top 52 bits j give (2^52 - j)/2^52, a float without rounding."""
    return (2**52 - (int(word) >> 12)) / 2**52


def test_each_word_gives_minus_log_u_with_its_sign():
    """Against the library's logarithm: within 4 units in the last place, the sign from the lowest bit."""
    w = words(N)
    x = laplace_from_words(w)
    expected = np.array([-math.log(uniform(word)) for word in w])
    assert (np.abs(np.abs(x) - expected) <= 4 * np.spacing(expected)).all()
    assert np.array_equal(np.signbit(x), (w & np.uint64(1)).astype(bool))


@pytest.mark.parametrize("word", [1 << 12, 2 << 12, 2**63 - 4096, 2**63, 2**64 - 4096, 2**64 - 2 * 4096])
@pytest.mark.parametrize("low", [0, 1, 4094, 4095])
def test_extreme_words(word, low):
    """U next to 1, around 1/2, and down to 2^-52; the eleven bits between sign and magnitude change nothing."""
    x = laplace_from_words(np.array([word + low], dtype=np.uint64))[0]
    expected = -math.log(uniform(word))
    assert abs(abs(x) - expected) <= 4 * np.spacing(expected)
    assert (x < 0) == bool(low & 1)


def laplace_p_values(x, scale):
    """KS of the signed values, and of their magnitudes (which sees a wrong scale twice as well)."""
    return kstest(x / scale, laplace.cdf).pvalue, kstest(np.abs(x) / scale, "expon").pvalue


@pytest.mark.parametrize("seed", range(3))
def test_draws_are_laplace_of_scale_1_and_not_of_another(seed):
    x = LaplaceStream(seed_stream(seed, "privacy")).draw(N)
    assert min(laplace_p_values(x, 1.0)) > ALARM
    for wrong in (2 / 3, 3 / 2):
        assert max(laplace_p_values(x, wrong)) < ALARM


# --- Gaussian ---------------------------------------------------------------------------------------------


def by_hand(radius_word, angle_word):
    """One pair with the library's functions, U and φ by integer arithmetic, octants written out."""
    radius = math.sqrt(-2.0 * math.log(uniform(radius_word)))
    phi = math.pi / 4 * ((angle_word >> 12) / 2**52)
    x, y = radius * math.cos(phi), radius * math.sin(phi)
    if angle_word & 4:
        x, y = y, x
    return -x if angle_word & 1 else x, -y if angle_word & 2 else y


def test_each_pair_is_box_and_mullers():
    w = words(4000)
    x, y = np.split(gaussian_from_words(w), 2)
    expected = np.array([by_hand(*pair) for pair in zip(w[:2000].tolist(), w[2000:].tolist(), strict=True)])
    np.testing.assert_allclose(np.column_stack([x, y]), expected, rtol=2e-15, atol=0)


def test_draws_are_normal_of_scale_1_and_not_of_another():
    drawn = GaussianStream(seed_stream(0, "privacy")).draw(10**6)
    assert kstest(drawn, "norm").pvalue > ALARM
    magnitudes = np.abs(drawn)
    assert kstest(magnitudes, "halfnorm").pvalue > ALARM
    for wrong in (0.98, 1.02):
        assert kstest(magnitudes / wrong, "halfnorm").pvalue < ALARM


# --- the lattice ------------------------------------------------------------------------------------------


def on_the_lattice(scale, n):
    return draws.seeded(seed_stream(0, "privacy"), np.full(n, float(scale)), gaussian=False).draw(n)


def off_the_lattice(scale, n):
    """From the same words."""
    return scale * LaplaceStream(seed_stream(0, "privacy")).draw(n)


@pytest.mark.parametrize("scale", [10, 60])
def test_noise_on_the_lattice_has_no_fine_bits(scale):
    """No count has them, and no reward. Control: off the lattice a count of 0 has them and one of 1 has not."""
    for count in (0.0, 1.0, draws.snapped(0.1)):
        released = count + on_the_lattice(scale, N)
        assert fine_bits(released).sum() == 0
        np.testing.assert_array_equal(released - count, on_the_lattice(scale, N))  # no sum was rounded
    off = off_the_lattice(scale, N)
    assert fine_bits(off).sum() > 50 and fine_bits(1.0 + off).sum() == 0


def test_noise_on_the_lattice_is_laplace_noise():
    """A scale that is 5% too large is found. No draw moves by more than 2^-21."""
    off, on = off_the_lattice(10, 200_000), on_the_lattice(10, 200_000)
    assert kstest(on, laplace(scale=10).cdf).pvalue > ALARM > kstest(1.05 * on, laplace(scale=10).cdf).pvalue
    assert 0 < np.abs(on - off).max() <= 2.0**-21 and (on * 2.0**20 % 1 == 0).all()


# --- whose noise it is ------------------------------------------------------------------------------------


def test_streams_have_fixed_names_and_are_apart():
    """A stream's place in the list is part of every stored result: the order must not change."""
    assert STREAMS == ("environment", "privacy", "audit", "rewards")
    with pytest.raises(ValueError):
        seed_stream(0, "exploration")
    states = {tuple(seed_stream(seed, name).generate_state(4)) for seed in range(4) for name in STREAMS}
    assert len(states) == 4 * len(STREAMS)


def last_counts(epsilon):
    """N̂(s,a,s') after 6 users who all follow the same first policy and meet the same world."""
    seen, privatizer = [], dp.Central(epsilon)

    def watching(N_sa, N_sas, E):
        seen.append(N_sas.copy())
        return closed_form(N_sa, N_sas, E)

    dp.run(dp.riverswim(S=3, H=3), dp.DPUCBVI(), privatizer, K=7, engine="reference", postprocess=watching)
    return seen[-1]


def test_arms_with_one_seed_do_not_share_their_noise(monkeypatch):
    """From one stream, 2 N̂ of ε = 2 minus N̂ of ε = 1 are the true counts: their sum is the steps of 6 users.

    With keys of their own the same difference is noise, of a scale above 40 in each of 54 cells.
    """
    with monkeypatch.context() as patch:
        patch.setattr(simulate, "privacy_stream", lambda _, seed: streams.seed_stream(seed, "privacy"))
        shared = 2 * last_counts(2.0) - last_counts(1.0)
    assert np.abs(shared - np.rint(shared)).max() < 1e-3 and np.rint(shared).sum() == 6 * 3
    apart = 2 * last_counts(2.0) - last_counts(1.0)
    assert np.abs(apart - np.rint(apart)).max() > 0.1 and np.abs(apart).max() > 40


def test_a_key_is_that_of_the_settings_and_of_nothing_else():
    """Seeds, settings and worlds have streams of their own; what is recorded or checked does not matter."""

    def key(mdp=dp.riverswim(S=3, H=3), agent=dp.DPUCBVI(0.1), privatizer=dp.Central(1.0), K=9, seed=0, **more):  # noqa: B008
        return tuple(streams.privacy_stream(set_up(mdp, agent, privatizer, K, **more), seed).generate_state(4))

    same = [key(), key(trace_points=5), key(lp_checks=3), key(agent=dp.DPUCBVI(bonus_scale=0.1))]
    others = [key(seed=1), key(K=10), key(beta=0.1), key(agent=dp.DPUCBVI(0.2)), key(known_rewards=True)]
    others += [key(privatizer=dp.Central(2.0)), key(privatizer=dp.KaryTree(1.0)), key(postprocess="clip")]
    others += [key(mdp=dp.riverswim(S=3, H=4)), key(zero=1.0)]
    assert len(set(same)) == 1 and len({*same, *others}) == 1 + len(others)
    exact = [key(privatizer=dp.Central(epsilon, noise="exact"), K=K) for epsilon, K in ((1.0, 9), (2.0, 10))]
    assert exact[0] == exact[1] == tuple(streams.seed_stream(0, "privacy").generate_state(4))
