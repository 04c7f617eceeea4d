"""What the tests of both privatizers share: their settings, and Assumption 3.1 along runs of Algorithm 1."""

import numpy as np
from scipy.stats import binomtest

from dpucbvi import factory
from dpucbvi.config import (
    AgentConfig,
    ConfidenceConfig,
    EngineConfig,
    EnvConfig,
    PrivatizerConfig,
    RunConfig,
)
from dpucbvi.mdp import rollout, uniforms_per_episode
from dpucbvi.noise import seed_stream
from dpucbvi.privatizers import as_counts, statistics

ALARM = 1e-6  # the probability with which a distribution test refuses a right mechanism
RIVER = EnvConfig("riverswim")
SMALL = EnvConfig("random", S=2, A=2, H=2, seed=11)


def set_up(
    model, K, epsilon=1.0, beta=0.05, confidence=1.0, sensitivity="paper", env=RIVER, pooled=False
) -> factory.Setup:
    """DP-UCBVI with the proven E, times `confidence`."""
    return factory.set_up(
        RunConfig(
            env=env,
            agent=AgentConfig(pooled=pooled),
            privatizer=PrivatizerConfig(model, epsilon, sensitivity),
            confidence=ConfidenceConfig("proven", scale=confidence),
            engine=EngineConfig("reference"),
            K=K,
            beta=beta,
        )
    )


def flat(counts):
    """All counters of the three families as one vector."""
    return np.concatenate([family.ravel() for family in counts])


def random_trajectory(mdp, rng):
    """What a user meets under a policy drawn at random."""
    pi = rng.integers(mdp.A, size=(mdp.H, mdp.S))
    return rollout(mdp, pi, rng.random(uniforms_per_episode(mdp.H)))


def assumption_3_1(tilde, true, E):
    """(1) all three families within E; (2) Ñ(s,a) = Σ Ñ(s,a,s') ≥ N(s,a) and Ñ(s,a,s') > 0. Up to rounding."""
    slack = 1e-9 * E
    close = all(np.abs(a - b).max() <= E + slack for a, b in zip(tilde, true, strict=True))
    consistent = np.abs(tilde.N_sas.sum(axis=-1) - tilde.N_sa).max() <= slack
    never_below = (tilde.N_sa >= true.N_sa - slack).all()
    return close and consistent and never_below and tilde.N_sas.min() > 0


def assumption_3_1_holds(setup, seed):
    """One run of Algorithm 1: is Assumption 3.1 true at every (h, s, a, s', k)?"""
    mdp = setup.mdp
    privatizer = factory.privatizer(setup, seed)
    released = spy_on_updates(privatizer)
    algorithm = factory.algorithm(setup, privatizer)
    rng = np.random.default_rng(seed_stream(seed, "environment"))
    true = np.zeros(mdp.H * mdp.S * mdp.A * (mdp.S + 2))
    plan = next(algorithm)
    for _ in range(setup.problem.K - 1):
        trajectory = rollout(mdp, plan.pi, rng.random(uniforms_per_episode(mdp.H)))
        true += statistics(trajectory, mdp.H, mdp.S, mdp.A)
        plan = algorithm.send(trajectory)
        if not assumption_3_1(released[-1], as_counts(true, mdp.H, mdp.S, mdp.A), setup.E):
            return False
    return True


def spy_on_updates(privatizer):
    """A list that gets every count the privatizer hands to the algorithm."""
    released, update = [], privatizer.update

    def spied(trajectory):
        released.append(update(trajectory))
        return released[-1]

    privatizer.update = spied
    return released


def failures(model, confidence, runs):
    """In how many runs on a small MDP Assumption 3.1 fails at some episode; K = 24, β = 0.3."""
    setup = set_up(model, 24, beta=0.3, confidence=confidence, env=SMALL)
    return sum(not assumption_3_1_holds(setup, seed) for seed in range(runs))


def check_assumption_3_1(model):
    """200 runs, β = 0.3: the 99.9% Clopper-Pearson bound on the failure rate is at most β/3 = 0.1.

    Were the failure rate above β/3, this would pass with probability below 0.1%. Control: with E/8 the
    assumption fails in so many of 60 runs that a rate of β/3 is refused at 1e-6.
    """
    few = failures(model, 1.0, 200)
    assert binomtest(few, 200).proportion_ci(0.998, "exact").high <= 0.1
    many = failures(model, 1 / 8, 60)
    assert binomtest(many, 60, 0.1, alternative="greater").pvalue < ALARM
