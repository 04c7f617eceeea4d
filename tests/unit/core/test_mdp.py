"""TabularMDP refuses what is not an MDP, by index, and `rollout` draws from the one it was given."""

import hashlib

import numpy as np
import pytest

from dpucbvi import InputError, TabularMDP
from dpucbvi.mdp import draw, rollout

H, S, A = 2, 3, 2


def parts(**changes):
    """The fields of a valid MDP (H=2, S=3, A=2), some of them replaced."""
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(S), size=(H, S, A))
    r = rng.random((H, S, A))
    return {"P": P, "r": r, "initial": np.array([0.5, 0.25, 0.25])} | changes


def altered(key, index, value):
    array = parts()[key].copy()
    array[index] = value
    return {key: array}


ROW = (1, 2, 0)  # one row of P

BAD = {
    "P negative": (altered("P", ROW, [-0.25, 1.0, 0.25]), "P[1, 2, 0, 0] = -0.25"),
    "initial sum": ({"initial": [0.5, 0.25, 0.0]}, "initial sums to 0.75"),
    "initial negative": ({"initial": [0.5, -0.5, 1.0]}, "initial[1] = -0.5"),
    "r negative": (altered("r", (0, 1, 1), -1e-12), "r[0, 1, 1] = -1e-12"),
    "r above 1": (altered("r", (0, 1, 1), 1.5), "r[0, 1, 1] = 1.5"),
    "P three axes": ({"P": np.full((3, 2, 3), 1 / 3)}, "P: shape (3, 2, 3) is not (H, S, A, S)"),
    "P not square": ({"P": np.full((2, 3, 2, 4), 1 / 4)}, "P: shape (2, 3, 2, 4) is not (H, S, A, S)"),
    "r shape": ({"r": np.zeros((2, 3))}, "r: shape (2, 3) is not (H, S, A) = (2, 3, 2)"),
    "initial shape": ({"initial": [0.5, 0.5]}, "initial: shape (2,) is not (S,) = (3,)"),
    "rewards": ({"rewards": "gaussian"}, "rewards: 'gaussian' is not one of deterministic, bernoulli"),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD.keys())
def test_a_bad_mdp_is_refused_with_its_first_offending_index(changes, message):
    with pytest.raises(InputError) as error:
        TabularMDP(**parts(**changes))
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_rounding_of_a_row_is_accepted_and_more_is_not():
    row = np.full(3, 1 / 3)
    TabularMDP(**parts(**altered("P", ROW, row + 1e-10)))
    with pytest.raises(InputError, match="sums to 1"):
        TabularMDP(**parts(**altered("P", ROW, row + 1e-9)))


def test_arrays_are_read_only_copies():
    given = parts()
    mdp = TabularMDP(**given)
    before = mdp.P.copy()
    given["P"][0, 0, 0] = [1.0, 0.0, 0.0]
    assert np.array_equal(mdp.P, before)
    for array in (mdp.P, mdp.r, mdp.initial):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    with pytest.raises(AttributeError):
        mdp.P = before


def test_stationary_means_every_step_alike():
    given = parts()
    P, r = np.stack([given["P"][0]] * H), np.stack([given["r"][0]] * H)
    assert TabularMDP(**parts(P=P, r=r)).stationary
    assert not TabularMDP(**parts(P=P)).stationary  # rewards differ
    assert not TabularMDP(**parts(r=r)).stationary  # transitions differ


# --- rollout -------------------------------------------------------------------------------------


def test_draw_inverts_the_cdf_and_skips_empty_cells():
    p = np.array([0.0, 0.25, 0.0, 0.5, 0.25, 0.0])
    cases = {0.0: 1, 0.2499: 1, 0.25: 3, 0.7499: 3, 0.75: 4, 0.9999: 4}
    assert {u: draw(p, u) for u in cases} == cases
    # A row that rounding left below 1: a uniform above its sum gets the last cell that has mass.
    assert draw(np.array([0.5, 0.5 - 1e-10, 0.0]), 1.0 - 1e-12) == 1


