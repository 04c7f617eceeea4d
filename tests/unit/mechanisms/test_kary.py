"""The k-ary tree with negative digits: B C = A, one noise per block, the recurrence against dense matrices."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from theory import kary_blocks

from dpucbvi.mechanisms.kary import kary_levels, most_terms

TREES = [(3, 1), (3, 13), (3, 40), (3, 41), (3, 364), (5, 12), (5, 13), (5, 62), (5, 200), (19, 9), (19, 400)]
bases = st.integers(1, 30).map(lambda h: 2 * h + 1)


def dense(k, T):
    """B, C and the blocks (level, number), in the order in which the noise is drawn."""
    B, blocks = kary_blocks(T, k)
    C = np.array([[(q - 1) * k**i < item <= q * k**i for item in range(1, T + 1)] for i, q in blocks])
    return B, C.astype(int), blocks


@settings(deadline=None)
@given(bases, st.integers(0, 10**9))
def test_the_levels_are_just_enough(k, t):
    """L digits of at most (k-1)/2 reach (k^L - 1)/2."""
    L = kary_levels(t, k)
    assert t <= (k**L - 1) // 2 and (L == 0 or t > (k ** (L - 1) - 1) // 2)


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
