"""Buffered linear Toeplitz noise: A = B C, the norms of B and C, and noise with covariance σ² B Bᵀ."""

import math
from itertools import pairwise

import numpy as np
import pytest
from noises import blt_noise
from scipy.linalg import toeplitz

from dpucbvi.errors import InputError
from dpucbvi.mechanisms.blt import MARGIN, TABLE, Blt, error, inverse, parameters, sensitivity

EULER = 0.5772156649015329
LENGTHS = [1, 2, 7, 10, 11, 50, 100, 101, 300, 1000, 1001, 2000]


class Normals:
    """A stand-in for the stream of standard normals, which counts what is drawn."""

    def __init__(self, seed=0):
        self._generator, self.drawn = np.random.default_rng(seed), []

    def draw(self, n):
        self.drawn.append(self._generator.standard_normal(n))
        return self.drawn[-1]


def b_of(blt, T):
    return (np.array(blt.w)[:, None] * np.array(blt.x)[:, None] ** np.arange(T)).sum(axis=0)


def c_of(blt, T):
    """Term by term from B c = (1, 1, ...): the buffers of b run on c itself."""
    x, w, y, c = np.array(blt.x), np.array(blt.w), np.zeros(len(blt.x)), np.empty(T)
    for t in range(T):
        y *= x
        c[t] = (1.0 - w @ y) / w.sum()
        y += c[t]
    return c


def lower(column):
    return toeplitz(column, np.zeros(len(column)))


def root_square(T):
    """Σ_{j<T} (binom(2j,j)/4^j)², ‖B_T‖‖C‖ of the square root: Landau's constants (expansion: T large)."""
    if T <= 100_000:
        j = np.arange(1.0, T)
        return 1.0 + (np.cumprod((2 * j - 1) / (2 * j)) ** 2).sum()
    return (math.log(T) + EULER + 4 * math.log(2) - 1 / (4 * T)) / math.pi


def nuclear_bound(T):
    """‖A‖_*/T: the singular values of A are 1/(2 sin((2j-1)π/(4T+2)))."""
    return (0.5 / np.sin((2 * np.arange(1.0, T + 1) - 1) * np.pi / (4 * T + 2))).sum() / T


# --- the factorisation and its norms --------------------------------------------------------------------------


@pytest.mark.parametrize("length", TABLE)
def test_b_times_c_is_the_matrix_of_ones(length):
    """C by the closed form, B by its definition, as matrices of 50 rows; and C is B⁻¹A solved directly."""
    blt, T = TABLE[length], 50
    v, r = map(np.array, inverse(blt))
    c = (r[:, None] * (1 - v[:, None]) ** np.arange(T)).sum(axis=0)
    c[0] = 1 / sum(blt.w)
    B, C, A = lower(b_of(blt, T)), lower(c), np.tri(T)
    assert abs(B @ C - A).max() < 1e-12
    assert abs(C - np.linalg.solve(B, A)).max() < 1e-12
    assert (r > 0).all() and (np.diff(v) > 0).all() and v[0] == 0.0


