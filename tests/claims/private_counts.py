"""What the tests of both privatizers share: users under random policies, and Assumption 3.1 along runs."""

import numpy as np
from scipy.stats import binomtest

import dpucbvi as dp
from dpucbvi.counts import as_counts, counters, statistics
from dpucbvi.simulate import episodes, set_up

ALARM = 1e-6  # the probability with which a distribution test refuses a right mechanism
RIVER = dp.riverswim()
SMALL = dp.random_mdp(S=2, A=2, H=2, seed=11)


def flat(counts):
    """All counters of the three families as one vector."""
    return np.concatenate([family.ravel() for family in counts])


def users(mdp, n, seed):
    """What n users meet, each under a policy drawn at random."""
    rng = np.random.default_rng(seed)
    Q, V = np.zeros((mdp.H, mdp.S, mdp.A)), np.zeros((mdp.H + 1, mdp.S))
    wanderer = dp.planner(lambda _: dp.Plan(rng.integers(mdp.A, size=(mdp.H, mdp.S)), Q, V))
    setup = set_up(mdp, wanderer, dp.NonPrivate(), n)
    return [episode.trajectory for episode in episodes(setup, seed)]


def assumption_3_1(tilde, true, E):
    """(1) all three families within E; (2) Ñ(s,a) = Σ Ñ(s,a,s') ≥ N(s,a) and Ñ(s,a,s') > 0. Up to rounding."""
    slack = 1e-9 * E
    close = all(np.abs(a - b).max() <= E + slack for a, b in zip(tilde, true, strict=True))
    consistent = np.abs(tilde.N_sas.sum(axis=-1) - tilde.N_sa).max() <= slack
    never_below = (tilde.N_sa >= true.N_sa - slack).all()
    return close and consistent and never_below and tilde.N_sas.min() > 0


def assumption_3_1_holds(setup, seed):
    """One run of Algorithm 1: is Assumption 3.1 true at every (h, s, a, s') and in every episode k ≥ 2?

    If counts are released after every so many users, from the first release on: before it there are none.
    """
    sizes, first = (setup.G, setup.mdp.S, setup.mdp.A), getattr(setup.privatizer, "every", 1)
    true = np.zeros(counters(*sizes))
    for episode in episodes(setup, seed):
        if episode.k > first and not assumption_3_1(episode.counts, as_counts(true, *sizes), setup.noise.E):
            return False
        true += statistics(episode.trajectory, *sizes)
    return True


def failures(privatizer, runs):
    """In how many runs on a small MDP Assumption 3.1 fails at some episode; K = 24, β = 0.3."""
    setup = set_up(SMALL, dp.DPUCBVI(), privatizer, 24, beta=0.3)
    return sum(not assumption_3_1_holds(setup, seed) for seed in range(runs))


def check_assumption_3_1(privatizer):
    """200 runs, ε = 1, β = 0.3: the 99.9% Clopper-Pearson bound on the failure rate is at most β/3 = 0.1.

    Were the failure rate above β/3, this would pass with probability below 0.1%. Control: with E/8 the
    assumption fails in so many of 60 runs that a rate of β/3 is refused at 1e-6.
    """
    few = failures(privatizer(epsilon=1.0), 200)
    assert binomtest(few, 200).proportion_ci(0.998, "exact").high <= 0.1
    many = failures(privatizer(epsilon=1.0, confidence_scale=1 / 8), 60)
    assert binomtest(many, 60, 0.1, alternative="greater").pvalue < ALARM
