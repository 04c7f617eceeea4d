"""LDP-OBI against its formula, written a second time on whole arrays."""

import math

import numpy as np
import pytest
from hand_worked import PROBLEM, A, H, S, noisy_run

import dpucbvi as dp
from dpucbvi.agents.ldp_obi import ldp_obi_constants
from dpucbvi.confidence import laplace_sum_bound


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
