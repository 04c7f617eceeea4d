"""How far one user moves the counters: every pair of trajectories of tiny MDPs, through counts.statistics.

Distances are worked out between the distinct vectors of a family, so that all pairs are covered and few are
computed twice.
"""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from dpucbvi.counts import FAMILIES, as_counts, statistics
from dpucbvi.mdp import Trajectory
from dpucbvi.privacy import sensitivity
from dpucbvi.privacy.sensitivity import l1, l2_squared, largest_square

HALF = (0.0, 0.5, 1.0)
ENDS = (0.0, 1.0)
# (H, S, A, rewards); rewards enter linearly, so the ends are enough where there are many trajectories
SIZES = [
    (1, 2, 1, HALF),
    (1, 3, 2, HALF),
    (2, 2, 1, HALF),
    (2, 2, 2, HALF),
    (2, 3, 1, HALF),
    (3, 2, 1, HALF),
    (3, 3, 1, ENDS),
    (3, 2, 2, ENDS),
    (3, 3, 2, ENDS),
]
# Clips need pairs enough for two users who meet none of each other's: 2⌈H/m⌉ of them.
CLIPS = [(2, 2, 2, HALF, 1), (3, 2, 1, HALF, 1), (3, 2, 1, HALF, 2), (3, 2, 2, ENDS, 2), (3, 3, 2, ENDS, 1)]
ROOMY = {(2, 2, 2, 1), (3, 2, 2, 2), (3, 3, 2, 1)}
CASES = [(*size, None, pooled) for size in SIZES for pooled in (False, True)] + [(*c, True) for c in CLIPS]

MANY = (3, 3, 2, ENDS, None, False, "symbols")  # 5,184 vectors of 108 counters: all pairs take some seconds
each = pytest.mark.parametrize(
    ("H", "S", "A", "rewards", "clip", "pooled", "name"),
    [
        pytest.param(*case, name, marks=[pytest.mark.slow] if (*case, name) == MANY else [])
        for case in CASES
        for name in FAMILIES
    ],
)


@cache
def all_users(H, S, A, rewards, clip, pooled, name):
    """N(s,a), N(s,a,s') and R(s,a) of every trajectory, one row each."""
    G, families = 1 if pooled else H, FAMILIES[name]
    users = [
        as_counts(statistics(Trajectory(*map(np.array, (s, a, r))), *size, families, clip), *size, cells)
        for size, cells in [((G, S, A), families.cells(S))]
        for s in product(range(S), repeat=H + 1)
        for a in product(range(A), repeat=H)
        for r in product(ENDS if families.joint else rewards, repeat=H)  # a symbol has a bit
    ]
    return [np.array([counts[i].ravel() for counts in users]) for i in range(3)]


def largest(vectors, others):
    """The largest ℓ1 and squared ℓ2 distance between a vector of the one kind and one of the other.

    Row by row: all pairs at once take gigabytes.
    """
    one, other = np.unique(vectors, axis=0), np.unique(others, axis=0)
    apart = (np.abs(other - row) for row in one)
    return tuple(np.max([(d.sum(axis=1).max(), (d * d).sum(axis=1).max()) for d in apart], axis=0))


@each
def test_the_closed_forms_are_never_exceeded_and_attained(H, S, A, rewards, clip, pooled, name):
    families, users = FAMILIES[name], all_users(H, S, A, rewards, clip, pooled, name)
    V = largest_square(H, 1 if pooled else H, clip)
    assert V == {None: H * H if pooled else H, 1: H, 2: 5}[clip]  # H = 3 = 2 + 1 where clip = 2
    for replaced in (False, True):
        claimed = zip(l1(families, H, replaced), l2_squared(families, V, replaced), strict=True)
        for vectors, (most, most_squared) in zip(users, claimed, strict=True):
            found, squared = largest(vectors, vectors if replaced else np.zeros_like(vectors[:1]))
            assert found <= most and squared <= most_squared
            if clip is None:
                assert (found, squared) == (most, most_squared)
            elif (H, S, A, clip) in ROOMY:
                assert squared == most_squared


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("pooled", [False, True])
def test_the_families_are_moved_at_once_in_l1(pooled, name):
    """Σ_f Δ_f/(share_f-weighted scale) is exact: one pair of users attains all ℓ1 changes together."""
    H, S, A = 2, 2, 2
    families = FAMILIES[name]
    N, M, R = all_users(H, S, A, ENDS, None, pooled, name)
    for replaced in (False, True):
        weights = [1.0 / float(most) if most else 0.0 for most in l1(families, H, replaced)]
        together = np.hstack([w * x for w, x in zip(weights, (N, M, R), strict=True)])
        found, _ = largest(together, together if replaced else np.zeros_like(together[:1]))
        assert found == pytest.approx(sum(w > 0 for w in weights), rel=1e-12)


