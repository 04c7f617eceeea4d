"""Private counts by hand: zeroing, the sum over s', rewards put right, known next states. And the cap of Q."""

import numpy as np
import pytest
from users import Fixed

import dpucbvi as dp
from dpucbvi.counts import FAMILIES, PrivateCounts, as_counts, counters, statistics, zeroed
from dpucbvi.mdp import Trajectory
from dpucbvi.projection import closed_form, no_postprocess
from dpucbvi.simulate import set_up
from dpucbvi.support import support_of

USER = Trajectory(np.array([0, 1]), np.array([0]), np.array([1.0]))


def flat(N_sa, N_sas, R):
    """G = 1, S = 2, A = 1: rows (s) of N(s,a), N(s,a,s') and R(s,a) as one vector."""
    vector = np.zeros(counters(1, 2, 1))
    counts = as_counts(vector, 1, 2, 1)
    counts.N_sa[0, :, 0], counts.N_sas[0, :, 0], counts.R[0, :, 0] = N_sa, N_sas, R
    return vector


def private(release, families="paper", zero=0.0, postprocess=no_postprocess, E=0.0):
    return PrivateCounts(release, postprocess, E, 1, 2, 1, FAMILIES[families], zero)


NOISY = flat([9.0, -4.0], [[5.0, 2.9], [-1.0, 3.0]], [2.0, -1.0])


def test_cells_below_tau_standard_deviations_are_zeroed():
    """τ = 2, sd 1.5 in state 0 and 1 in state 1: below 3 and below 2 goes, at the border stays."""
    counts = private(Fixed(NOISY, sd=np.array([[[1.5], [1.0]]])), zero=2.0).update(USER)
    assert counts.N_sas[0, :, 0].tolist() == [[5.0, 0.0], [0.0, 3.0]]
    assert counts.N_sa[0, :, 0].tolist() == [9.0, -4.0]  # it has a counter of its own
    assert counts.R[0, :, 0].tolist() == [2.0, -1.0]
    assert zeroed(np.array([3.0]), np.array(1.5), 2.0).tolist() == [3.0]


def test_without_a_counter_the_sum_over_next_states_takes_its_place_and_rewards_are_put_right():
    """N̂ = 5 + 2.9 and -1 + 3; R̃ = R̂ + N/2."""
    counts = private(Fixed(NOISY), families="tuned").update(USER)
    assert counts.N_sa[0, :, 0] == pytest.approx([7.9, 2.0])
    assert counts.R[0, :, 0] == pytest.approx([2.0 + 3.95, -1.0 + 1.0])


def test_zeroing_comes_before_the_sum():
    sd = np.full((1, 2, 1), 1.5)
    counts = private(Fixed(NOISY, sd=sd), families="tuned", zero=2.0).update(USER)
    assert counts.N_sa[0, :, 0] == pytest.approx([5.0, 3.0])
    assert counts.R[0, :, 0] == pytest.approx([4.5, 0.5])


def test_rewards_are_put_right_by_the_counts_after_the_lp():
    """E = 4, S = 2: cells (5, 2.9) shift by E/(2S) = 1 each; Ñ = 9.9, R̃ = 2 + 4.95. State 1: the LP wants a sum
    within 1 of 2 and max(-1, 0) + 3 = 3 is, so (0, 3) shifts to (1, 4): Ñ = 5, R̃ = -1 + 2.5."""
    made = private(Fixed(NOISY), families="tuned", postprocess=closed_form, E=4.0)
    counts = made.update(USER)
    assert counts.N_sas[0, :, 0] == pytest.approx(np.array([[6.0, 3.9], [1.0, 4.0]]))
    assert counts.N_sa[0, :, 0] == pytest.approx([9.9, 5.0])
    assert counts.R[0, :, 0] == pytest.approx([6.95, 1.5])
    assert made.N_hat.N_sa[0, :, 0] == pytest.approx([7.9, 2.0])


def test_where_nothing_is_released_the_last_counts_stay():
    made = private(Fixed(None, NOISY, None))
    assert not any(family.any() for family in made.update(USER))
    second = made.update(USER)
    assert second.N_sa[0, :, 0].tolist() == [9.0, -4.0]
    assert made.update(USER) is second


def test_statistics_of_the_tuned_families():
    """A user with rewards 1, 0, .25: no N(s,a); R sums r - ½."""
    user = Trajectory(np.array([0, 0, 1, 1]), np.zeros(3, dtype=np.int64), np.array([1.0, 0.0, 0.25]))
    counts = as_counts(statistics(user, 1, 2, 1, FAMILIES["tuned"]), 1, 2, 1)
    assert not counts.N_sa.any()
    assert counts.N_sas[0, :, 0].tolist() == [[1.0, 1.0], [0.0, 1.0]]
    assert counts.R[0, :, 0].tolist() == [0.0, -0.25]
    once = as_counts(statistics(user, 1, 2, 1, FAMILIES["tuned"], clip=1), 1, 2, 1)
    assert once.N_sas[0, :, 0].tolist() == [[1.0, 0.0], [0.0, 1.0]] and once.R[0, 0, 0] == 0.5


