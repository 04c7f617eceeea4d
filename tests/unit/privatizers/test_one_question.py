"""OneQuestion: the law of an answer is enumerated, so is its privacy; estimates have the right mean and noise.

The coins of an answer are u (truthful or not) and v (which other answer). The answer is constant in u below p
and above, and in v on each of d - 1 equal intervals: one point of each cell, with the cell's size, is the exact
law.
"""

from itertools import product

import numpy as np
import pytest
from users import shown_pairs

import dpucbvi as dp
from dpucbvi.counts import CENTRE, as_counts, counters
from dpucbvi.mdp import Trajectory
from dpucbvi.privacy.draws import answer_odds, randomised_response, unit
from dpucbvi.protocol import User

SIZES = [(1, 2, 1), (2, 2, 2), (2, 3, 1), (3, 2, 1)]  # H, S, A
EPSILONS = (0.5, 1.0, 2.0)


# --- by brute force, from its definition ----------------------------------------------------------------------


class Coins:
    """Raw 64-bit words from one seeded SFC64 generator."""

    def __init__(self, seed):
        self._words = np.random.SFC64(seed)

    def words(self, n):
        return self._words.random_raw(n)


class QuestionsByHand:
    """The server's tallies of answers, and the user who gives one answer."""

    def __init__(self, privatizer, problem, G, coins):
        self._privatizer, self._coins = privatizer, coins
        self._shape, self._ends = (G, problem.S, problem.A), set(privatizer.ends(problem).tolist())
        self.t = 0
        self.where = np.zeros((*self._shape, problem.S + 1))  # answers by pair
        self.earned = np.zeros((*self._shape, 3))
        self.N_hat = np.zeros(self._shape)  # of the last release

    def release(self, user):
        self.ask(user)
        self.t += 1
        return self.estimates() if self.t in self._ends else None

    @property
    def asked(self):
        """Questions about the next state, by pair."""
        return self.where.sum(axis=-1)

    def pairs(self, pi):
        """The pairs that may be asked about: those the policy may visit, few counts first."""
        shown = shown_pairs(pi, *self._shape)
        few = shown & (self.N_hat < self._privatizer.want)
        return few if few.any() else shown

    def ask(self, user):
        words = self._coins.words(5)
        pair = question(self.pairs(user.pi), unit(words[0]))
        if unit(words[1]) < self._privatizer.transitions:
            answers, kind = self.where, where_to(user, pair, *self._shape)
        else:
            answers, kind = self.earned, earned(user, pair, self._shape[0], unit(words[2]))
        d = answers.shape[-1]
        p, _ = answer_odds(self._privatizer.epsilon, d)
        answers[pair][randomised_response(kind, d, p, unit(words[3]), unit(words[4]))] += 1.0

    def estimates(self):
        """N̂(s,a,s') and R̂(s,a) with rewards centred; N̂(s,a) is their sum, elsewhere."""
        S = self._shape[1]
        (_, q), (a, b) = answer_odds(self._privatizer.epsilon, S + 1), self._privatizer.factors(S)
        N_sas = a * (self.where[..., :S] - q * self.where.sum(axis=-1)[..., None])
        R = b * (CENTRE * (self.earned[..., 1] - self.earned[..., 0]))
        self.N_hat = np.zeros(self._shape)
        for s_next in range(S):
            self.N_hat += N_sas[..., s_next]
        return np.concatenate([np.zeros(R.size), np.moveaxis(N_sas, -1, 0).ravel(), R.ravel()])


def question(pairs, u):
    """One of the pairs, each as likely."""
    candidates = np.argwhere(pairs)
    g, s, a = candidates[int(u * len(candidates))]
    return int(g), int(s), int(a)


def first_visit(user, pair, G):
    """The step of the first visit of the pair."""
    for h, (s, a) in enumerate(zip(user.s, user.a, strict=False)):
        if (h % G, s, a) == pair:
            return h
    return None


