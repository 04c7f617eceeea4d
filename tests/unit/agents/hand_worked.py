"""What the tests of the agents share: users to be fed by hand, and runs on noisy counts for formulas.

The hand-worked problem has H = S = A = 2, K = 5 (T = 10) and four users:
    1: (s, a, r) = (0, 0, .5), (1, 0, 0), ends in 0      2: (0, 0, .5), (1, 1, ¼), ends in 1
    3: (0, 1, 0), (1, 1, 1), ends in 0                   4: (0, 0, .5), (0, 0, 0), ends in 0

The noisy runs have H = S = 3, A = 2, K = 40 and β = 0.1.
"""

import numpy as np
import pytest
from users import true_counts

import dpucbvi as dp
from dpucbvi.counts import PrivateCounts
from dpucbvi.mdp import Trajectory
from dpucbvi.projection import no_postprocess
from dpucbvi.simulate import episodes, set_up

USERS = [
    Trajectory(np.array(s), np.array(a), np.array(r, dtype=float))
    for s, a, r in [
        ((0, 1, 0), (0, 0), (0.5, 0.0)),
        ((0, 1, 1), (0, 1), (0.5, 0.25)),
        ((0, 1, 0), (1, 1), (0.0, 1.0)),
        ((0, 0, 0), (0, 0), (0.5, 0.0)),
    ]
]


def non_private(H=2, S=2, A=2, G=None):
    """The true counts of the users that are fed."""
    G = G or H
    return PrivateCounts(true_counts(H, S, A, G), no_postprocess, 0.0, G, S, A, H=H)


def plans(algorithm, trajectories):
    return [next(algorithm)] + [algorithm.send(trajectory) for trajectory in trajectories]


def table(Q):
    return pytest.approx(np.array(Q, dtype=float), abs=1e-7)


H, S, A, K = 3, 3, 2, 40
PROBLEM = dp.Problem(H, S, A, K, 0.1)


def noisy_run(agent, kind, scale, constants, E=0.0):
    """Every plan from the second on with the counts it was made from, in a run with these constants and this E.

    The noise of `central` (a tree of 6 levels) or `local` has the given scale; `none` has none.
    """
    privatizer = {"central": dp.Central(3 * H * 6 / scale), "local": dp.Local(3 * H / scale)}.get(kind)
    setup = set_up(dp.random_mdp(S, A, H, seed=4), agent, privatizer or dp.NonPrivate(), K, beta=PROBLEM.beta)
    assert setup.problem == PROBLEM and setup.noise.scale == pytest.approx(0.0 if kind == "none" else scale)
    setup = setup._replace(constants=constants, noise=setup.noise._replace(E=E))
    return [(plan, counts) for k, plan, counts, _, _ in episodes(setup, seed=3) if k > 1]
