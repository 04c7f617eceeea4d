"""Symbols: next state and reward bit as one histogram, by hand; how rewards are rounded; Assumption 3.1."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binomtest

import dpucbvi as dp
from dpucbvi.counts import (
    FAMILIES,
    Rounding,
    add_bits,
    add_user,
    as_counts,
    counters,
    counting,
    statistics,
    summed,
)
from dpucbvi.mdp import Trajectory
from dpucbvi.privacy.draws import answer_odds
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.projection import closed_form
from dpucbvi.simulate import episodes, set_up

SYMBOLS = FAMILIES["symbols"]
ALARM = 1e-6  # the probability with which a test of a law refuses the right one
PROBLEM = dp.Problem(H=4, S=3, A=2, K=500, beta=0.1)
# --- what is counted ------------------------------------------------------------------------------------------


def test_a_visit_is_one_symbol():
    """s: 0 -> 2 -> 1 -> 1 with rewards 1, 0, 1; with S = 3 the place of (s', b) is s' + 3b."""
    user = Trajectory(np.array([0, 2, 1, 1]), np.array([0, 0, 0]), np.array([1.0, 0.0, 1.0]))
    flat = statistics(user, 1, 3, 1, SYMBOLS)
    Y = as_counts(flat, 1, 3, 1, 6).N_sas[0, :, 0]
    assert {(int(s), int(x)): Y[s, x] for s, x in np.argwhere(Y)} == {(0, 5): 1.0, (2, 1): 1.0, (1, 4): 1.0}
    assert flat.sum() == 3.0  # and nothing else


@pytest.mark.parametrize("clip", [None, 2])
@pytest.mark.parametrize("G", [1, 4])
def test_both_ways_of_counting_are_one(G, clip):
    rng, (S, A, H) = np.random.default_rng(0), (3, 2, 4)
    tally, total, expected = (
        counting((G, S, A, 2 * S), H, "symbols", clip),
        *np.zeros((2, counters(G, S, A, 2 * S))),
    )
    for _ in range(50):
        s, a, r = rng.integers(S, size=H + 1), rng.integers(A, size=H), rng.integers(2, size=H).astype(float)
        add_user(tally, total, dp.User(s, a, r, np.zeros(0), s[1:] + S * r.astype(np.int64)))
        expected += statistics(Trajectory(s, a, r), G, S, A, SYMBOLS, clip)
    assert np.array_equal(total, expected) and total.sum() > 0


def test_counts_are_made_of_symbols_by_hand():
    """Y(s'=0, b=0) = 5, Y(1, 0) = 2, Y(0, 1) = 3, Y(1, 1) = 4: N = 8 and 6, N(s,a) = 14, R = 7."""
    cells = as_counts(np.array([0.0, 5.0, 2.0, 3.0, 4.0, 99.0]), 1, 1, 1, 4)
    made = summed(cells, SYMBOLS)
    assert made.N_sas.tolist() == [[[[8.0, 6.0]]]] and made.N_sa.tolist() == [[[14.0]]]
    assert made.R.tolist() == [[[7.0]]]  # what lies where R would be is not read


# --- rewards as bits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("r", [0.0, 0.005, 0.3, 1.0])
def test_the_rounding_is_unbiased(r):
    """40,000 rewards: the right mean is refused with probability 1e-6, half of it is not missed."""
    coins, n = Rounding.start("symbols", 40_000, seed=3), 40_000
    place = np.zeros(n, np.int64)
    add_bits(coins, np.full(n, r), 7, place)
    assert set(np.unique(place)) <= {0, 7}
    ones = int((place == 7).sum())
    if r in (0.0, 1.0):
        assert ones == r * n
    else:
        assert binomtest(ones, n, r).pvalue > ALARM
        assert binomtest(ones, n, r / 2).pvalue < ALARM  # control


def test_the_coins_are_neither_the_noise_nor_the_environment():
    """A stream of its own: no word of it is one of theirs, and arms that round meet the same environment."""
    streams = {
        name: set(np.random.SFC64(seed_stream(5, name)).random_raw(5000)) for name in ("privacy", "rewards")
    }
    assert not streams["privacy"] & streams["rewards"]
    met = {}
    for families in ("tuned", "symbols"):
        private = dp.Batches(1.0, families=families, first=10**6)  # nothing is released: one policy throughout
        setup = set_up(dp.garnet(S=4, H=5), dp.DPUCBVI(), private, 30)
        met[families] = [episode.trajectory.s.tolist() for episode in episodes(setup, 2)]
    assert met["tuned"] == met["symbols"]


# --- Assumption 3.1 -------------------------------------------------------------------------------------------

signed = st.floats(-1.0, 1.0) | st.sampled_from([-1.0, 0.0, 1.0])


def private_row(Y, noise, E):
    """Ñ and R̃ of one pair whose symbols Y get this noise."""
    made = summed(as_counts(np.concatenate([[0.0], Y + noise, [0.0]]), 1, 1, 1, len(Y)), SYMBOLS)
    N_sa, N_sas, _ = closed_form(made.N_sa, made.N_sas, E)
    return N_sa.item(), N_sas.ravel(), made.R.item()


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_noise_within_its_bounds_keeps_assumption_3_1(data):
    """For every noise whose cells, rows and rewards lie within the bounds of E; the bits are the rewards."""
    D = data.draw(st.integers(1, 4))
    Y = np.array(data.draw(st.lists(st.integers(0, 60), min_size=2 * D, max_size=2 * D)), dtype=float)
    noise = 9.0 * np.array(data.draw(st.lists(signed, min_size=2 * D, max_size=2 * D)))
    row, reward = abs(noise.sum()) + 1e-3, abs(noise[D:].sum()) + 1e-3
    E = dp.confidence.bound_to_E(D, True, 2 * 9.0, row, reward)
    N_sa, N_sas, R = private_row(Y, noise, E)
    slack = 1e-9 * E
    assert Y.sum() - slack <= N_sa <= Y.sum() + E + slack
    assert np.abs(N_sas - (Y[:D] + Y[D:])).max() <= E + slack and abs(R - Y[D:].sum()) <= E + slack


# --- one question ---------------------------------------------------------------------------------------------


def test_the_estimates_of_one_question_have_the_right_mean():
    """4,000 users: a right mean is refused at 5 standard errors (6e-7 each), twice the mean is not missed."""
    S, K, epsilon = 2, 4001, 3.0
    privatizer = dp.OneQuestion(epsilon, symbols=True, first=4000, want=0)
    release = privatizer.release(dp.Problem(1, S, 1, K, 0.1), 1, seed_stream(1, "privacy"))
    rng, pi = np.random.default_rng(2), np.zeros((1, S), np.int64)
    law = {(0, 1): 0.5, (1, 0): 0.3, (1, 1): 0.2}
    for symbol in rng.choice(3, p=list(law.values()), size=K - 1):
        s, b = list(law)[symbol]
        user = dp.User(np.array([0, s]), np.zeros(1, np.int64), np.array([float(b)]), pi, np.array([s + S * b]))
        released = release.release(user)
    Y = as_counts(released, 1, S, 1, 2 * S).N_sas[0, 0, 0]
    asked = release.state.tallies.asked[0]
    p, q = answer_odds(epsilon, 5)
    for s, b in product(range(S), range(2)):
        share = law.get((s, b), 0.0)
        chance = share * p + (1 - share) * q
        error = math.sqrt(asked * chance * (1 - chance)) / (p - q)
        assert abs(Y[s + S * b] - asked * share) < 5 * error
        assert share == 0.0 or abs(Y[s + S * b] - 2 * asked * share) > 5 * error  # control
