"""LocalWindows: one answer with its law, about a window; estimates with the right mean; what is split."""

import numpy as np
import pytest
from scipy.stats import binomtest

import dpucbvi as dp
from dpucbvi.privacy.draws import answer_odds
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.privatizers.local_windows import estimate, first_visit, question, take
from dpucbvi.protocol import Noisy

H, S, A = 4, 2, 2
PROBLEM = dp.Problem(H, S, A, 20_001, 0.1)
ALARM = 1e-6  # the probability with which a test of a law refuses the right one
PI = np.array([[0, 1], [1, 1], [0, 0], [0, 1]])


def started(**settings):
    made = dp.LocalWindows(1.0, **{"first": 10**4, "growth": 1.0, **settings})
    return made.start(PROBLEM, H, seed_stream(5, "privacy"))


def room():
    return Noisy(np.zeros(H * S * A * (2 * S + 2)), np.zeros(H * S * A))


def user(s):
    """Someone who follows the policy through these states, and is paid in state 1."""
    s = np.array(s)
    a = PI[np.arange(H), s[:-1]]
    return dp.User(s, a, s[:-1].astype(float), PI, s[1:] + S * s[:-1])


SHE = user([0, 1, 1, 0, 1])


def test_one_answer_about_a_row_that_the_policy_may_visit():
    """The first are asked about the whole horizon, then every other one about a level below, in turn."""
    state, seen = started(pooled=3), []
    for t in range(1, 15):
        before = state.asked.copy()
        take(state, t, SHE, room())
        ((window, pair),) = np.argwhere(state.asked - before)
        steps = range(state.levels.tree.first[window], state.levels.tree.last[window])
        assert pair % A in {PI[h, pair // A] for h in steps}
        seen.append(int(state.levels.tree.level[window]))
    assert seen == [0, 0, 0, 1, 0, 2, 0, 1, 0, 2, 0, 1, 0, 2]
    assert state.answers.sum() == state.asked.sum() == 14


def test_rows_with_few_counts_are_asked_about_first():
    state = started(want=10)
    state.levels.Y[0, 0] = 20.0
    state.levels.Y[0, 0, 3] = 5.0
    for word in (0, 2**63, 2**64 - 1):
        state.words[0] = word
        assert question(state, PI, 0) == (0, 3)
    state.levels.Y[0, 0, 3] = 20.0
    asked = set()
    for i in range(64):
        state.words[0] = i * 2**58
        asked.add(question(state, PI, 0))
    assert asked == {(0, 0), (0, 1), (0, 2), (0, 3)}


def test_the_first_visit_within_a_window():
    state = started()
    tree = state.levels.tree
    windows = {(int(tree.first[i]), int(tree.last[i])): i for i in range(tree.first.size)}
    at = [s * A + a for s, a in zip(SHE.s, SHE.a, strict=False)]  # by step
    assert at == [0, 3, 2, 0]
    assert first_visit(state, SHE, windows[0, 4], 0) == 0
    assert first_visit(state, SHE, windows[2, 4], 0) == 3
    assert first_visit(state, SHE, windows[0, 2], 2) == -1
    assert first_visit(state, SHE._replace(s=SHE.s[:2], a=SHE.a[:1]), windows[2, 4], 0) == -1  # a short one


def test_an_answer_has_its_law_and_the_estimate_its_mean():
    """20,000 answers: the truth with p, any other with q; 3/2 of ε is refused."""
    state, n = started(want=0, pooled=10**6), 20_000
    for t in range(1, n + 1):
        take(state, t, SHE, room())
    p, q = answer_odds(1.0, 2 * S + 1)
    asked, symbol = int(state.asked[0, 0]), int(SHE.place[0])
    told = int(state.answers[0, symbol, 0])
    assert (
        binomtest(told, asked, p).pvalue > ALARM > binomtest(told, asked, answer_odds(1.5, 2 * S + 1)[0]).pvalue
    )
    assert binomtest(int(state.answers[0, 0, 0]), asked, q).pvalue > ALARM
    estimate(state)
    sd = np.sqrt(state.levels.variance[0, 0])
    assert sd == pytest.approx(np.sqrt(asked * q * (1 - q)) / (p - q))
    assert abs(state.levels.Y[0, symbol, 0] - asked) < 6 * (sd + np.sqrt(asked * p * (1 - p)) / (p - q))
    assert abs(state.levels.Y[0, 0, 0]) < 6 * sd


def test_what_is_known_of_a_window_goes_to_the_one_around_it_if_it_helps():
    state, p, q = started(), *answer_odds(1.0, 2 * S + 1)
    for window, told in ((0, 500), (1, 900), (2, 0)):  # of 1,000 asked, the others say that there was no visit
        state.asked[window, 0], state.answers[window, 0, 0] = 1000, told
        state.answers[window, 2 * S, 0] = 1000 - told
    estimate(state)
    own = [(told - 1000 * q) / (p - q) for told in (500, 900)]
    assert state.levels.Y[0, 0, 0] == pytest.approx(sum(own))
    assert state.levels.variance[0, 0] == pytest.approx(2000 * q * (1 - q) / (p - q) ** 2)


def test_certificate_and_bad_settings():
    assert dp.LocalWindows(0.7).certificate(PROBLEM, H) == dp.Certificate("LDP", 0.7, 0.7)
    assert dp.LocalWindows(0.7).certificate(PROBLEM._replace(K=1), H) == dp.Certificate("LDP", 0.0, 0.0)
    for settings in ({"epsilon": 40.0}, {"want": -1}, {"z": -1.0}, {"growth": 0.5}):
        with pytest.raises(dp.InputError, match=rf"^{next(iter(settings))}: "):
            dp.LocalWindows(**{"epsilon": 1.0, **settings})
