"""The k-ary tree with negative digits: B C = A, one noise per block, the recurrence against dense matrices."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from theory import digits, kary_blocks

from dpucbvi.mechanisms.kary import kary_levels, most_terms

TREES = [(3, 1), (3, 13), (3, 40), (3, 41), (3, 364), (5, 12), (5, 13), (5, 62), (5, 200), (19, 9), (19, 400)]
bases = st.integers(1, 30).map(lambda h: 2 * h + 1)


def dense(k, T):
    """B, C and the blocks (level, number), in the order in which the noise is drawn."""
    B, blocks = kary_blocks(T, k)
    C = np.array([[(q - 1) * k**i < item <= q * k**i for item in range(1, T + 1)] for i, q in blocks])
    return B, C.astype(int), blocks


# --- digits and counts ----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(bases, st.integers(0, 10**9))
def test_digits_write_t_and_the_levels_are_just_enough(k, t):
    L = kary_levels(t, k)
    d = digits(t, k, L)
    assert sum(d_i * k**i for i, d_i in enumerate(d)) == t
    assert max(map(abs, d), default=0) <= (k - 1) // 2
    assert t <= (k**L - 1) // 2 and (L == 0 or t > (k ** (L - 1) - 1) // 2)
    if L:
        with pytest.raises(OverflowError):
            digits(t, k, L - 1)


# --- the matrices ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "T"), TREES)
def test_b_times_c_is_the_matrix_of_ones(k, T):
    """Exactly; a column of C has at most L ones, one per level; a block has one sign, the middle none."""
    L = kary_levels(T, k)
    B, C, names = dense(k, T)
    assert np.array_equal(B @ C, np.tri(T, dtype=int))
    assert C.sum(axis=0).max() <= L
    for level in range(L):
        assert C[[i == level for i, _ in names]].sum(axis=0).max() <= 1
    assert np.isin(B, (-1, 0, 1)).all() and (np.abs(B).sum(axis=1) <= most_terms(k, L)).all()
    for column, (_, q) in zip(B.T, names, strict=True):
        residue = (q - 1) % k + 1
        assert (column >= 0).all() if residue <= k // 2 else (column <= 0).all() and residue > k // 2 + 1


def test_the_shear_of_the_privacy_proof():
    """An adaptive stream: item j replaced, the noise moved by C e_j (v - v'): every release is the same."""
    k, T, j = 3, 40, 17
    B, C, names = dense(k, T)
    z = np.random.default_rng(0).laplace(size=len(names))

    def releases(z, replaced):
        total, out = 0.0, []
        for t in range(T):
            item = math.cos(sum(out))  # what the stream answers to the releases so far
            if t == j and replaced:
                item = math.sin(3 * sum(out))
            total += item
            out.append(total + B[t] @ z)
        return np.array(out)

    before = releases(z, False)
    past = sum(before[:j])
    v, other = math.cos(past), math.sin(3 * past)
    moved = z + C[:, j] * (v - other)
    assert np.allclose(releases(moved, True), before, atol=1e-9)
    assert not np.allclose(releases(z, True), before, atol=1e-3)
    assert np.abs(moved - z).sum() <= kary_levels(T, k) * abs(v - other) + 1e-12
