"""The baselines against their formulas, written a second time on whole arrays."""

import math

import numpy as np
import pytest
from hand_worked import PROBLEM, A, H, K, S, noisy_run

import dpucbvi as dp
from dpucbvi.agents.ldp_obi import ldp_obi_constants
from dpucbvi.agents.private_ucb_po import private_ucb_po_constants
from dpucbvi.agents.pucb import printed_width
from dpucbvi.confidence import laplace_sum_bound


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
    used, constants = set(), dp.PUCB(0.05).constants(PROBLEM, dp.Noise(scale=0.0, E=4 * E))
    assert constants.E == E
    for plan, counts in noisy_run(dp.PUCB(), kind, 0.5, constants):
        assert plan.Q == pytest.approx(pucb_formula(*counts, E, 0.05), abs=1e-9)
        used.add(plan.pi.tobytes())
    assert len(used) > 5


def test_pucbs_printed_width():
    """(3H/ε) log(K)^{5/2} ln((2SAH + S²AH)/β') at the figure's size, ε = 1: 60·16^{2.5}·ln(1920·4/.05)."""
    problem = dp.Problem(20, 6, 2, 50_000, 0.05)
    noise = dp.Noise(scale=960.0, E=0.0, terms=16)
    assert printed_width(problem, noise) == pytest.approx(60 * 1024 * math.log(1920 * 80))


# --- LDP-OBI --------------------------------------------------------------------------------------------------


def ldp_obi_formula(N, N_sas, R, k, E1, E2, scale):
    ell = np.log(4 * np.pi**2 * S * A * H * k**3 / (3 * 0.1))
    c1 = c2 = E1
    c3, c4, alpha = np.sqrt(S) * E1, E2, 2
    V, Q = np.zeros(S), np.zeros((H, S, A))
    for h in reversed(range(H)):
        D_r = np.maximum(N[h] + alpha * c2, 1)
        D_p = np.maximum(N_sas[h].sum(axis=-1) + alpha * c3, 1)
        beta_r = np.sqrt(2 * ell / D_r) + ((alpha + 1) * c2 + c1) / D_r
        beta_p = np.sqrt(14 * S * ell / D_p) + (S * c4 + (alpha + 1) * c3) / D_p
        Q[h] = R[h] / D_r + (N_sas[h] @ V) / D_p + scale * (beta_r + (H - h) * beta_p)
        V = np.minimum(H - h, Q[h].max(axis=1))
    return Q


@pytest.mark.parametrize(("kind", "E1", "E2"), [("local", 0.6, 0.9), ("none", 0.0, 0.0)])
def test_ldp_obi_is_its_formula(kind, E1, E2):
    run = noisy_run(dp.LDPOBI(), kind, 0.3, ldp_obi_constants(PROBLEM, E1, E2, 0.01))
    for k, (plan, counts) in enumerate(run, start=2):
        assert plan.Q == pytest.approx(ldp_obi_formula(*counts, k, E1, E2, 0.01), abs=1e-9)
        assert plan.V[0] == pytest.approx(np.minimum(plan.Q[0].max(axis=1), H))


@pytest.mark.parametrize("n", [1, 16, 50_000])
@pytest.mark.parametrize("states", [2, 6])
def test_a_sum_of_rows_has_at_most_root_s_times_the_width(n, states):
    """c3 = √S E1 is a proven width."""
    assert laplace_sum_bound(states * n, 1e-6) <= math.sqrt(states) * laplace_sum_bound(n, 1e-6)


# --- Private-UCB-PO, its policy included ----------------------------------------------------------------------


def private_ucb_po_formula(N, N_sas, R, pi, E1, E2, scale):
    T = K * H
    V, Q = np.zeros(S), np.zeros((H, S, A))
    for h in reversed(range(H)):
        D = np.maximum(N[h] + E1, 1)
        beta_c = np.sqrt(2 * np.log(4 * S * A * T / 0.1) / D) + 3 * E1 / D
        beta_p = np.sqrt(4 * S * np.log(6 * S * A * T / 0.1) / D) + (S * E2 + 2 * E1) / D
        Q[h] = np.clip((R[h] + N_sas[h] @ V) / D + scale * (beta_c + H * beta_p), 0, H - h)
        V = (pi[h] * Q[h]).sum(axis=1)
    return Q


@pytest.mark.parametrize(("kind", "E1", "E2"), [("central", 0.6, 0.9), ("none", 0.0, 0.0)])
def test_private_ucb_po_is_its_formula(kind, E1, E2):
    """Also the policy, from all Q so far: π^{k+1} ∝ exp(η Σ_{i≤k} Q^i)."""
    zero = np.zeros((H, S, A)), np.zeros((H, S, A, S)), np.zeros((H, S, A))
    total = private_ucb_po_formula(*zero, np.full((H, S, A), 0.5), E1, E2, 0.02)
    constants = private_ucb_po_constants(PROBLEM, E1, E2, 0.02)
    for plan, counts in noisy_run(dp.PrivateUCBPO(), kind, 0.5, constants):
        weights = np.exp(math.sqrt(2 * math.log(A) / (H**2 * K)) * total)
        assert plan.pi == pytest.approx(weights / weights.sum(axis=-1, keepdims=True), abs=1e-12)
        assert plan.Q == pytest.approx(private_ucb_po_formula(*counts, plan.pi, E1, E2, 0.02), abs=1e-9)
        total += plan.Q
    assert np.abs(plan.pi - 0.5).max() > 0.05