@pytest.mark.parametrize("T", LENGTHS)
def test_norms_are_those_of_the_matrices(T):
    blt = parameters(T)
    B = lower(b_of(blt, T))
    C = np.linalg.solve(B, np.tri(T)) if T <= 300 else lower(c_of(blt, T))
    columns = np.linalg.norm(C, axis=0)
    assert columns.argmax() == 0
    assert columns[0] <= sensitivity(blt, T) <= columns[0] * (1 + 2 * MARGIN)
    rows = np.linalg.norm(B, axis=1)
    for t in {1, T // 2 + 1, T}:
        assert error(blt, t) == pytest.approx(rows[t - 1], rel=1e-12)
    assert error(blt, 0) == 0.0


def test_norms_of_a_long_stream():
    T = 50_000
    blt = parameters(T)
    assert error(blt, T) == pytest.approx(np.linalg.norm(b_of(blt, T)), rel=1e-12)
    assert sensitivity(blt, T) == pytest.approx(np.linalg.norm(c_of(blt, T)), rel=2 * MARGIN)


@pytest.mark.parametrize("T", [10**6, 10**9, 10**12])
def test_norms_of_streams_too_long_to_sum(T):
    """Against the same series with 60 digits, the zeros of s found by plain bisection."""
    mpmath = pytest.importorskip("mpmath")
    blt = parameters(min(T, 10**9))
    with mpmath.workdps(60):
        x, w = [mpmath.mpf(x) for x in blt.x], [mpmath.mpf(w) for w in blt.w]

        def s(y):
            return mpmath.fsum(w_i / (y - x_i) for w_i, x_i in zip(w, x, strict=True))

        b_square = mpmath.fsum(
            w_i * w_k * (1 - (x_i * x_k) ** T) / (1 - x_i * x_k)
            for w_i, x_i in zip(w, x, strict=True)
            for w_k, x_k in zip(w, x, strict=True)
        )
        y, r = [mpmath.mpf(1)], [1 / s(mpmath.mpf(1))]
        for high, low in pairwise(x):
            a, z = low, high
            for _ in range(220):  # s falls from +∞ to -∞ between two poles
                m = (a + z) / 2
                a, z = (m, z) if s(m) > 0 else (a, m)
            y.append(a)
            r.append(
                1 / (a * (1 - a) * mpmath.fsum(w_i / (a - x_i) ** 2 for w_i, x_i in zip(w, x, strict=True)))
            )
        c_square = 1 / mpmath.fsum(w) ** 2 + mpmath.fsum(
            r[l] * r[m] * (T - 1 if l == m == 0 else (y[l] * y[m] - (y[l] * y[m]) ** T) / (1 - y[l] * y[m]))
            for l in range(len(y))
            for m in range(len(y))
        )
        assert abs(error(blt, T) / mpmath.sqrt(b_square) - 1) < 1e-11
        assert 0 < sensitivity(blt, T) / mpmath.sqrt(c_square) - 1 < 2 * MARGIN


@pytest.mark.parametrize("T", [*LENGTHS, 3000, 10**4, 10_001, 50_000, 10**5, 200_000, 10**6, 3 * 10**7, 10**9])
def test_hardly_more_error_than_the_square_root(T):
    """Above it by less than 0.35% at every T, and never below (no Toeplitz factorisation is)."""
    blt = parameters(T)
    ratio = sensitivity(blt, T) * error(blt, T) / root_square(T)
    assert 1 <= ratio < 1.0035


def test_the_figures_of_the_docstring():
    above = [20, 38, 47, 341, 260, 216, 189, 171, 158]  # thousandths of a percent
    for length, figure in zip(TABLE, above, strict=True):
        ratio = sensitivity(TABLE[length], length) * error(TABLE[length], length) / root_square(length)
        assert round(1e5 * (ratio - 1)) == figure
    assert [len(blt.x) for blt in TABLE.values()] == [2, 3, 4, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize(("T", "above"), [(10, 19.6), (100, 16.3), (10**3, 12.6), (10**4, 10.4), (50_000, 9.0)])
def test_distance_to_the_lower_bound(T, above):
    blt = parameters(T)
    ratio = sensitivity(blt, T) * error(blt, T) / nuclear_bound(T)
    assert 100 * (ratio - 1) == pytest.approx(above, abs=0.06)


def test_the_lower_bound_is_the_nuclear_norm_and_the_expansion_is_landaus():
    assert nuclear_bound(60) == pytest.approx(np.linalg.norm(np.tri(60), "nuc") / 60, rel=1e-12)
    j = np.arange(1.0, 200_000)
    assert root_square(200_000) == pytest.approx(1 + (np.cumprod((2 * j - 1) / (2 * j)) ** 2).sum(), rel=1e-11)


def test_the_table():
    for length, blt in TABLE.items():
        assert math.fsum(blt.w) == pytest.approx(1.0, abs=1e-15)
        assert parameters(length) is blt and parameters(length // 10 + 1) is blt
    for bad in (0, -1, 10**9 + 1, 2.5):
        with pytest.raises(InputError):
            parameters(bad)


@pytest.mark.parametrize(
    "blt",
    [
        Blt((), ()),
        Blt((0.5,), (0.5, 0.5)),
        Blt((0.5, 0.9), (0.5, 0.5)),
        Blt((0.5, 0.5), (0.5, 0.5)),
        Blt((1.0, 0.5), (0.5, 0.5)),
        Blt((0.5, 0.0), (0.5, 0.5)),
        Blt((0.9, 0.5), (1.5, -0.5)),
        Blt((0.9, 0.5), (1.0, math.nan)),
        Blt((math.nan, 0.5), (0.5, 0.5)),
    ],
)
def test_numbers_that_are_no_mixture_are_refused(blt):
    for call in (lambda: sensitivity(blt, 5), lambda: error(blt, 5), lambda: blt_noise(1, blt, 1.0, Normals())):
        with pytest.raises(InputError):
            call()


def test_numbers_too_close_to_each_other_are_refused():
    assert sensitivity(Blt((0.9, 0.9 - 1e-3), (0.5, 0.5)), 100) == pytest.approx(
        np.linalg.norm(c_of(Blt((0.9, 0.9 - 1e-3), (0.5, 0.5)), 100)), rel=2 * MARGIN
    )
    with pytest.raises(ArithmeticError):
        sensitivity(Blt((0.1, math.nextafter(0.1, 0.0)), (0.5, 0.5)), 100)


def test_one_exponential_and_weights_of_any_sum():
    """d = 1: b_j = w x^j, so c = 1/w, (1-x)/w, (1-x)/w, ..."""
    x, w, T = 0.75, 2.0, 9
    assert error(Blt((x,), (w,)), T) == pytest.approx(np.linalg.norm(w * x ** np.arange(T)), rel=1e-13)
    assert sensitivity(Blt((x,), (w,)), T) == pytest.approx(math.sqrt(1 + (T - 1) / 16) / 2, rel=2 * MARGIN)
    doubled = Blt(TABLE[100].x, tuple(2 * w for w in TABLE[100].w))
    assert sensitivity(doubled, 70) == pytest.approx(sensitivity(TABLE[100], 70) / 2, rel=1e-12)


# --- the noise ------------------------------------------------------------------------------------------------


def test_noise_is_b_times_what_is_drawn():
    """Row by row, a vector of scales, each coordinate with draws of its own; too large for rounding to show."""
    T, size, stream, blt, large = 60, 3, Normals(), parameters(60), 2.0**26
    scale = np.array([1.0, 0.0, 7.5])
    noise = blt_noise(size, blt, large * scale, stream)
    released = np.array([noise.next() for _ in range(T)]) / large
    assert abs(released - lower(b_of(blt, T)) @ np.array(stream.drawn) * scale).max() < 1e-11
    assert len(stream.drawn) == T and all(len(z) == size for z in stream.drawn)
