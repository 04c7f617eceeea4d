"""Compiled twin of dpucbvi/projection.py: the closed form of Eq.4 and the shift of Eq.5, row by row."""

import numpy as np

from dpucbvi.engine.compiled import jit
from dpucbvi.mdp import Floats


@jit
def closed_form(N_hat_sa: Floats, N_hat_sas: Floats, E: float, N_sa: Floats, N_sas: Floats) -> int:
    """Put Ñ(s,a) and Ñ(s,a,s') in place; returns how many LPs were infeasible."""
    G, S, A = N_hat_sa.shape
    fallbacks = 0
    for g in range(G):
        for s in range(S):
            for a in range(A):
                x = N_sas[g, s, a]
                n = N_hat_sa[g, s, a]
                total = project_row(N_hat_sas[g, s, a], n, E / 4, x)
                for s_next in range(S):
                    x[s_next] += E / (2 * S)  # [Eq.5]
                N_sa[g, s, a] = total + E / 2  # [Eq.5]
                fallbacks += n < -E / 4
    return fallbacks


@jit
def project_row(y: Floats, n: float, w: float, x: Floats) -> float:
    """x* = max(y - λ, 0) with the least |λ| for which |Σx* - n| ≤ w; 0 if there is none. Returns Σx*."""
    n = max(n, -w)
    total = 0.0
    for s in range(y.size):
        x[s] = max(y[s], 0.0)
        total += x[s]
    if abs(total - n) <= w:
        return total
    target = n + w if total > n else n - w
    value = threshold(y, target)
    total = 0.0
    for s in range(y.size):
        x[s] = max(y[s] - value, 0.0)
        total += x[s]
    return total


@jit
def threshold(y: Floats, target: float) -> float:
    """The λ with Σ max(y - λ, 0) = target ≥ 0 (Michelot, 1986)."""
    value, active = -np.inf, y.size + 1
    while True:
        total, count = 0.0, 0
        for s in range(y.size):
            stays = y[s] >= value
            total += y[s] if stays else 0.0
            count += stays
        if count == active or count == 0:
            return value
        value, active = (total - target) / count, count
