"""How hard an MDP is to learn: the quantities that regret bounds speak of; exact, but for the diameter.

    gap       Δ_h(s,a) = V*_h(s) - Q*_h(s,a), over the (h,s) that some policy reaches; 0 for optimal actions
    span      max_h (max_s V*_h(s) - min_s V*_h(s)), over the same
    change    how far P and r differ between two steps: the largest total variation distance of P_h(·|s,a) and
              P_h'(·|s,a), and the largest |r_h(s,a) - r_h'(s,a)|; 0 where counts can be pooled
    blurred   the value of the policy that is best for the mean of P_h and r_h over the steps
    diameter  max_{s≠s'} min_π E[steps from s to s'], for an MDP that does not depend on the step;
              infinite if some state cannot be reached from another (Jaksch et al., JMLR 2010)

Regret that depends on the instance grows like Σ 1/Δ times log K (Simchowitz & Jamieson, NeurIPS 2019).
"""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.mdp import TabularMDP
from dpucbvi.planning import optimal_values, policy_values
from dpucbvi.protocol import Floats, expectation

NO_GAP = 1e-9  # of H: less is rounding
CONVERGED = 1e-9


class Description(NamedTuple):
    """An MDP in numbers; print it for a table with their names."""

    name: str
    H: int
    S: int
    A: int
    stationary: bool
    change: tuple[float, float]
    next_states: int
    optimal: float
    uniform: float
    blurred: float
    span: float
    diameter: float | None
    smallest_gap: float
    sum_of_reciprocal_gaps: float
    reward_range: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.reward_range
        told = {
            "environment": f"{self.name}: H = {self.H}, S = {self.S}, A = {self.A}",
            "depends on the step": self._dependence,
            "next states of a pair, at most": f"{self.next_states}",
            "rewards": "in [0, 1]" if (low, high) == (0.0, 1.0) else f"[{low:g}, {high:g}] mapped to [0, 1]",
            "value of the best policy": f"{self.optimal:.4g}",
            "value of the uniform policy": f"{self.uniform:.4g}",
            "value if planned without steps": f"{self.blurred:.4g}",
            "span of V*": f"{self.span:.4g}",
            "diameter": "-" if self.diameter is None else f"{self.diameter:.4g}",
            "smallest gap": f"{self.smallest_gap:.3g}",
            "sum of reciprocal gaps": f"{self.sum_of_reciprocal_gaps:.4g}",
        }
        return "\n".join(f"{name:<31} {value}" for name, value in told.items())

    @property
    def _dependence(self) -> str:
        if self.stationary:
            return "no (counts can be pooled)"
        return "yes: P by up to {:.3g} in total variation, r by up to {:.3g}".format(*self.change)


def describe(mdp: TabularMDP) -> Description:
    """Work out the size of an MDP and its hardness: dependence on the step, span of V*, diameter, gaps.

    Parameters
    ----------
    mdp : TabularMDP
        The problem.

    Returns
    -------
    Description
        The numbers by name; `print` shows them as a table.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> found = dp.describe(dp.riverswim(S=3, H=4))
    >>> found.stationary, found.next_states
    (True, 3)
    """
    V, Q = optimal_values(mdp)
    reached = reachable(mdp)
    gaps = (V[:-1, :, None] - Q)[reached]
    gaps = gaps[gaps > NO_GAP * mdp.H]
    spans = [V[h][seen].max() - V[h][seen].min() for h, seen in enumerate(reached)]
    uniform = policy_values(mdp, np.full((mdp.H, mdp.S, mdp.A), 1.0 / mdp.A))
    return Description(
        mdp.name,
        mdp.H,
        mdp.S,
        mdp.A,
        mdp.stationary,
        change(mdp),
        mdp.positive[0].shape[-1],
        float(expectation(mdp.initial, V[0])),
        float(expectation(mdp.initial, uniform[0])),
        float(expectation(mdp.initial, policy_values(mdp, best_without_steps(mdp))[0])),
        float(max(spans)),
        diameter(mdp.P[0]) if mdp.stationary else None,
        float(gaps.min(initial=math.inf)),
        float((1.0 / gaps).sum()),
        mdp.reward_range,
    )


def reachable(mdp: TabularMDP) -> np.ndarray:
    """[h, s]: whether some policy is in s at step h with positive probability."""
    seen = np.zeros((mdp.H, mdp.S), dtype=bool)
    seen[0] = mdp.initial > 0
    for h in range(mdp.H - 1):
        seen[h + 1] = (mdp.P[h][seen[h]] > 0).any(axis=(0, 1))
    return seen


def change(mdp: TabularMDP) -> tuple[float, float]:
    """The largest total variation distance of P_h(·|s,a) between two steps, and the largest change of r."""
    distances = [np.abs(mdp.P[h] - mdp.P[h + 1 :]).sum(axis=-1).max(initial=0.0) / 2.0 for h in range(mdp.H)]
    return float(max(distances)), float(np.ptp(mdp.r, axis=0).max())


def best_without_steps(mdp: TabularMDP) -> np.ndarray:
    """The policy that is best if every step has the mean of P_h and the mean of r_h."""
    P, r = (np.broadcast_to(array.mean(axis=0), array.shape) for array in (mdp.P, mdp.r))
    return optimal_values(TabularMDP(P, r, mdp.initial))[1].argmax(axis=-1)


def diameter(P: Floats) -> float:
    """max_{s≠s'} min_π E[steps from s to s'] by value iteration for all targets s' at once.

    It stops at a relative change of 1e-9, where a diameter D is still short by about a share of 1e-9 D.
    """
    S = len(P)
    steps = (P > 0).any(axis=1) | np.eye(S, dtype=bool)
    while not np.array_equal(further := steps @ steps, steps):
        steps = further
    if not steps.all():
        return math.inf
    T, change = np.zeros((S, S)), math.inf  # T[s, s'] grows towards the expected time
    while change > CONVERGED:
        longer = 1.0 + (P @ T).min(axis=1)
        np.fill_diagonal(longer, 0.0)
        change = float(np.abs(longer - T).max() / max(longer.max(), 1.0))
        T = longer
    return float(T.max())
