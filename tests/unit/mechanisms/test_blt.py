"""Buffered linear Toeplitz noise: A = B C, the norms of B and C, and noise with covariance σ² B Bᵀ."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import toeplitz

from dpucbvi.errors import InputError
from dpucbvi.mechanisms.blt import MARGIN, TABLE, error, inverse, parameters, sensitivity

LENGTHS = [1, 2, 7, 10, 11, 50, 100, 101, 300, 1000, 1001, 2000]


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


@pytest.mark.parametrize("T", [10**6, 10**7, 10**12])
def test_norms_of_streams_too_long_to_sum(T):
    """Against the same series with 60 digits, the zeros of s found by plain bisection."""
    mpmath = pytest.importorskip("mpmath")
    blt = parameters(min(T, max(TABLE)))
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


def test_the_table():
    for length, blt in TABLE.items():
        assert math.fsum(blt.w) == pytest.approx(1.0, abs=1e-15)
        falling = (1.0, *blt.x, 0.0)
        assert all(a > b for a, b in pairwise(falling)) and all(w > 0.0 for w in blt.w)
        assert len(blt.x) == len(blt.w)
        v, r = inverse(blt)  # c_1 = 1/b_0 - b_1/b_0² ties all of them: it tells x too close to each other
        c_1 = math.fsum(r_l * (1.0 - v_l) for r_l, v_l in zip(r, v, strict=True))
        b_1 = math.fsum(w * x for w, x in zip(blt.w, blt.x, strict=True))
        assert abs(c_1 - (1.0 - b_1)) < MARGIN / 10.0 and not set(v) & set(blt.gaps)
        assert parameters(length) is blt and parameters(length // 10 + 1) is blt
    for bad in (0, -1, 10**7 + 1, 2.5):
        with pytest.raises(InputError):
            parameters(bad)
