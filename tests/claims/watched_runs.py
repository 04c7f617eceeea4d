"""Runs of Algorithm 1 with everything that Appendices B and C speak of kept, episode by episode.

The compiled engine (the reference bit for bit: tests/contract/test_engines.py) runs ahead to the first episode
of interest; from there on every episode is kept.
"""

from typing import NamedTuple

import numpy as np

import dpucbvi as dp
from dpucbvi.engine import fast
from dpucbvi.engine.state import EPISODE
from dpucbvi.protocol import Floats, Ints, Setup


class Watched(NamedTuple):
    """Episodes k of a run along the leading axis of every array; the other axes as in the package."""

    setup: Setup
    k: Ints
    s: Ints
    a: Ints
    r: Floats
    N: Floats  # true visits N^k_h(s,a), before the episode
    tilde: dp.Counts  # the private counts of the episode
    Q: Floats
    V: Floats
    V_pi: Floats


def watch(setup: Setup, seed: int, first: int = 1) -> Watched:
    """The run of this seed, watched from episode `first` on."""
    run = fast.start(setup, seed)
    while (ahead := first - 1 - int(run.memory.tally[EPISODE])) > 0:
        next(fast.run_chunks(run, seed, most=ahead))
    N_first = run.memory.N_visits.copy()
    values: dict[bytes, Floats] = {}  # a policy often lasts for many episodes
    kept = []
    for k, plan, counts, (s, a, r), _ in fast.episodes(run, seed):
        policy = plan.pi.tobytes()
        if policy not in values:
            values[policy] = dp.policy_values(setup.mdp, plan.pi)
        kept.append((k, s, a, r, *counts, plan.Q, plan.V, values[policy]))
    k, s, a, r, N_sa, N_sas, R, Q, V, V_pi = (np.array(column) for column in zip(*kept, strict=True))
    N = N_first + visits_before(s, a, setup.mdp)
    return Watched(setup, k, s, a, r, N, dp.Counts(N_sa, N_sas, R), Q, V, V_pi)


def visits_before(s: Ints, a: Ints, mdp: dp.TabularMDP) -> Floats:
    """The visits of (h,s,a) in the watched episodes before each."""
    visits = np.zeros((len(s), *mdp.r.shape))
    k, h = np.ogrid[: len(s) - 1, : mdp.H]
    visits[k + 1, h, s[:-1, :-1], a[:-1]] = 1.0
    return visits.cumsum(axis=0)


def true_counts(run: Watched) -> dp.Counts:
    """N^k(s,a), N^k(s,a,s') and R^k(s,a) before every episode of a run that was watched from the start."""
    H, S, A = run.setup.mdp.r.shape
    n = len(run.k)
    N_sas, R = np.zeros((n, H, S, A, S)), np.zeros((n, H, S, A))
    k, h = np.ogrid[: n - 1, :H]
    s, a, s_next = run.s[:-1, :H], run.a[:-1], run.s[:-1, 1:]
    N_sas[k + 1, h, s, a, s_next] = 1.0
    R[k + 1, h, s, a] = run.r[:-1]
    return dp.Counts(run.N, N_sas.cumsum(axis=0), R.cumsum(axis=0))


def variance(P, V):
    """Var_P(V) along the last axis."""
    mean = (P * V).sum(axis=-1, keepdims=True)
    return (P * (V - mean) ** 2).sum(axis=-1)
