"""Private-UCB-PO against its formula, written a second time on whole arrays, its policy included."""

import math

import numpy as np
import pytest
from hand_worked import PROBLEM, A, H, K, S, noisy_run

import dpucbvi as dp
from dpucbvi.agents.private_ucb_po import private_ucb_po_constants


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
