"""What tests of privatizers share: users under random policies, Assumption 3.1 by itself and along runs."""

import numpy as np
from scipy.stats import binomtest, kstest

import dpucbvi as dp
from dpucbvi.counts import as_counts, counters, statistics
from dpucbvi.simulate import episodes, set_up

ALARM = 1e-6  # the probability with which a distribution test refuses a right mechanism
RIVER = dp.riverswim()
SMALL = dp.random_mdp(S=2, A=2, H=2, seed=11)
STATIONARY = dp.riverswim(2, 3)


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


def violations(tilde, true, E, slack, counted=True):
    """Which parts of Assumption 3.1 fail by more than the slack: (1) all three families within E;
    (2) Ñ(s,a) = Σ Ñ(s,a,s') ≥ N(s,a), and Ñ(s,a,s') > 0 for all s' that are counted, 0 for the others."""
    counted = np.broadcast_to(counted, tilde.N_sas.shape)
    parts = {
        "(1) N(s,a)": np.abs(tilde.N_sa - true.N_sa).max() <= E + slack,
        "(1) N(s,a,s')": np.abs(tilde.N_sas - true.N_sas).max() <= E + slack,
        "(1) R(s,a)": np.abs(tilde.R - true.R).max() <= E + slack,
        "(2) sum": np.abs(tilde.N_sas.sum(axis=-1) - tilde.N_sa).max() <= slack,
        "(2) never below": (tilde.N_sa >= true.N_sa - slack).all(),
        "(2) positive": (tilde.N_sas[counted] > 0).all(),
        "(2) not counted": (tilde.N_sas[~counted] == 0).all(),
    }
    return {name for name, holds in parts.items() if not holds}


def assumption_3_1(tilde, true, E, counted=True):
    """Up to rounding."""
    return not violations(tilde, true, E, 1e-9 * E, counted)


def assumption_3_1_holds(setup, seed):
    """One run of Algorithm 1: is Assumption 3.1 true at every (h, s, a, s') and in every episode k ≥ 2?

    If counts are released after every so many users, from the first release on: before it there are none.
    """
    sizes, first = (setup.G, setup.mdp.S, setup.mdp.A), getattr(setup.privatizer, "every", 1)
    true, counted = np.zeros(counters(*sizes)), True if setup.support is None else reached(setup.support)
    for episode in episodes(setup, seed):
        counts = episode.counts, as_counts(true, *sizes)
        if episode.k > first and not assumption_3_1(*counts, setup.noise.E, counted):
            return False
        true += statistics(episode.trajectory, *sizes)
    return True


def reached(support):
    """Which s' are counted, for every (g,s,a)."""
    counted = np.zeros((*support.next.shape[:-1], support.next.shape[1]), dtype=bool)
    np.put_along_axis(counted, support.next, True, axis=-1)
    return counted


def failures(privatizer, runs, pooled=False, zero=0.0):
    """In how many runs on a small MDP Assumption 3.1 fails at some episode; K = 24, β = 0.3."""
    mdp = STATIONARY if pooled else SMALL
    setup = set_up(mdp, dp.DPUCBVI(pooled=pooled), privatizer, 24, beta=0.3, zero=zero)
    assert setup.noise.proven and setup.noise.factor == privatizer.confidence_scale
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


def check_scale(noise, scale, cdf, wrong=(2 / 3, 3 / 2)):
    """The magnitudes have this scale, and a wrong one is refused."""
    magnitudes = np.abs(noise).ravel()
    assert kstest(magnitudes / scale, cdf).pvalue > ALARM
    for factor in wrong:
        assert kstest(magnitudes / (factor * scale), cdf).pvalue < ALARM
