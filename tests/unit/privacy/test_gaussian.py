"""The noise is that of Box and Muller, pair by pair, and so standard normal.

The distribution test refuses a right sampler with probability 1e-6. Power: with n = 10^6 the Kolmogorov test of
the magnitudes refuses scales 2% off but with probability below 1e-9.
"""

import math

import numpy as np
import pytest
from exact_laws import GaussianStream
from scipy.special import ndtr

from dpucbvi.privacy.gaussian import gaussian_from_words
from dpucbvi.privacy.laplace import seed_stream

ALARM = 1e-6
N = 10**6


def words(n, seed=0):
    return np.random.SFC64(seed).random_raw(n)


@pytest.fixture(scope="module")
def drawn():
    return GaussianStream(seed_stream(0, "privacy")).draw(N)


# --- each pair ----------------------------------------------------------------------------------------


def by_hand(radius_word, angle_word):
    """One pair with the library's functions, U and φ by integer arithmetic, octants written out."""
    radius = math.sqrt(-2.0 * math.log((2**52 - (radius_word >> 12)) / 2**52))
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


# --- their distribution -------------------------------------------------------------------------------


def kolmogorov_p_value(x, cdf):
    """At most 2 exp(-2nD²) (Dvoretzky, Kiefer, Wolfowitz; Massart), which is sharp for small values."""
    F, n = cdf(np.sort(x)), len(x)
    steps = np.arange(n + 1) / n
    D = max((steps[1:] - F).max(), (F - steps[:-1]).max())
    return 2 * math.exp(-2 * n * D**2)


def half_normal(x):
    return 2 * ndtr(x) - 1


def test_draws_are_normal_of_scale_1_and_not_of_another(drawn):
    assert kolmogorov_p_value(drawn, ndtr) > ALARM
    magnitudes = np.abs(drawn)
    assert kolmogorov_p_value(magnitudes, half_normal) > ALARM
    for wrong in (0.98, 1.02):
        assert kolmogorov_p_value(magnitudes / wrong, half_normal) < ALARM
