"""Which next states are counted: taken from P, or declared."""

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.mdp import Trajectory
from dpucbvi.simulate import set_up
from dpucbvi.support import support_of

RIVER = dp.riverswim(S=5, H=4)


def test_the_river_has_three_next_states_and_short_rows_are_filled_up():
    support = support_of(RIVER, 4, True)
    assert support.D == 3 and support.next.shape == (4, 5, 2, 3)
    assert support.next[0, 2, 1].tolist() == [1, 2, 3]  # swimming right may fail either way
    assert support.next[0, 3, 0].tolist() == [0, 1, 2]  # left is certain; filled up with the lowest others
    assert (np.diff(support.next, axis=-1) > 0).all()


def test_every_step_goes_to_its_own_counter():
    support = support_of(RIVER, 1, True)
    user = Trajectory(np.array([2, 3, 2]), np.array([1, 0]), np.zeros(2))
    moves = support.moves(user)
    assert moves.tolist() == [2, 2]
    impossible = Trajectory(np.array([0, 4]), np.array([0]), np.zeros(1))
    assert support.moves(impossible).tolist() == [0]


def test_a_declared_support_may_be_larger_and_pooling_takes_the_union():
    possible = np.broadcast_to(RIVER.P > 0, RIVER.P.shape).copy()
    possible[0, 0, 0, 3] = possible[1, 0, 0, 4] = True
    assert support_of(RIVER, 4, possible).D == 3
    assert support_of(RIVER, 1, possible).next[0, 0, 0].tolist() == [0, 3, 4]
    assert support_of(RIVER, 4, np.ones((5, 2, 5), dtype=bool)) is None  # all are counted: the paper's run


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (np.eye(5, dtype=bool)[:, None].repeat(2, axis=1), r"P\[0, 0, 1, 1\] = .*, and the support says"),
        (np.ones((5, 2, 5)), "float64 of shape"),
        (np.ones((2, 5), dtype=bool), r"\[s, a, s'\] or \[h, s, a, s'\]"),
        ("yes", "must be True, False"),
    ],
)
def test_a_support_that_does_not_fit_is_refused(known, told):
    with pytest.raises(dp.InputError, match="known_support: .*" + told):
        set_up(RIVER, dp.DPUCBVI(), dp.Central(1.0), 9, known_support=known)


class Mine(dp.NonPrivate):
    """A privatizer of one's own that says nothing about supports."""

    sparse = False


@pytest.mark.parametrize("privatizer", [dp.OneQuestion(1.0), Mine()])
def test_a_privatizer_that_counts_all_next_states_refuses(privatizer):
    with pytest.raises(dp.InputError, match=r"known_support: .* counts all next states"):
        set_up(RIVER, dp.DPUCBVI(), privatizer, 9, known_support=True)
