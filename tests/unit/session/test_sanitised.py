"""Whatever a user sends, the counters move by at most the sensitivity, and releases come when they come."""

import os

import numpy as np
import pytest
from clinic import MESSAGES, A, H, S
from hypothesis import example, given, settings, strategies as st

import dpucbvi as dp
from dpucbvi.counts import FAMILIES, Trajectory, sanitised, statistics
from dpucbvi.privacy.sensitivity import l1, l2_squared, largest_square
from dpucbvi.privacy.words import BLOCK, SystemWords
from dpucbvi.simulate import private_counts, set_up

MDP = dp.TabularMDP(np.full((H, S, A, S), 1.0 / S), np.zeros((H, S, A)), np.array([1.0, 0.0, 0.0]))


@settings(max_examples=300, deadline=None)
@given(one=MESSAGES, other=MESSAGES, families=st.sampled_from(list(FAMILIES)), G=st.sampled_from([1, H]))
@example(one=(None, [], None), other=([0, 0], [0], [50]), families="symbols", G=1)
def test_two_messages_are_no_further_apart_than_the_sensitivity(one, other, families, G):
    chosen = FAMILIES[families]
    a, b = (statistics(sanitised(*sent, H, S, A), G, S, A, chosen) for sent in (one, other))
    n = G * S * A
    cells = n * (2 * S if chosen.joint else S)  # of symbols, or of next states
    parts = (slice(0, n), slice(n, n + cells), slice(n + cells, None))
    for replaced, moved in ((False, a), (True, a - b)):
        for part, most, squared in zip(
            parts, l1(chosen, H, replaced), l2_squared(chosen, largest_square(H, G), replaced), strict=True
        ):
            assert np.abs(moved[part]).sum() <= most + 1e-12
            assert np.square(moved[part]).sum() <= squared + 1e-12


@settings(max_examples=60, deadline=None)
@given(sent=st.lists(MESSAGES, min_size=11, max_size=11), pooled=st.booleans())
def test_releases_come_when_they_come(sent, pooled):
    """Batches of 3: the counts are new after users 3, 6 and 9, whatever is sent."""
    setup = set_up(MDP, dp.DPUCBVI(pooled=pooled), dp.Batches(1.0, first=3, growth=1.0, noise="exact"), 12)
    private = private_counts(setup, seed=0)
    private.show(np.zeros((H, S), dtype=np.int64))
    last, new = private.counts, []
    for t, message in enumerate(sent, 1):
        if private.update(message) is not last:
            new.append(t)
        last = private.counts
        assert np.isfinite(np.concatenate([family.ravel() for family in last])).all()
    assert new == [3, 6, 9]


def test_what_can_be_read_is_read():
    """The first H steps, rewards cut; a shorter one is as long as it is; integers of numpy are integers."""
    long = sanitised([0, 1, 2] * 5, (1, 0) * 6, [0.5, 50, -3, float("nan"), 1.0], H, S, A)
    assert long.s.tolist() == [0, 1, 2, 0, 1] and long.a.tolist() == [1, 0, 1, 0]
    assert long.r.tolist() == [0.5, 1.0, 0.0, 0.0]
    short = sanitised(np.array([2, 1], dtype=np.uint8), [np.int32(1)], [True], H, S, A)
    assert (short.s.tolist(), short.a.tolist(), short.r.tolist()) == ([2, 1], [1], [1.0])
    assert sanitised([0, 1], [0], ["many"], H, S, A).r.tolist() == [0.0]


@pytest.mark.parametrize(
    ("s", "a"),
    [
        ([-1, 0], [0]),
        ([0, 3], [0]),
        ([0, 1], [2]),
        ([0.0, 1.0], [0]),
        ([False, 2], [0]),
        ("01", [0]),
        ([[0, 1]], [0]),
    ],
    ids=["state -1", "state S", "action A", "floats", "a Boolean", "text", "nested"],
)
def test_what_cannot_be_read_adds_nothing(s, a):
    read = sanitised(s, a, [1.0], H, S, A)
    assert read.a.size == 0 and not statistics(Trajectory(*read), H, S, A).any()


def test_parent_and_child_draw_words_of_their_own():
    """The same 8 words by chance: 2^-256."""
    source = SystemWords()
    next(source)
    assert source.block.size - source.at[0] == BLOCK - 1
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, b"".join(next(source).to_bytes(4) for _ in range(8)))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 64) != b"".join(next(source).to_bytes(4) for _ in range(8))
    os.close(read)
    os.close(write)
