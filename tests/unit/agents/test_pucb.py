"""PUCB against its formula, written a second time on whole arrays, and by hand."""

import math

import numpy as np
import pytest
from hand_worked import PROBLEM, A, H, K, S, noisy_run, non_private

import dpucbvi as dp
from dpucbvi.agents.pucb import printed_width, pucb_constants
from dpucbvi.mdp import Trajectory


def pucb_formula(N, N_sas, R, E, scale):
    log = 2 * np.log(4 * K / 0.1)
    V, Q = np.zeros(S), np.full((H, S, A), float(H))
    for h in reversed(range(H)):
        n = np.where(N[h] > 0, N[h], 1.0)
        phi = np.sqrt(log / np.maximum(n - E, 1))
        psi = (1 + S * H) * (3 * E / n + 2 * E**2 / n**2)
        target = (R[h] + N_sas[h] @ V) / n + scale * ((H + 1) * phi + psi)
        Q[h] = np.where((N[h] >= 2 * E) & (N[h] > 0), np.minimum(H, target), H)
        V = Q[h].max(axis=1)
    return Q


@pytest.mark.parametrize(("kind", "E"), [("central", 0.7), ("none", 0.0)])
def test_pucb_is_its_formula_and_without_noise_ubevs(kind, E):
    """E = 0: min(H, r̂ + P̂V + (H+1) √(2 ln(4K/β)/N)), H where unvisited."""
    used = set()
    for plan, counts in noisy_run(dp.PUCB(), kind, 0.5, pucb_constants(PROBLEM, E, 0.05)):
        assert plan.Q == pytest.approx(pucb_formula(*counts, E, 0.05), abs=1e-9)
        used.add(plan.pi.tobytes())
    assert len(used) > 5


def test_pucb_by_hand():
    """K = 40, β = .1: ln(K/β') = ln 1600. One visit to (0,1), reward .5, and E = .25 ≤ N/2."""
    trajectory = Trajectory(np.array([0, 1, 2, 0]), np.array([1, 0, 0]), np.array([0.5, 0.0, 0.0]))
    algorithm = dp.PUCB().algorithm(PROBLEM, non_private(H, S, A), pucb_constants(PROBLEM, 0.25, 0.01))
    assert (next(algorithm).Q == 3.0).all()
    Q = algorithm.send(trajectory).Q
    conf = 0.01 * (4 * math.sqrt(2 * math.log(1600)) + 10 * (0.75 + 0.125))
    assert Q[2, 2, 0] == pytest.approx(conf)  # the last step: no reward, no value after it
    assert Q[0, 0, 1] == 3.0  # .5 + V(1) + conf, with V(1) = 3 from the unvisited action
    assert Q[2, 0, 0] == 3.0


def test_pucbs_printed_width():
    """(3H/ε) log(K)^{5/2} ln((2SAH + S²AH)/β') at the figure's size, ε = 1: 60·16^{2.5}·ln(1920·4/.05)."""
    problem = dp.Problem(20, 6, 2, 50_000, 0.05)
    noise = dp.Noise(scale=960.0, E=0.0, terms=16)
    assert printed_width(problem, noise) == pytest.approx(60 * 1024 * math.log(1920 * 80))
