"""Compiled twins of the planning of every algorithm: Algorithm 1's lines 4-15 and the baselines' own.

An algorithm is known by the type of its constants; `plan` picks the code by that type when it is compiled. The
pairs (s,a) of a step lie side by side as `row`s, so that the inner loops become SIMD code; each row sees the
same operations in the same order as in the reference. Where Ñ = 0 the row's numbers are not finite and unused.
"""

import math
from typing import Any

from numba.extending import overload

from dpucbvi.baselines.private_ucb_vi import PrivateUcbViConstants
from dpucbvi.baselines.ucbvi import HoeffdingConstants, UcbviBernsteinConstants
from dpucbvi.bonus import VARIANCE, BernsteinConstants
from dpucbvi.engine.compiled import OPTIONS, jit
from dpucbvi.engine.state import Memory, Private
from dpucbvi.mdp import Floats, Ints


@jit
def backup(N: Floats, N_sas: Floats, g: int, V: Floats, P: Floats, mean: Floats) -> None:
    """[Eq.1] P̃ = Ñ(s,a,s')/Ñ(s,a) and Σ_{s'} P̃ V(s'), for the pairs of step g."""
    S, rows = P.shape
    mean[:] = 0.0
    for s in range(S):
        V_s = V[s]  # a scalar, so that the compiler need not ask whether V and mean overlap
        for row in range(rows):
            p = N_sas[s, g, row] / N[row]
            P[s, row] = p
            mean[row] += p * V_s


@jit
def spreads(P: Floats, V: Floats, gap: Floats, mean: Floats, spread: Floats, gap_mean: Floats) -> None:
    """Var_{P̃} V = Σ_{s'} P̃ (V(s') - mean)² and Σ_{s'} P̃ gap(s'), for all pairs."""
    S, rows = P.shape
    spread[:] = 0.0
    gap_mean[:] = 0.0
    for s in range(S):
        V_s, gap_s = V[s], gap[s]
        for row in range(rows):
            p = P[s, row]
            spread[row] += p * ((V_s - mean[row]) * (V_s - mean[row]))
            gap_mean[row] += p * gap_s


@jit
def visits(N: Floats, s: int, A: int) -> float:
    """Ñ(s) = Σ_a Ñ(s,a)."""
    total = 0.0
    for a in range(A):
        total += N[s * A + a]
    return total


@jit
def cut_to_unit(x: float) -> float:
    """x cut to [0, 1], without branches."""
    x = x if x > 0.0 else 0.0
    return x if x < 1.0 else 1.0


@jit
def greedy(Q: Floats, V: Floats, pi: Ints) -> bool:
    """[Alg.1 L11-L14] V_h(s) = max_a Q_h(s,a), π_h(s) = argmax, ties to the lowest action; has π_h changed?"""
    A = Q.size // V.size
    changed = False
    for s in range(V.size):
        best = 0
        for a in range(1, A):
            if Q[s * A + a] > Q[s * A + best]:
                best = a
        V[s] = Q[s * A + best]
        changed |= pi[s] != best
        pi[s] = best
    return changed


@jit
def next_value_gaps(c: BernsteinConstants, N: Floats, gap: Floats) -> None:
    """min{...} of line 7 for every s', from the counts Ñ of the next step."""
    A = N.size // gap.size
    for s in range(gap.size):
        N_next = visits(N, s, A)
        gap[s] = c.gap_most
        if N_next > 0.0:
            gap[s] = min(c.gap_1 / N_next + c.gap_2 / (N_next * N_next), c.gap_most)


@jit
def bernstein_step(
    c: BernsteinConstants, N: Floats, R: Floats, mean: Floats, spread: Floats, gap_mean: Floats, Q: Floats
) -> None:
    """[Alg.1 L7-L10] The bonus and Q̃ of every pair of one step; Q̃ ≤ H from the start."""
    for row in range(Q.size):
        b = c.scale * (  # [Alg.1 L7]
            math.sqrt(c.reward / N[row])
            + c.privacy / N[row]
            + c.next_value * math.sqrt(gap_mean[row] / N[row])
            + VARIANCE * math.sqrt(spread[row] * c.iota / N[row])
        )
        target = cut_to_unit(R[row] / N[row]) + mean[row] + b
        Q[row] = target if (N[row] > 0.0) & (target < Q[row]) else Q[row]  # [Alg.1 L9]


def plan_dp_ucbvi(c: BernsteinConstants, private: Private, memory: Memory) -> bool:
    """[Alg.1 L4-L15]"""
    N, R, Q, V, gap = private.N_sa, private.R, memory.Q, memory.V, memory.gap
    P, mean, spread, gap_mean = memory.P, memory.mean, memory.spread, memory.gap_mean
    H, G = Q.shape[0], N.shape[0]
    changed = False
    gap[:] = 0.0  # [D2] at the last step
    for h in range(H - 1, -1, -1):  # [Alg.1 L5]
        g = h % G
        backup(N[g], private.N_sas, g, V[h + 1], P, mean)  # [Alg.1 L6]
        spreads(P, V[h + 1], gap, mean, spread, gap_mean)
        bernstein_step(c, N[g], R[g], mean, spread, gap_mean, Q[h])  # [Alg.1 L7-L10]
        changed |= greedy(Q[h], V[h], memory.pi[h])  # [Alg.1 L11-L14]
        next_value_gaps(c, N[g], gap)  # for step h-1
    return changed