@pytest.mark.parametrize("H", [1, 2, 3, 7, 20])
def test_clipping_lies_between_per_step_and_pooled(H):
    """V by brute force: the largest Σc² of H visits to cells that take at most m each."""

    def partitions(left, most):
        if left == 0:
            yield 0
        for c in range(1, min(left, most) + 1):
            for rest in partitions(left - c, c):
                yield c * c + rest

    for m in range(1, H + 1):
        assert largest_square(H, 1, m) == max(partitions(H, m))
        assert largest_square(H, H) <= largest_square(H, 1, m) <= largest_square(H, 1)


# --- N(s,a,s') and centred R together -------------------------------------------------------------------------


def reached(H, S, A, pooled, clip=None):
    """The largest (3x + 2y)/(8V) over all pairs of users; rewards 1 against 0 move R farthest."""
    G, families = 1 if pooled else H, FAMILIES["tuned"]
    rows, V = G * S * A, largest_square(H, G, clip)
    weights = np.sqrt(np.repeat([3.0, 2.0], [rows * S, rows]))
    ones, zeros = (
        weights
        * np.unique(
            [
                statistics(Trajectory(np.array(s), np.array(a), np.full(H, r)), G, S, A, families, clip)[rows:]
                for s in product(range(S), repeat=H + 1)
                for a in product(range(A), repeat=H)
            ],
            axis=0,
        )
        for r in (1.0, 0.0)
    )
    far = (zeros**2).sum(axis=1)
    return max(((one**2).sum() + far - 2 * zeros @ one).max() for one in ones) / (8 * V)


TOGETHER = [(1, 2, 1), (2, 2, 2), (2, 3, 1), (3, 2, 2), (3, 3, 1), (4, 2, 1), (4, 3, 1), (5, 2, 1)]
LARGER = [pytest.param(*size, marks=pytest.mark.slow) for size in ((4, 2, 2), (5, 3, 1))]


@pytest.mark.parametrize(("H", "S", "A"), [*TOGETHER, *LARGER])
@pytest.mark.parametrize("pooled", [False, True])
def test_two_families_are_never_at_their_worst_together(H, S, A, pooled):
    """All pairs of users: the share that is claimed is reached, and no more."""
    claimed = sensitivity.reached_together(FAMILIES["tuned"], "replace_one", H, 1 if pooled else H, None)
    assert reached(H, S, A, pooled) == pytest.approx(float(claimed), rel=1e-12)
    assert claimed == (
        1 if H == 1 else Fraction(7, 8) if pooled else Fraction(7, 8) + Fraction(-(-H // 2), 8 * H)
    )


def test_with_a_clip_they_may_be():
    """So that nothing is claimed there, nor of other families and relations."""
    assert reached(2, 2, 1, True, clip=1) == pytest.approx(1.0)
    assert sensitivity.reached_together(FAMILIES["tuned"], "replace_one", 4, 4, None) == Fraction(15, 16)
    others = [("tuned", "replace_one", 2), ("tuned", "paper", None), ("paper", "replace_one", None)]
    for families, relation, clip in [*others, ("symbols", "replace_one", None)]:
        assert sensitivity.reached_together(FAMILIES[families], relation, 4, 1, clip) == 1
