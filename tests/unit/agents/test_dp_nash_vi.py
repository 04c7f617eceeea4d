"""DP-Nash-VI with one player against its formula, written a second time on whole arrays, and by hand."""

import numpy as np
import pytest
from hand_worked import PROBLEM, A, H, S, noisy_run, non_private

import dpucbvi as dp
from dpucbvi.agents import dp_nash_vi as nash
from dpucbvi.agents.dp_nash_vi import dp_nash_vi_constants
from dpucbvi.bonus import log_iota
from dpucbvi.mdp import Trajectory


def dp_nash_vi_formula(N, N_sas, R, E, scale):
    iota = log_iota(PROBLEM)
    up, low, Q = np.zeros(S), np.zeros(S), np.zeros((H, S, A))
    for h in reversed(range(H)):
        n = np.where(N[h] > 0, N[h], 1.0)
        P, r = N_sas[h] / n[..., None], np.clip(R[h] / n, 0, 1)
        middle = (up + low) / 2
        variance = np.maximum(P @ middle**2 - (2 - P.sum(axis=-1)) * (P @ middle) ** 2, 0)
        gamma = nash.C1 / H * (P @ (up - low))
        Gamma = nash.C2 * (np.sqrt(variance * iota / n) + (H * S * E + H**2 * S) * iota / n)
        b = scale * (gamma + Gamma)
        seen = N[h] > 0
        Q[h] = np.where(seen, np.minimum(r + P @ up + b, H), H)
        Q_low = np.where(seen, np.maximum(r + P @ low - b, 0), 0)
        up, low = Q[h].max(axis=1), Q_low[np.arange(S), Q[h].argmax(axis=1)]
    return Q


@pytest.mark.parametrize(("kind", "E"), [("central", 2.0), ("local", 2.0), ("none", 0.0)])
def test_dp_nash_vi_is_its_formula(kind, E):
    """Var by E[X²] - E[X]², with Σ P̃ as it is."""
    used = set()
    for plan, counts in noisy_run(dp.DPNashVI(), kind, 0.5, dp_nash_vi_constants(PROBLEM, E, 0.001), E):
        assert plan.Q == pytest.approx(dp_nash_vi_formula(*counts, E, 0.001), abs=1e-6)
        used.add(plan.pi.tobytes())
    assert len(used) > 5


def test_dp_nash_vi_brackets_what_is_known():
    """After one user the last step of her path has Q̄ = r + b, and b = scale·C2·H²S ι."""
    trajectory = Trajectory(np.array([0, 1, 2, 0]), np.array([1, 0, 0]), np.array([0.5, 0.0, 0.25]))
    algorithm = dp.DPNashVI().algorithm(
        PROBLEM, non_private(H, S, A), dp_nash_vi_constants(PROBLEM, 0.0, 0.001)
    )
    assert (next(algorithm).Q == H).all()
    Q = algorithm.send(trajectory).Q
    assert Q[2, 2, 0] == pytest.approx(0.25 + 0.001 * 2 * 27 * log_iota(PROBLEM))