def where_to(user, pair, G, S, A):
    """The true answer to the first kind: the next state, or S for no visit."""
    h = first_visit(user, pair, G)
    return S if h is None else int(user.s[h + 1])


def earned(user, pair, G, u):
    """The true answer to the second kind: the reward rounded to 0 or 1, or 2 for no visit."""
    h = first_visit(user, pair, G)
    return 2 if h is None else int(u < user.r[h])


def people(problem, n, seed):
    """Users who follow a new policy each, with rewards inside [0, 1]."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        pi = rng.integers(problem.A, size=(problem.H, problem.S))
        s = rng.integers(problem.S, size=problem.H + 1)
        yield User(s, pi[np.arange(problem.H), s[:-1]], rng.random(problem.H), pi, s[1:])


# --- the law of an answer -------------------------------------------------------------------------------------


def answers(truth, d, epsilon):
    """P(answer | true answer), through the code that answers."""
    p, _ = answer_odds(epsilon, d)
    law = np.zeros(d)
    law[randomised_response(truth, d, p, p / 2, 0.5)] += p
    for i in range(d - 1):
        law[randomised_response(truth, d, p, (1 + p) / 2, (i + 0.5) / (d - 1))] += (1 - p) / (d - 1)
    return law


def trajectories(H, S, A, rewards=(0.0, 0.5, 1.0)):
    for s in product(range(S), repeat=H + 1):
        for a in product(range(A), repeat=H):
            for r in product(rewards, repeat=H):
                yield Trajectory(np.array(s), np.array(a), np.array(r))


def laws(H, S, A, G, epsilon):
    """For every public coin (pair and kind): the distinct laws of the answer over all trajectories."""
    for pair in product(range(G), range(S), range(A)):
        where, what = set(), set()
        for one in trajectories(H, S, A):
            where.add(tuple(answers(where_to(one, pair, G, S, A), S + 1, epsilon)))
            h = first_visit(one, pair, G)
            mean = 0.0 if h is None else float(one.r[h])
            below, above = earned(one, pair, G, mean / 2), earned(one, pair, G, (1 + mean) / 2)
            mixed = mean * answers(below, 3, epsilon) + (1 - mean) * answers(above, 3, epsilon)
            what.add(tuple(mixed))
        yield np.array(sorted(where))
        yield np.array(sorted(what))


def worst(laws):
    """The largest log-ratio of two laws at one answer."""
    log = np.log(laws)
    return float((log[:, None] - log[None]).max())


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize(("H", "S", "A"), SIZES)
def test_the_worst_log_ratio_of_an_answer_is_epsilon(H, S, A, pooled, epsilon):
    """Over all pairs of trajectories and all public coins; attained for every question that can be asked."""
    found = [worst(each) for each in laws(H, S, A, 1 if pooled else H, epsilon)]
    assert found == pytest.approx([epsilon] * len(found), abs=1e-12)
    certificate = dp.OneQuestion(epsilon).certificate(dp.Problem(H, S, A, 500, 0.1), 1 if pooled else H)
    assert certificate == dp.Certificate("LDP", epsilon, epsilon)


def test_a_truth_that_is_told_too_often_is_noticed():
    """Control: odds meant for fewer answers than there are give more than ε."""
    d, (p, _) = 4, answer_odds(1.0, 2)
    law = [[p if x == truth else (1 - p) / (d - 1) for x in range(d)] for truth in range(d)]
    assert worst(np.array(law)) > 1.5


@pytest.mark.parametrize("S", [2, 3])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_estimates_have_the_right_mean_exactly(S, epsilon):
    """The estimate is linear in the tallies: at their expectation it is the truth. One user asked about
    (0,0)."""
    problem = dp.Problem(1, S, 1, 500, 0.1)
    privatizer = dp.OneQuestion(epsilon)
    share = privatizer.transitions
    for s_next, reward in product([*range(S), None], (0, 1)):
        server = QuestionsByHand(privatizer, problem, 1, None)
        truth = (S, 2) if s_next is None else (s_next, reward)
        server.where[0, 0, 0] = share * answers(truth[0], S + 1, epsilon)
        server.earned[0, 0, 0] = (1 - share) * answers(truth[1], 3, epsilon)
        counts = as_counts(server.estimates(), 1, S, 1)
        assert counts.N_sas[0, 0, 0] == pytest.approx([float(s == s_next) for s in range(S)], abs=1e-12)
        assert counts.R[0, 0, 0] == pytest.approx(0.0 if s_next is None else reward - 0.5, abs=1e-12)
        assert server.N_hat[0, 0, 0] == pytest.approx(float(s_next is not None), abs=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_variance_of_a_cold_cell_is_the_one_stated(epsilon):
    """Exactly: 1[answer = s'] has variance q(1-q) for an s' that is not the truth."""
    S = 3
    privatizer = dp.OneQuestion(epsilon)
    a, (_, q) = privatizer.factors(S)[0], answer_odds(epsilon, S + 1)
    law = answers(0, S + 1, epsilon)
    cold = a * (np.eye(S + 1)[:, 2] - q)  # the estimate of s' = 2 by answer
    mean = law @ cold
    assert mean == pytest.approx(0.0, abs=1e-12)
    assert law @ (cold - mean) ** 2 == pytest.approx(privatizer.cell_sd(S) ** 2, rel=1e-12)
    assert privatizer.cell_sd(S) ** 2 == pytest.approx(q * (1 - q) * a**2, rel=1e-12)


def test_users_answer_before_anything_is_released_and_the_certificate_says_so():
    """What LDP protects is what a user sends, whether or not the server ever makes counts of it."""
    made, few = dp.OneQuestion(1.0), dp.Problem(2, 2, 2, 100, 0.1)  # 99 users, a release after 100
    assert len(made.ends(few)) == 0
    assert made.certificate(few, 2).replace_one == made.certificate(few._replace(K=1000), 2).replace_one == 1.0
    assert made.certificate(few._replace(K=1), 2) == dp.Certificate("LDP", 0.0, 0.0)
    assert not made.noise_of(few, 2).proven


def test_the_bound_on_rewards_is_hoeffdings_for_the_steps_that_an_answer_makes():
    """One answer moves R̂ up or down by half a factor, one reward its centred sum by ½: steps of width b + 1."""
    problem, made = dp.Problem(H=3, S=2, A=1, K=500, beta=0.1), dp.OneQuestion(2.0)
    answers = QuestionsByHand(made, problem, 1, None)
    moved = []
    for answer in range(3):
        answers.earned[:] = 0.0
        answers.earned[0, 0, 0, answer] = 1.0
        moved.append(as_counts(answers.estimates(), 1, 2, 1).R[0, 0, 0])
    width = max(moved) - min(moved) + 1.0
    assert width == pytest.approx(made.factors(2)[1] + 1.0)
    failure = 0.1 / 3 / counters(1, 2, 1)
    hoeffding = width * np.sqrt(499 * np.log(2 / failure) / 2)
    assert made.noise_of(problem, 1).E == pytest.approx(2.0 * hoeffding)  # here rewards have the widest bound


@pytest.mark.parametrize("G", [1, 3])
@pytest.mark.parametrize("given", [{}, {"want": 3, "transitions": 0.6}])
def test_the_release_is_that_of_brute_force(given, G):
    """From the same words, bit for bit, in every release, with its sd."""
    problem, seed, found = dp.Problem(3, 3, 2, 400, 0.1), np.random.SeedSequence(5), 0
    privatizer = dp.OneQuestion(1.5, first=7, growth=1.1, **given)
    ours, brute = privatizer.release(problem, G, seed), QuestionsByHand(privatizer, problem, G, Coins(seed))
    for user in people(problem, 399, seed=2):
        one, other = ours.release(user), brute.release(user)
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(ours.sd, privatizer.cell_sd(3) * np.sqrt(brute.asked))
            found += 1
    assert found > 5
