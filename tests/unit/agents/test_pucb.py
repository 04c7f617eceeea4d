"""PUCB against its formula, written a second time on whole arrays, and by hand."""

import math

import numpy as np
import pytest
from hand_worked import PROBLEM, A, H, K, S, noisy_run

import dpucbvi as dp
from dpucbvi.agents.pucb import printed_width, pucb_constants


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


def test_pucbs_printed_width():
    """(3H/ε) log(K)^{5/2} ln((2SAH + S²AH)/β') at the figure's size, ε = 1: 60·16^{2.5}·ln(1920·4/.05)."""
    problem = dp.Problem(20, 6, 2, 50_000, 0.05)
    noise = dp.Noise(scale=960.0, E=0.0, terms=16)
    assert printed_width(problem, noise) == pytest.approx(60 * 1024 * math.log(1920 * 80))
