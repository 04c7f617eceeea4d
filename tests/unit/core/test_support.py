"""Which next states are counted: those that P has."""

import numpy as np
import pytest

import dpucbvi as dp
from dpucbvi.mdp import Trajectory
from dpucbvi.simulate import set_up
from dpucbvi.support import support_of

RIVER = dp.riverswim(S=5, H=4)


def test_the_river_has_three_next_states_and_short_rows_are_filled_up():
    support = support_of(RIVER, 4)
    assert support.D == 3 and support.next.shape == (4, 5, 2, 3)
    assert support.next[0, 2, 1].tolist() == [1, 2, 3]  # swimming right may fail either way
    assert support.next[0, 3, 0].tolist() == [0, 1, 2]  # left is certain; filled up with the lowest others
    assert (np.diff(support.next, axis=-1) > 0).all()


def test_every_step_goes_to_its_own_counter():
    support = support_of(RIVER, 1)
    user = Trajectory(np.array([2, 3, 2]), np.array([1, 0]), np.zeros(2))
    moves = support.moves(user)
    assert moves.tolist() == [2, 2]
    impossible = Trajectory(np.array([0, 4]), np.array([0]), np.zeros(1))
    assert support.moves(impossible).tolist() == [0]


def test_pooling_takes_the_union_and_a_full_support_is_none():
    P = RIVER.P.copy()
    P[1, 0, 0] = [0.5, 0.0, 0.0, 0.0, 0.5]  # at this step alone
    mdp = dp.TabularMDP(P, RIVER.r, RIVER.initial)
    assert support_of(mdp, 4).next[:2, 0, 0].tolist() == [[0, 1, 2], [0, 1, 4]]
    assert support_of(mdp, 1).next[0, 0, 0].tolist() == [0, 1, 4]
    assert support_of(dp.random_mdp(S=3, A=2, H=4), 4) is None  # all are counted: the paper's run


@pytest.mark.parametrize("known", [np.ones((5, 2, 5), dtype=bool), "yes", None])
def test_what_says_neither_yes_nor_no_is_refused(known):
    with pytest.raises(dp.InputError, match=r"known_support: .* must be True or False"):
        set_up(RIVER, dp.DPUCBVI(), dp.Central(1.0), 9, known_support=known)


class Mine(dp.NonPrivate):
    """A privatizer of one's own that says nothing about supports."""

    sparse = False


@pytest.mark.parametrize("privatizer", [dp.OneQuestion(1.0), Mine()])
def test_a_privatizer_that_counts_all_next_states_refuses(privatizer):
    with pytest.raises(dp.InputError, match=r"known_support: .* counts all next states"):
        set_up(RIVER, dp.DPUCBVI(), privatizer, 9, known_support=True)
