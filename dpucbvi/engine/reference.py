"""The reference engine: one episode after another, exactly as the algorithm's file says."""

from collections.abc import Callable

import numpy as np

from dpucbvi import factory
from dpucbvi.mdp import rollout, uniforms_per_episode
from dpucbvi.noise import seed_stream
from dpucbvi.planning import optimal_values, policy_values
from dpucbvi.trace import Trace, recorded_episodes


def run_reference(setup: factory.Setup, seed: int, progress: Callable[[int], None]) -> Trace:
    """K episodes: evaluate the policy exactly, deploy it, hand the trajectory back."""
    mdp, K = setup.mdp, setup.problem.K
    environment = np.random.default_rng(seed_stream(seed, "environment"))
    privatizer = factory.privatizer(setup, seed)
    algorithm = factory.algorithm(setup, privatizer)
    V_star = optimal_values(mdp)[0]
    plan = next(algorithm)
    N_sa = np.zeros((mdp.H, mdp.S, mdp.A))
    episodes = recorded_episodes(K, setup.config.trace_points)
    records: list[tuple[float, int, int]] = []
    regret, changes = 0.0, 0
    for k in range(1, K + 1):
        trajectory = rollout(mdp, plan.pi, environment.random(uniforms_per_episode(mdp.H)))
        s1 = trajectory.s[0]
        regret += V_star[0, s1] - policy_values(mdp, plan.pi)[0, s1]
        N_sa[np.arange(mdp.H), trajectory.s[:-1], trajectory.a] += 1
        if k == episodes[len(records)]:
            records.append((regret, changes, privatizer.fallbacks))
        if k < K:  # the counts after the last episode are never released [D4]
            last, plan = plan, algorithm.send(trajectory)
            changes += not np.array_equal(last.pi, plan.pi)
        progress(1)
    return Trace(
        episodes,
        np.array([record[0] for record in records]),
        np.array([record[1] for record in records]),
        np.array([record[2] for record in records]),
        N_sa,
        plan.Q,
        {},
    )
