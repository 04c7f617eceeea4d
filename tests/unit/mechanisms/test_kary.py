"""The k-ary tree with negative digits: B C = A, one noise per block, the recurrence against dense matrices."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from noises import kary_noise

from dpucbvi.errors import InputError
from dpucbvi.mechanisms.kary import digits, kary_levels, most_terms
from dpucbvi.privacy.laplace import LaplaceStream, seed_stream

TREES = [(3, 1), (3, 13), (3, 40), (3, 41), (3, 364), (5, 12), (5, 13), (5, 62), (5, 200), (19, 9), (19, 400)]
bases = st.integers(1, 30).map(lambda h: 2 * h + 1)


class Counting:
    """Lap(1) draws that are remembered, in order."""

    def __init__(self, seed=0):
        self._stream, self.drawn = LaplaceStream(seed_stream(seed, "privacy")), []

    def draw(self, n):
        self.drawn.append(self._stream.draw(n))
        return self.drawn[-1]


def blocks_of(t, k, L):
    """(level, block number, sign) of the release at t, by walking from 0 to t, the largest level first."""
    used, place = [], 0
    for i in reversed(range(L)):
        d = digits(t, k, L)[i]
        assert place % k ** (i + 1) == 0
        first = place // k**i
        used += [(i, first + j, 1) for j in range(1, d + 1)]
        used += [(i, first - j, -1) for j in range(-d)]
        place += d * k**i
    assert place == t
    return used


def dense(k, T):
    """B, C and the blocks, in the order in which the recurrence draws their noise."""
    L = kary_levels(T, k)
    releases = [blocks_of(t, k, L) for t in range(1, T + 1)]
    order = {}
    for used in releases:
        # Levels from 0 upwards; in a negative half the block next to mk first, which is the last one
        for i, q, sign in sorted(used, key=lambda block: (block[0], -block[1] if block[2] < 0 else block[1])):
            order.setdefault((i, q), sign)
    names = list(order)
    C = np.array([[(q - 1) * k**i < item <= q * k**i for item in range(1, T + 1)] for i, q in names])
    B = np.zeros((T, len(names)), dtype=int)
    for t, used in enumerate(releases):
        for i, q, sign in used:
            B[t, names.index((i, q))] += sign
    return B, C.astype(int), names, order


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


@pytest.mark.parametrize(
    ("T", "k", "L"), [(0, 3, 0), (1, 3, 1), (2, 3, 2), (4, 3, 2), (5, 3, 3), (65_160, 19, 4), (65_161, 19, 5)]
)
def test_levels(T, k, L):
    assert kary_levels(T, k) == L


@pytest.mark.parametrize("k", [3, 5, 19])
def test_the_last_release_of_a_full_tree_has_the_most_terms(k):
    terms = [sum(map(abs, digits(t, k, 3))) for t in range(1, (k**3 - 1) // 2 + 1)]
    assert terms[-1] == max(terms) == most_terms(k, 3)


def test_the_known_figures_at_50_000():
    """RMS noise of a counter of sensitivity 1 at pure ε = 1: b = L, and 19 is the best odd k."""

    def mean_square(k):
        t, half, terms = np.arange(1, 50_001), (k - 1) // 2, 0.0
        for _ in range(kary_levels(50_000, k)):
            d = (t + half) % k - half
            t, terms = (t - d) // k, terms + np.abs(d)
        assert not t.any()
        return float(terms.mean())

    def rms(k):
        return kary_levels(50_000, k) * math.sqrt(2 * mean_square(k))

    assert kary_levels(50_000, 19) == 4 and most_terms(19, 4) == 36
    assert mean_square(19) == 17.7704
    assert rms(19) == pytest.approx(23.846, abs=5e-4)
    assert min(range(3, 400, 2), key=rms) == 19
    binary = 16 * math.sqrt(2 * sum(t.bit_count() for t in range(1, 50_001)) / 50_000)
    assert binary == pytest.approx(62.586, abs=5e-4)


@pytest.mark.parametrize("k", [1, 2, 4, 20, 3.0, -3])
def test_a_base_is_odd_and_at_least_3(k):
    for call in (
        lambda: kary_levels(5, k),
        lambda: most_terms(k, 2),
        lambda: kary_noise(1, k, 2, 1.0, Counting()),
    ):
        with pytest.raises(InputError):
            call()


# --- the matrices ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "T"), TREES)
def test_b_times_c_is_the_matrix_of_ones(k, T):
    """Exactly; a column of C has at most L ones, one per level; a block has one sign, the middle none."""
    L = kary_levels(T, k)
    B, C, names, order = dense(k, T)
    assert np.array_equal(B @ C, np.tri(T, dtype=int))
    assert C.sum(axis=0).max() <= L
    for level in range(L):
        assert C[[i == level for i, _ in names]].sum(axis=0).max() <= 1
    assert np.isin(B, (-1, 0, 1)).all() and (np.abs(B).sum(axis=1) <= most_terms(k, L)).all()
    for (_, q), sign in order.items():
        residue = (q - 1) % k + 1
        assert residue <= k // 2 if sign > 0 else residue > k // 2 + 1
    assert all((B[:, n] * order[name] >= 0).all() for n, name in enumerate(names))


def test_the_sensitivity_of_l_is_attained():
    assert dense(3, 40)[1].sum(axis=0).max() == 4 == kary_levels(40, 3)


def test_the_shear_of_the_privacy_proof():
    """An adaptive stream: item j replaced, the noise moved by C e_j (v - v'): every release is the same."""
    k, T, j = 3, 40, 17
    B, C, names, _ = dense(k, T)
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


# --- the noise ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "T"), TREES)
def test_the_recurrence_is_b_times_what_is_drawn(k, T):
    """Block by block in the promised order, each drawn once, with a vector of scales."""
    B, _, names, _ = dense(k, T)
    scale, stream = np.array([1.0, 0.0, 2.5]), Counting()
    noise = kary_noise(3, k, kary_levels(T, k), scale, stream)
    released = np.array([noise.next() for _ in range(T)])
    drawn = np.array(stream.drawn)
    assert len(drawn) >= len(names)
    # Blocks of the last negative halves that no release up to T uses yet may be drawn already
    L = kary_levels(T, k)
    full = dense(k, (k**L - 1) // 2) if len(drawn) > len(names) else (B,)
    assert np.abs(released - full[0][:T, : len(drawn)] @ drawn * scale).max() < 1e-10


@pytest.mark.parametrize(("k", "L"), [(3, 1), (3, 5), (5, 3), (19, 2)])
def test_a_full_tree_draws_one_vector_per_release(k, L):
    T, stream = (k**L - 1) // 2, Counting()
    noise, at_once = kary_noise(2, k, L, 1.0, stream), []
    for t in range(1, T + 1):
        before = len(stream.drawn)
        noise.next()
        at_once.append(len(stream.drawn) - before)
        assert noise.state.digits.tolist() == digits(t, k, L)
    assert len(stream.drawn) == T
    assert max(at_once) == (k - 1) // 2 * (L - 1) + 1
    with pytest.raises(OverflowError, match="not for more"):
        noise.next()
