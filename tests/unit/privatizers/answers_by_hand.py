"""OneQuestion by brute force, from its definition: what the arrays are held against."""

import numpy as np
from users import shown_pairs

from dpucbvi.counts import CENTRE
from dpucbvi.privacy.draws import answer_odds, randomised_response, unit
from dpucbvi.protocol import User


class Coins:
    """Raw 64-bit words from one seeded SFC64 generator."""

    def __init__(self, seed):
        self._words = np.random.SFC64(seed)

    def words(self, n):
        return self._words.random_raw(n)


class QuestionsByHand:
    """Both sides: the server's tallies of answers, and the user who gives one."""

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
