"""How far batches fall behind (paper/PRIVACY.md): users, releases, widths, and the pair for which it fails."""

import math
from itertools import pairwise

import numpy as np
from hypothesis import given, settings, strategies as st

from dpucbvi.privatizers.batches import batch_ends

CHECKED = settings(max_examples=300, deadline=None, derandomize=True, database=None)
SCHEDULES = {"K": st.integers(2, 200_000), "b": st.integers(1, 500), "g": st.floats(0.01, 2.0)}


def most_releases(K, b, g):
    return math.ceil(1 / g) + max(0.0, math.log(g * K / b)) / math.log(1 + g / 2)


@given(**SCHEDULES)
@CHECKED
def test_users_fall_behind_by_a_batch_and_releases_are_logarithmically_many(K, b, g):
    ends = batch_ends(K - 1, b, 1 + g)
    begin = np.concatenate([[0], ends])
    last = np.concatenate([ends, [K]])  # (i) for the last user of every batch
    assert (last - 1 - begin < np.maximum(b, g * begin) + 1e-6 * K).all()
    assert len(ends) <= most_releases(K, b, g) + 1e-9


def test_releases_are_not_logarithmically_many_without_growth():
    """Control: batches that do not grow are more than the bound has at any g."""
    assert (
        len(batch_ends(49_999, 150, 1.0))
        == 333
        > most_releases(50_000, 150, 0.3)
        == 4 + math.log(100) / math.log(1.15)
    )


@given(**SCHEDULES, rate=st.floats(0.01, 1.0), slower=st.floats(0.0, 1.0))
@CHECKED
def test_widths_grow_by_the_root_of_the_growth_where_a_pair_is_visited_no_more_often(K, b, g, rate, slower):
    """(iii), for the last user of every batch that begins after b/g users."""
    ends = batch_ends(K - 1, b, 1 + g)
    for e, after in pairwise(ends):
        if g * e >= b:
            N_e, N_k = rate * e, rate * e + slower * rate * (after - 1 - e)
            assert 1 / math.sqrt(N_e) <= math.sqrt(1 + g) / math.sqrt(N_k) * (1 + 1e-12)


def test_it_fails_for_a_pair_that_is_met_late():
    """The last batch of K = 50,000: 9,199 users meet a pair that nobody has met before."""
    ends = batch_ends(49_999, 150, 1.3)
    sizes = np.diff(ends, prepend=0)
    assert sizes[-1] == 9199 > 40 * math.sqrt(50_000)
    N_e, N_k = 0, sizes[-1] - 1  # at one visit a user
    assert N_k > 1.3 * N_e + 150
