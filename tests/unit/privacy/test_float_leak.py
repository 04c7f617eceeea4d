"""Floating-point noise tells counts apart by its lowest bits; exact noise does not (Mironov, 2012).

Simulations use floating-point Laplace noise, and certify the ideal mechanism they stand for. Two attacks show
what publishing such a number would give away, at the noise scales of the tree (960) and of Local (60) for ε = 1
and H = 20. Each finds outputs that one count can give and another cannot: no finite ε allows that.

    fine bits   |y| < 1/2 and y no multiple of 2^-53. A count of 1 never gives it: its noise lies between -3/2
                and -1/2, where floats are multiples of 2^-53, and the sum is exact. A count of 0 does, with
                probability 1/(3·scale).
    image       y = c + b·X for none of the 2^53 values of X that laplace.py has. The true count c always
                explains y; another one does so by accident, for about one y in five.

Exact noise is an integer, and every integer is possible for every count. Simulated noise lies on a lattice
(draws.py), where floats have no fine bits either. The draws are seeded; the bounds would fail for the right
sampler with probability below 1e-9.
"""

from fractions import Fraction

import numpy as np
import pytest
from exact_laws import CompiledLaplace, explains, fine_bits
from scipy.stats import kstest, laplace

from dpucbvi.privacy import draws
from dpucbvi.privacy.laplace import LaplaceStream, seed_stream
from dpucbvi.privacy.words import SeededWords

SCALES = [60, 960]
N = 200_000


def simulated(scale, n):
    """Off the lattice."""
    return scale * LaplaceStream(seed_stream(0, "privacy")).draw(n)


def numpys(scale, n):
    return np.random.Generator(np.random.SFC64(0)).laplace(0.0, scale, n)


def exact(scale, n):
    return CompiledLaplace(Fraction(scale), SeededWords(seed_stream(0, "privacy"))).draw(n).astype(float)


# --- fine bits --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("noise", [simulated, numpys])
def test_fine_bits_give_a_float_count_of_0_away(noise, scale):
    """Expected of a count of 0: two thirds of the outputs below 1/2, so N/(3·scale) of them."""
    drawn = noise(scale, N)
    expected = N / (3 * scale)
    assert abs(fine_bits(0.0 + drawn).sum() - expected) < 7 * np.sqrt(expected)
    assert fine_bits(1.0 + drawn).sum() == 0


@pytest.mark.parametrize("scale", SCALES)
def test_exact_noise_has_no_fine_bits(scale):
    for count in (0.0, 1.0):
        assert fine_bits(count + exact(scale, N)).sum() == 0


def seeded_noise(scale, n):
    return draws.seeded(seed_stream(0, "privacy"), np.full(n, float(scale)), gaussian=False).draw(n)


@pytest.mark.parametrize("scale", [10, 60])
def test_noise_on_the_lattice_has_no_fine_bits(scale):
    """Off the lattice a count of 0 has them, with the same words (above); on it no count has, and no reward."""
    n = 20_000
    for count in (0.0, 1.0, draws.snapped(0.1)):
        released = count + seeded_noise(scale, n)
        assert fine_bits(released).sum() == 0
        np.testing.assert_array_equal(released - count, seeded_noise(scale, n))  # no sum was rounded


def test_noise_on_the_lattice_is_laplace_noise():
    """False alarm 1e-6; a scale that is 5% too large is found. No draw moves by more than 2^-21."""
    off, on = simulated(10, N), seeded_noise(10, N)
    assert kstest(on, laplace(scale=10).cdf).pvalue > 1e-6 > kstest(1.05 * on, laplace(scale=10).cdf).pvalue
    assert 0 < np.abs(on - off).max() <= 2.0**-21 and (on * 2.0**20 % 1 == 0).all()


# --- the sampler's image ----------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("count", "other"), [(0, 1), (1, 0), (5, 6)])
def test_the_image_gives_most_float_counts_away(scale, count, other):
    """More than three quarters of the outputs prove that the count is not the other one."""
    y = count + simulated(scale, 50_000)
    assert explains(count, y, scale).all()
    assert explains(other, y, scale).mean() < 0.25


@pytest.mark.parametrize("scale", SCALES)
def test_exact_noise_leaves_every_integer_possible(scale):
    """Near the counts, outputs of either are the same set of integers, each seen from both."""
    zero, one = (set((count + exact(scale, 2 * N)).tolist()) for count in (0, 1))
    near = {float(y) for y in range(-scale // 2, scale // 2)}
    assert near <= zero and near <= one