def test_rollout_follows_its_uniforms():
    """Every entry derived by hand: uniforms are (s_1), then (action, next state, reward) per step."""
    P = np.zeros((2, 2, 2, 2))
    P[0, 0] = [[0.3, 0.7], [0.6, 0.4]]
    P[0, 1] = [[1.0, 0.0], [0.0, 1.0]]
    P[1, 0] = [[0.2, 0.8], [0.5, 0.5]]
    P[1, 1] = [[0.9, 0.1], [0.5, 0.5]]
    r = np.array([[[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.6], [0.7, 0.8]]])
    u = np.array([0.39, 0.9, 0.29, 0.15, 0.1, 0.25, 0.49])
    initial = np.array([0.4, 0.6])
    pi = np.array([[1, 0], [0, 1]])

    # s_1: .39 < .4 -> 0. Step 1: pi -> 1, P = (.6, .4), .29 -> 0. Step 2: pi -> 0, P = (.2, .8), .25 -> 1.
    paid = rollout(TabularMDP(P, r, initial), pi, u)
    assert (paid.s.tolist(), paid.a.tolist(), paid.r.tolist()) == ([0, 0, 1], [1, 0], [0.2, 0.5])

    # Coins: .15 < .2 -> 1; .49 < .5 -> 1. One notch above both means they are 0.
    coin = TabularMDP(P, r, initial, "bernoulli")
    assert rollout(coin, pi, u).r.tolist() == [1.0, 1.0]
    u_above = u.copy()
    u_above[[3, 6]] = [0.2, 0.5]
    assert rollout(coin, pi, u_above).r.tolist() == [0.0, 0.0]
    assert rollout(coin, pi, u_above).s.tolist() == [0, 0, 1]

    # A stochastic policy reads the action uniforms .9 and .1, which the deterministic one left alone.
    mixed = np.full((2, 2, 2), 0.5)
    drawn = rollout(TabularMDP(P, r, initial), mixed, u)
    assert (drawn.a.tolist(), drawn.s.tolist()) == ([1, 0], [0, 0, 1])


def test_a_p_that_is_the_same_at_every_step_is_kept_once():
    """However it was given, and with the same hash as an array of all steps."""
    P, r = np.full((100, 2, 100), 0.01), np.zeros((40, 100, 2))
    once = TabularMDP(np.broadcast_to(P, (40, *P.shape)), r, np.eye(100)[0])
    every = TabularMDP(np.tile(P, (40, 1, 1, 1)), r, np.eye(100)[0])
    for mdp in (once, every):
        assert mdp.stationary and mdp.P.shape == (40, 100, 2, 100) and mdp.P_once.shape[0] == 1
        assert mdp.P.base.nbytes == P.nbytes and not mdp.P.flags.writeable
    content = repr(every.P.shape).encode() + np.tile(P, (40, 1, 1, 1)).tobytes() + r.tobytes()
    assert once.sha256 == every.sha256 == hashlib.sha256(content + once.initial.tobytes()).hexdigest()
    changed = np.tile(P, (40, 1, 1, 1))
    changed[39, 0, 0, :2] = 0.02, 0.0
    assert not TabularMDP(changed, r, np.eye(100)[0]).stationary
    P[:] = 0.0  # the caller's array is not the MDP's
    assert once.P.sum() == pytest.approx(40 * 100 * 2)


def test_positive_entries_are_those_of_p_in_their_order():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(5), size=(3, 5, 2)) * (rng.random((3, 5, 2, 5)) < 0.4) + 1e-3 * np.eye(5)[0]
    mdp = TabularMDP(P / P.sum(axis=-1, keepdims=True), np.zeros((3, 5, 2)), np.eye(5)[0])
    values, successor = mdp.positive
    for at in np.ndindex(3, 5, 2):
        there = np.flatnonzero(mdp.P[at])
        np.testing.assert_array_equal(successor[at][: len(there)], there)
        np.testing.assert_array_equal(values[at][: len(there)], mdp.P[at][there])
        assert not values[at][len(there) :].any()
