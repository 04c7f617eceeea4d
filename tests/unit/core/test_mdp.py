"""TabularMDP refuses what is not an MDP, by index, and `rollout` draws from the one it was given."""

import hashlib
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from dpucbvi import InputError, TabularMDP, random_mdp
from dpucbvi.mdp import draw, rollout, uniforms_per_episode

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


NAN, INF = float("nan"), float("inf")
ROW = (1, 2, 0)  # one row of P

BAD = {
    "P negative": (altered("P", ROW, [-0.25, 1.0, 0.25]), "P[1, 2, 0, 0] = -0.25"),
    "P infinite": (altered("P", (1, 2, 0, 1), INF), "P[1, 2, 0] sums to inf"),
    "P above 1": (altered("P", ROW, [0.5, 0.5, 0.25]), "P[1, 2, 0] sums to 1.25"),
    "initial sum": ({"initial": [0.5, 0.25, 0.0]}, "initial sums to 0.75"),
    "initial negative": ({"initial": [0.5, -0.5, 1.0]}, "initial[1] = -0.5"),
    "r negative": (altered("r", (0, 1, 1), -1e-12), "r[0, 1, 1] = -1e-12"),
    "r above 1": (altered("r", (0, 1, 1), 1.5), "r[0, 1, 1] = 1.5"),
    "P three axes": ({"P": np.full((3, 2, 3), 1 / 3)}, "P: shape (3, 2, 3) is not (H, S, A, S)"),
    "P not square": ({"P": np.full((2, 3, 2, 4), 1 / 4)}, "P: shape (2, 3, 2, 4) is not (H, S, A, S)"),
    "P no steps": ({"P": np.zeros((0, 3, 2, 3))}, "P: shape (0, 3, 2, 3) is not (H, S, A, S)"),
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


def test_the_first_of_several_offences_is_named():
    P = parts()["P"].copy()
    P[0, 1, 1, 2] = -1.0
    P[1, 2, 0, 1] = -2.0
    with pytest.raises(InputError, match=r"^P\[0, 1, 1, 2\] = -1"):
        TabularMDP(**parts(P=P))


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


def test_the_number_of_uniforms_does_not_depend_on_the_policy():
    """The same generator meets the same environment under any policy: 1 + 3H uniforms per episode."""
    assert [uniforms_per_episode(h) for h in (1, 2, 20)] == [4, 7, 61]
    drawn = random_mdp(S=3, A=2, H=4, seed=3)
    mdp = TabularMDP(drawn.P, drawn.r, np.full(3, 1 / 3), "bernoulli")
    n = uniforms_per_episode(mdp.H)
    used = np.zeros(n, dtype=bool)
    rng = np.random.default_rng(4)
    mixed = np.full((4, 3, 2), 0.5)
    for _ in range(200):  # each uniform matters: changing it changes some trajectory
        u = rng.random(n)
        base = rollout(mdp, mixed, u)
        for i in range(n):
            v = u.copy()
            v[i] = (v[i] + 0.5) % 1.0
            other = rollout(mdp, mixed, v)
            used[i] |= not all(np.array_equal(x, y) for x, y in zip(base, other, strict=True))
    assert used.all()
    with pytest.raises((IndexError, ValueError)):
        rollout(mdp, mixed, rng.random(n - 1))


def trajectory_probabilities(mdp, pi):
    """Every (s, a, r) of a Bernoulli-reward MDP and its probability, by multiplying along the path."""
    table = {}
    for s in product(range(mdp.S), repeat=mdp.H + 1):
        for a in product(range(mdp.A), repeat=mdp.H):
            for r in product((0, 1), repeat=mdp.H):
                p = mdp.initial[s[0]]
                for h in range(mdp.H):
                    mean = mdp.r[h, s[h], a[h]]
                    p *= pi[h, s[h], a[h]] * mdp.P[h, s[h], a[h], s[h + 1]]
                    p *= mean if r[h] else 1 - mean
                table[s, a, r] = p
    return table


def chi_square_p_value(mdp, pi, claimed, episodes, seed):
    rng = np.random.default_rng(seed)
    seen = dict.fromkeys(claimed, 0)
    for u in rng.random((episodes, uniforms_per_episode(mdp.H))):
        t = rollout(mdp, pi, u)
        seen[tuple(t.s.tolist()), tuple(t.a.tolist()), tuple(t.r.astype(int).tolist())] += 1
    kept = [key for key, p in claimed.items() if p * episodes >= 5]
    rest_p = max(1 - sum(claimed[key] for key in kept), 0.0)
    expected = np.array([claimed[key] for key in kept] + [rest_p]) * episodes
    observed = np.array([seen[key] for key in kept] + [episodes - sum(seen[key] for key in kept)])
    if expected[-1] < 5:
        expected[-2:] = expected[-2:].sum(), 0
        observed[-2:] = observed[-2:].sum(), 0
        expected, observed = expected[:-1], observed[:-1]
    return chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1)


def test_trajectories_have_the_probabilities_of_the_mdp():
    """Chi-square over all 128 trajectories of a 2-step MDP; false alarms 1e-6. The same sample must be
    refused against an MDP whose rewards are 0.1 higher, and against the steps in the wrong order."""
    mdp = TabularMDP(
        random_mdp(S=2, A=2, H=2, seed=5).P,
        np.array([[[0.2, 0.7], [0.5, 0.4]], [[0.6, 0.3], [0.8, 0.1]]]),
        np.array([0.7, 0.3]),
        "bernoulli",
    )
    pi = np.array([[[0.3, 0.7], [0.6, 0.4]], [[0.5, 0.5], [0.2, 0.8]]])
    claimed = trajectory_probabilities(mdp, pi)
    assert sum(claimed.values()) == pytest.approx(1.0)
    assert chi_square_p_value(mdp, pi, claimed, 20_000, seed=6) > 1e-6
    richer = TabularMDP(mdp.P, mdp.r + 0.1, mdp.initial, "bernoulli")
    assert chi_square_p_value(mdp, pi, trajectory_probabilities(richer, pi), 20_000, seed=6) < 1e-6
    reversed_steps = TabularMDP(mdp.P[::-1], mdp.r[::-1], mdp.initial, "bernoulli")
    assert chi_square_p_value(mdp, pi, trajectory_probabilities(reversed_steps, pi), 20_000, seed=6) < 1e-6


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
