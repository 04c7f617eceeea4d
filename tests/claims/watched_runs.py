"""Runs of Algorithm 1 with everything that Appendices B and C speak of kept, episode by episode.

The compiled engine (the reference bit for bit: tests/contract/test_engines.py) is asked for one episode at a
time. Before each the counts are copied; after each the plan, the values of its policy and the trajectory.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dpucbvi import factory
from dpucbvi.config import BonusConfig, EngineConfig, EnvConfig, PrivatizerConfig, RunConfig
from dpucbvi.engine import fast
from dpucbvi.engine.kernel import run_episodes
from dpucbvi.engine.projection import Rows
from dpucbvi.factory import Setup
from dpucbvi.mdp import Floats, Ints, TabularMDP, uniforms_per_episode
from dpucbvi.noise import seed_stream
from dpucbvi.privatizers import Counts

CHUNK = 8192


class Watched(NamedTuple):
    """Episodes k of a run along the leading axis of every array; the other axes as in the package."""

    setup: Setup
    k: Ints
    s: Ints
    a: Ints
    r: Floats
    N: Floats  # true visits N^k_h(s,a), before the episode
    tilde: Counts  # the private counts of the episode
    Q: Floats
    V: Floats
    V_pi: Floats


def set_up(
    mdp: TabularMDP, K: int, epsilon: float, beta: float, privatizer: str = "central", bonus: float = 1.0
) -> Setup:
    """Algorithm 1 on this MDP with the proven E."""
    config = RunConfig(
        env=EnvConfig("random", S=mdp.S, A=mdp.A, H=mdp.H),  # for its sizes
        privatizer=PrivatizerConfig(privatizer, epsilon),
        bonus=BonusConfig(bonus),
        engine=EngineConfig("fast", 0),
        K=K,
        beta=beta,
    )
    return factory.set_up(config)._replace(mdp=mdp)


def watch(setup: Setup, seed: int, first: int = 1) -> Watched:
    """The run of this seed, watched from episode `first` on."""
    run = fast.start(setup, seed)
    go = stepper(run, seed)
    for done in range(0, first - 1, CHUNK):
        go(min(CHUNK, first - 1 - done))
    kept = []
    for _ in range(first, setup.problem.K + 1):
        private, memory = run.private, run.memory
        before = memory.N_visits.copy(), private.N_sa.copy(), private.N_sas.copy(), private.R.copy()
        u = go(1)[0]
        after = memory.cells.copy(), memory.Q.copy(), memory.V.copy(), memory.V_pi.copy()
        kept.append((*before, u, *after))
    return unpacked(setup, first, *(np.array(column) for column in zip(*kept, strict=True)))


def stepper(run: fast.FastRun, seed: int) -> Callable[[int], Floats]:
    """A function that runs the next n episodes and returns the uniforms they were run on."""
    setup = run.setup
    rows = Rows.empty(run.private.N_sa.size)
    environment = np.random.Generator(np.random.PCG64(seed_stream(seed, "environment")))

    def go(n: int) -> Floats:
        u = environment.random((n, uniforms_per_episode(setup.mdp.H)))
        parts = run.private, run.memory, run.record
        run_episodes(run.world, setup.constants, run.state, setup.E, True, *parts, u, setup.problem.K, rows)
        return u

    return go


def unpacked(setup, first, N, N_sa, N_sas, R, u, cells, Q, V, V_pi) -> Watched:
    """The engine's flat arrays in the shapes of the package."""
    H, S, A = setup.mdp.r.shape
    n = len(N)
    visited = cells[:, ::3] - S * A * np.arange(H)  # the pairs s·A + a
    s, a = visited // A, visited % A
    s_next = cells[:, 1::3] // (H * S * A) - 1
    mean = setup.mdp.r[np.arange(H), s, a]
    r = (u[:, 3::3] < mean).astype(float) if setup.mdp.rewards == "bernoulli" else mean
    shape = (n, H, S, A)
    tilde = Counts(N_sa.reshape(shape), np.moveaxis(N_sas, 1, -1).reshape(*shape, S), R.reshape(shape))
    s = np.concatenate([s, s_next[:, -1:]], axis=1)
    return Watched(setup, first + np.arange(n), s, a, r, N, tilde, Q.reshape(shape), V, V_pi)


def true_counts(run: Watched) -> Counts:
    """N^k(s,a), N^k(s,a,s') and R^k(s,a) before every episode of a run that was watched from the start."""
    H, S, A = run.setup.mdp.r.shape
    n = len(run.k)
    N_sas, R = np.zeros((n, H, S, A, S)), np.zeros((n, H, S, A))
    k, h = np.ogrid[: n - 1, :H]
    s, a, s_next = run.s[:-1, :H], run.a[:-1], run.s[:-1, 1:]
    N_sas[k + 1, h, s, a, s_next] = 1.0
    R[k + 1, h, s, a] = run.r[:-1]
    return Counts(run.N, N_sas.cumsum(axis=0), R.cumsum(axis=0))


def variance(P, V):
    """Var_P(V) along the last axis."""
    mean = (P * V).sum(axis=-1, keepdims=True)
    return (P * (V - mean) ** 2).sum(axis=-1)