@jit
def hoeffding_step(c: HoeffdingConstants, N: Floats, R: Floats, mean: Floats, Q: Floats) -> None:
    """Bonus 1 and Q of every pair of one step."""
    for row in range(Q.size):
        b = c.scale * (c.width * math.sqrt(1.0 / N[row]))
        target = cut_to_unit(R[row] / N[row]) + mean[row] + b
        Q[row] = target if (N[row] > 0.0) & (target < Q[row]) else Q[row]


def plan_ucbvi_ch(c: HoeffdingConstants, private: Private, memory: Memory) -> bool:
    """UCBVI with bonus 1 (baselines/ucbvi.py)."""
    N, R, Q, V, P, mean = private.N_sa, private.R, memory.Q, memory.V, memory.P, memory.mean
    changed = False
    for h in range(Q.shape[0] - 1, -1, -1):
        g = h % N.shape[0]
        backup(N[g], private.N_sas, g, V[h + 1], P, mean)
        hoeffding_step(c, N[g], R[g], mean, Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
    return changed


@jit
def ucbvi_gaps(c: UcbviBernsteinConstants, N: Floats, gap: Floats) -> None:
    """min{100²H³S²AL²/N(s'), H²} for every s', from the counts of the next step."""
    A = N.size // gap.size
    for s in range(gap.size):
        N_next = visits(N, s, A)
        gap[s] = min(c.gap / N_next, c.gap_most) if N_next > 0.0 else c.gap_most


@jit
def ucbvi_bernstein_step(
    c: UcbviBernsteinConstants,
    N: Floats,
    R: Floats,
    mean: Floats,
    spread: Floats,
    gap_mean: Floats,
    Q: Floats,
) -> None:
    """Bonus 2 and Q of every pair of one step."""
    for row in range(Q.size):
        b = c.scale * (
            math.sqrt(c.variance * spread[row] / N[row])
            + c.correction / N[row]
            + math.sqrt(c.next_value * gap_mean[row] / N[row])
        )
        target = cut_to_unit(R[row] / N[row]) + mean[row] + b
        Q[row] = target if (N[row] > 0.0) & (target < Q[row]) else Q[row]


def plan_ucbvi_bf(c: UcbviBernsteinConstants, private: Private, memory: Memory) -> bool:
    """UCBVI with bonus 2 (baselines/ucbvi.py)."""
    N, R, Q, V, gap = private.N_sa, private.R, memory.Q, memory.V, memory.gap
    P, mean, spread, gap_mean = memory.P, memory.mean, memory.spread, memory.gap_mean
    H, G = Q.shape[0], N.shape[0]
    changed = False
    gap[:] = 0.0  # [D2] at the last step
    for h in range(H - 1, -1, -1):
        g = h % G
        backup(N[g], private.N_sas, g, V[h + 1], P, mean)
        spreads(P, V[h + 1], gap, mean, spread, gap_mean)
        ucbvi_bernstein_step(c, N[g], R[g], mean, spread, gap_mean, Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
        ucbvi_gaps(c, N[g], gap)  # for step h-1
    return changed


@jit
def raw_count_step(
    c: PrivateUcbViConstants, D: Floats, R: Floats, mean: Floats, most: float, Q: Floats
) -> None:
    """Private-UCB-VI's bonus and Q, cut to [0, most], of every pair of one step."""
    for row in range(Q.size):
        target = R[row] / D[row] + mean[row] + c.scale * (c.root / math.sqrt(D[row]) + c.width / D[row])
        target = target if target > 0.0 else 0.0
        Q[row] = target if target < most else most


def plan_private_ucb_vi(c: PrivateUcbViConstants, private: Private, memory: Memory) -> bool:
    """Private-UCB-VI on noisy counts as they are (baselines/private_ucb_vi.py)."""
    N, R, Q, V, P = private.N_sa, private.R, memory.Q, memory.V, memory.P
    mean, D = memory.mean, memory.spread
    H = Q.shape[0]
    changed = False
    for h in range(H - 1, -1, -1):
        g = h % N.shape[0]
        for row in range(D.size):
            D[row] = max(N[g, row] + c.E1, 1.0)
        backup(D, private.N_sas, g, V[h + 1], P, mean)
        raw_count_step(c, D, R[g], mean, float(H - h), Q[h])
        changed |= greedy(Q[h], V[h], memory.pi[h])
    return changed


PLANS: dict[type, Any] = {
    BernsteinConstants: plan_dp_ucbvi,
    HoeffdingConstants: plan_ucbvi_ch,
    UcbviBernsteinConstants: plan_ucbvi_bf,
    PrivateUcbViConstants: plan_private_ucb_vi,
}


def plan(c: Any, private: Private, memory: Memory) -> bool:
    """Plan an episode from the private counts into memory's Q, V and pi; returns whether pi changed."""
    return PLANS[type(c)](c, private, memory)


@overload(plan, strict=False, jit_options=OPTIONS)
def _plan(c: Any, private: Any, memory: Any) -> Any:
    return PLANS[c.instance_class]
