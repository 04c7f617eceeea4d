"""Exact values by backward induction: V*, V^π, and the regret of a policy.

    Q*_h(s,a) = r_h(s,a) + Σ_{s'} P_h(s'|s,a) V*_{h+1}(s'),   V*_h(s) = max_a Q*_h(s,a)
    V^π_h(s)  = r_h(s,π_h(s)) + Σ_{s'} P_h(s'|s,π_h(s)) V^π_{h+1}(s')

`V[H]` is the paper's V_{H+1} = 0. Nothing here is sampled: Regret(K) = Σ_k V*_1(s_1^k) - V^{π_k}_1(s_1^k)
is exact up to rounding. Every sum is added in the order of its states and actions, as the compiled loop does: a
matrix product would be added in an order that depends on the processor.
"""

import numpy as np
from numpy.typing import NDArray

from dpucbvi.mdp import TabularMDP
from dpucbvi.protocol import Floats, expectation


def optimal_values(mdp: TabularMDP) -> tuple[Floats, Floats]:
    """Work out V* and Q* by backward induction.

    Parameters
    ----------
    mdp : TabularMDP
        The problem.

    Returns
    -------
    tuple of array
        V*[h, s], for h from 0 to H, and Q*[h, s, a].

    Examples
    --------
    >>> import dpucbvi as dp
    >>> V, Q = dp.optimal_values(dp.riverswim(S=3, H=4))
    >>> V.shape, Q.shape, bool((Q.max(axis=-1) == V[:-1]).all())
    ((5, 3), (4, 3, 2), True)
    """
    V = np.zeros((mdp.H + 1, mdp.S))
    Q = np.zeros((mdp.H, mdp.S, mdp.A))
    for h in reversed(range(mdp.H)):
        Q[h] = action_values(mdp, h, V[h + 1])
        V[h] = Q[h].max(axis=-1)
    return V, Q


def action_values(mdp: TabularMDP, h: int, V_next: Floats) -> Floats:
    """r_h(s,a) + Σ_{s'} P_h(s'|s,a) V_{h+1}(s') for all pairs."""
    P, successor = mdp.positive
    at = h if len(P) > 1 else 0
    return mdp.r[h] + expectations(P[at], V_next[successor[at]])


def expectations(p: Floats, V: Floats) -> Floats:
    """Σ_i p[..., i] V[..., i], added in order."""
    total = np.zeros(p.shape[:-1])
    for i in range(p.shape[-1]):
        total += p[..., i] * V[..., i]
    return total


def policy_values(mdp: TabularMDP, pi: NDArray) -> Floats:
    """Work out V^π by backward induction.

    Parameters
    ----------
    mdp : TabularMDP
        The problem.
    pi : array
        Actions `pi[h, s]`, or probabilities `pi[h, s, a]`.

    Returns
    -------
    array (H+1, S)
        V^π[h, s].

    Examples
    --------
    >>> import numpy as np
    >>> import dpucbvi as dp
    >>> mdp = dp.riverswim(S=3, H=4)
    >>> always_left = np.zeros((4, 3), dtype=int)
    >>> round(float(dp.policy_values(mdp, always_left)[0, 0]), 3)  # 4 steps at 0.005
    0.02
    """
    probabilities = pi if pi.ndim == 3 else np.eye(mdp.A)[pi]
    V = np.zeros((mdp.H + 1, mdp.S))
    for h in reversed(range(mdp.H)):
        V[h] = expectations(probabilities[h], action_values(mdp, h, V[h + 1]))
    return V


def uniform_loss(mdp: TabularMDP) -> float:
    """What the uniformly random policy loses in an episode, on average over the first state."""
    uniform = policy_values(mdp, np.full((mdp.H, mdp.S, mdp.A), 1.0 / mdp.A))
    return float(expectation(mdp.initial, optimal_values(mdp)[0][0] - uniform[0]))
