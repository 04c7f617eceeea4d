"""The compiled samplers give the reference's noise, bit for bit, and stand at the same place afterwards."""

import numpy as np
import pytest

from dpucbvi.engine.gaussian import fill_gaussian, gaussian_pair
from dpucbvi.privatizers.gaussian import GaussianStream, gaussian_from_words
from dpucbvi.privatizers.laplace import seed_stream


def assert_same_bits(one, other):
    np.testing.assert_array_equal(np.asarray(one).view(np.uint64), np.asarray(other).view(np.uint64))


# --- normal variates ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 1001, 4096])
def test_compiled_normal_variates_are_numpys_bits(n):
    stream = GaussianStream(seed_stream(3, "privacy"))
    state, words, out = stream.state(), np.zeros(2 * ((n + 1) // 2), dtype=np.uint64), np.zeros(n)
    for _ in range(3):
        fill_gaussian(state, words, out)
        assert_same_bits(out, stream.draw(n))
    np.testing.assert_array_equal(state, stream.state())


def test_compiled_normal_variates_at_the_edges():
    """U = 1 and 2^-52, U around √½, angles 0 and next to π/4, every octant: zeros with their sign as well."""
    root = (2**52 - round(2**52 * 0.5**0.5)) << 12
    radius_words = [0, 1, 4095, 4096, root - 4096, root, root + 4096, 2**63, 2**64 - 4096, 2**64 - 1]
    angle_words = [high + low for high in (0, 4096, 2**63, 2**64 - 4096) for low in range(8)] + [2**64 - 1]
    pairs = np.array([(r, a) for r in radius_words for a in angle_words], dtype=np.uint64)
    compiled = np.array([gaussian_pair(r, a) for r, a in pairs])
    assert_same_bits(compiled.T.ravel(), gaussian_from_words(pairs.T.ravel()))
