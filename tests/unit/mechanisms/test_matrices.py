"""Every mechanism is its matrix: B read off the code is the B of its theory, noise by noise, in integers too.

The matrices of the theory are in tests/theory.py, written down from each mechanism's definition.
"""

import numpy as np
import pytest
import theory as laws

from dpucbvi.mechanisms import binary, blt, kary
from dpucbvi.mechanisms.binary import BinaryMechanism, levels
from dpucbvi.privacy.draws import seeded
from dpucbvi.privacy.laplace import LaplaceStream, seed_stream

UNIT = 2.0**30  # so large a noise is not changed by the lattice (privacy/draws.py)


class Units:
    """A source whose noises are UNIT × e_1, e_2, ...: what is released shows which noise has which weight."""

    def __init__(self):
        self.drawn = [0]

    def draw(self, n):
        self.drawn[0] += 1
        return UNIT * np.eye(1, n, self.drawn[0] - 1)[0]


def matrix(start, next_noise, T, most):
    """B of T releases as the code has it, [release, noise in the order drawn]; `most` noises are drawn or less.

    `start` gives the state for vectors of a given size; it may draw from the source too.
    """
    source = Units()
    state = start(most, source)
    rows = [next_noise(state, source)[0].copy() for _ in range(T)]
    return np.array(rows)[:, : source.drawn[0]] / UNIT


# B of T releases, the state for vectors of a size, and the noise of the next release.
MECHANISMS = {
    "binary": (laws.binary_tree, lambda T, n, source: binary.start(n, levels(T + 1)), binary.next_noise),
    "kary 3": (
        lambda T: laws.kary_tree(T, 3),
        lambda T, n, source: kary.start(n, 3, kary.kary_levels(T, 3)),
        kary.next_noise,
    ),
    "kary 5": (
        lambda T: laws.kary_tree(T, 5),
        lambda T, n, source: kary.start(n, 5, kary.kary_levels(T, 5)),
        kary.next_noise,
    ),
    "blt": (laws.toeplitz, lambda T, n, source: blt.start(n, blt.parameters(T), T), blt.next_noise),
}
each = pytest.mark.parametrize("name", MECHANISMS)
times = pytest.mark.parametrize("T", [1, 2, 3, 4, 7, 12, 13, 40, 62])


@each
@times
def test_the_matrix_of_the_code_is_that_of_the_theory(name, T):
    theory, start, next_noise = MECHANISMS[name]
    B = theory(T)
    found = matrix(
        lambda n, source: start(T, n, source), next_noise, T, B.shape[1] + 40
    )  # a mechanism may draw ahead
    found = np.pad(found, ((0, 0), (0, max(0, B.shape[1] - found.shape[1]))))
    np.testing.assert_allclose(found[:, : B.shape[1]], B, atol=1e-12)
    assert not found[:, B.shape[1] :].any()


@each
@times
def test_the_variance_that_is_reported_is_that_of_the_row(name, T):
    theory, start, next_noise = MECHANISMS[name]
    source = Units()
    state = start(T, 400, source)
    reported = [next_noise(state, source)[1] for _ in range(T)]
    assert reported == pytest.approx(np.square(theory(T)).sum(axis=1), rel=1e-12)


@each
def test_there_is_no_release_beyond_the_last(name):
    _, start, next_noise = MECHANISMS[name]
    T = 13 if "kary 3" in name else 12 if "kary" in name else 7
    source = Units()
    state = start(T, 400, source)
    for _ in range(T):
        next_noise(state, source)
    with pytest.raises(OverflowError, match="not for more"):
        next_noise(state, source)


class WholeUnits(Units):
    """The same in integers."""

    def draw(self, n):
        return super().draw(n).astype(np.int64)


@pytest.mark.parametrize(
    ("start", "next_noise"),
    [
        (lambda dtype: binary.start(60, 4, dtype), binary.next_noise),
        (lambda dtype: kary.start(60, 3, 3, dtype), kary.next_noise),
    ],
    ids=["binary", "kary"],
)
def test_the_same_function_works_on_integers(start, next_noise):
    floats, integers = start(np.float64), start(np.int64)
    for_floats, for_integers = Units(), WholeUnits()
    for _ in range(13):
        real, _ = next_noise(floats, for_floats)
        whole, _ = next_noise(integers, for_integers)
        assert whole.dtype == np.int64 and np.array_equal(real, whole)


def test_the_arrays_are_chans_algorithm_to_the_bit():
    """The readable Binary Mechanism against the arrays and the source that both engines use, from one seed."""
    scale = np.array([1.0, 0.0, 3.7, 1e-3])
    readable = BinaryMechanism(4, 6, scale, LaplaceStream(seed_stream(1, "privacy")))
    arrays, source = binary.start(4, 6), seeded(seed_stream(1, "privacy"), scale, gaussian=False)
    for _ in range(63):
        noise, variance = binary.next_noise(arrays, source)
        assert np.array_equal(readable.next(), noise)
        assert readable.variance() == variance