# --- the cap ------------------------------------------------------------------------------------------


def test_the_cap_of_the_steps_left_by_hand():
    """H = 3, one state, r = 0, bonus as printed: nothing is learned, so Q_h stays at H - h + 1 = 3, 2, 1, and
    the cap H keeps 3 everywhere."""
    mdp = dp.TabularMDP(P=np.ones((3, 1, 1, 1)), r=np.zeros((3, 1, 1)), initial=np.ones(1))
    for cap, expected in (("H", [3.0, 3.0, 3.0]), ("steps_left", [3.0, 2.0, 1.0])):
        for engine in ("reference", "fast"):
            run = dp.run(mdp, dp.DPUCBVI(cap=cap), dp.Central(1.0), K=5, engine=engine)
            assert run.Q.ravel().tolist() == expected


# --- which next states are counted: taken from P, or declared -----------------------------------------

WIDE = dp.riverswim(S=5, H=4)


def test_the_river_has_three_next_states_and_short_rows_are_filled_up():
    support = support_of(WIDE, 4)
    assert support.D == 3 and support.next.shape == (4, 5, 2, 3)
    assert support.next[0, 2, 1].tolist() == [1, 2, 3]  # swimming right may fail either way
    assert support.next[0, 3, 0].tolist() == [0, 1, 2]  # left is certain; filled up with the lowest others
    assert (np.diff(support.next, axis=-1) > 0).all()


def test_every_step_goes_to_its_own_counter():
    support = support_of(WIDE, 1)
    user = Trajectory(np.array([2, 3, 2]), np.array([1, 0]), np.zeros(2))
    moves = support.moves(user)
    assert moves.tolist() == [2, 2]
    impossible = Trajectory(np.array([0, 4]), np.array([0]), np.zeros(1))
    assert support.moves(impossible).tolist() == [0]


def test_pooling_takes_the_union_and_a_full_support_is_none():
    P = WIDE.P.copy()
    P[1, 0, 0] = [0.5, 0.0, 0.0, 0.0, 0.5]  # at this step alone
    mdp = dp.TabularMDP(P, WIDE.r, WIDE.initial)
    assert support_of(mdp, 4).next[:2, 0, 0].tolist() == [[0, 1, 2], [0, 1, 4]]
    assert support_of(mdp, 1).next[0, 0, 0].tolist() == [0, 1, 4]
    assert support_of(dp.random_mdp(S=3, A=2, H=4), 4) is None  # all are counted: the paper's run


@pytest.mark.parametrize("known", [np.ones((5, 2, 5), dtype=bool), "yes", None])
def test_what_says_neither_yes_nor_no_is_refused(known):
    with pytest.raises(dp.InputError, match=r"known_support: .* must be True or False"):
        set_up(WIDE, dp.DPUCBVI(), dp.Central(1.0), 9, known_support=known)


class Mine(dp.NonPrivate):
    """A privatizer of one's own that says nothing about supports."""

    sparse = False


@pytest.mark.parametrize("privatizer", [dp.OneQuestion(1.0), Mine()])
def test_a_privatizer_that_counts_all_next_states_refuses(privatizer):
    with pytest.raises(dp.InputError, match=r"known_support: .* counts all next states"):
        set_up(WIDE, dp.DPUCBVI(), privatizer, 9, known_support=True)


# --- refusals -----------------------------------------------------------------------------------------

RIVER = dp.riverswim(3, 4)
PER_STEP = "clip: has no effect on counts per step; it is for pooled counts"
NO_NOISE = "zero: only noisy counts that are post-processed can be zeroed; it must be 0 here"
REFUSED = [
    (dp.DPUCBVI(), dp.Toeplitz(1.0, clip=2), {}, PER_STEP),
    (dp.DPUCBVI(), dp.Batches(1.0, delta=1e-6, clip=1), {}, PER_STEP),
    (
        dp.DPUCBVI(pooled=True),
        dp.Toeplitz(1.0, clip=4),
        {},
        "clip: 4 has no effect; it must be an integer from",
    ),
    (dp.DPUCBVI(), dp.NonPrivate(), {"zero": 1.0}, NO_NOISE),
    (dp.PrivateUCBVI(), dp.Central(1.0), {"zero": 1.0}, NO_NOISE),
    (dp.DPUCBVI(), dp.Central(1.0), {"zero": -1.0}, "zero: -1.0 is not accepted; it must be a number >= 0"),
]


@pytest.mark.parametrize(("agent", "privatizer", "settings", "message"), REFUSED)
def test_what_makes_no_sense_is_refused(agent, privatizer, settings, message):
    with pytest.raises(dp.InputError) as error:
        set_up(RIVER, agent, privatizer, 9, **settings)
    assert str(error.value).startswith(message)
