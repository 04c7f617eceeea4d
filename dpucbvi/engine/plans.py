"""Compiled twins of the planning of every algorithm: Algorithm 1's lines 4-15 and the baselines' own.

An algorithm is known by the type of its constants; `plan` picks the code by that type when it is compiled.
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
def expectation(p: Floats, V: Floats) -> float:
    """Σ_{s'} p(s') V(s')."""
    total = 0.0
    for s in range(p.size):
        total += p[s] * V[s]
    return total


@jit
def variance(p: Floats, V: Floats, mean: float) -> float:
    """Σ_{s'} p(s') (V(s') - mean)²."""
    total = 0.0
    for s in range(p.size):
        total += p[s] * ((V[s] - mean) * (V[s] - mean))
    return total


@jit
def estimate(N: float, N_sas: Floats, P: Floats) -> None:
    """[Eq.1] P̃ = Ñ(s,a,s')/Ñ(s,a)."""
    for s in range(P.size):
        P[s] = N_sas[s] / N


@jit
def visits(N_a: Floats) -> float:
    """Ñ(s') = Σ_a Ñ(s',a)."""
    total = 0.0
    for a in range(N_a.size):
        total += N_a[a]
    return total


@jit
def greedy(Q: Floats, V: Floats, pi: Ints) -> bool:
    """[Alg.1 L11-L14] V_h(s) = max_a Q_h(s,a), π_h(s) = argmax, ties to the lowest action."""
    changed = False
    for s in range(V.size):
        best = 0
        for a in range(1, Q.shape[1]):
            if Q[s, a] > Q[s, best]:
                best = a
        V[s] = Q[s, best]
        changed |= pi[s] != best
        pi[s] = best
    return changed


def plan_dp_ucbvi(c: BernsteinConstants, private: Private, memory: Memory) -> bool:
    """[Alg.1 L4-L15]

    A row whose reward and privacy terms alone reach the old Q̃ cannot lower it, since every other summand is
    ≥ 0 and rounding is monotone: line 9 then leaves Q̃ as it is, and the row is passed over.
    """
    N_sa, N_sas, R = private.N_sa, private.N_sas, private.R
    Q, V, pi, P = memory.Q, memory.V, memory.pi, memory.P
    H, S, A = Q.shape
    G, gap = N_sa.shape[0], memory.gap
    changed = False
    for h in range(H - 1, -1, -1):  # [Alg.1 L5]
        g = h % G
        for s in range(S):
            gap[s] = 0.0  # [D2]
            if h + 1 < H:
                N_next = visits(N_sa[(h + 1) % G, s])
                gap[s] = c.gap_most
                if N_next > 0.0:
                    gap[s] = min(c.gap_1 / N_next + c.gap_2 / (N_next * N_next), c.gap_most)
        for s in range(S):  # [Alg.1 L8]
            for a in range(A):
                N = N_sa[g, s, a]
                reward, privacy = math.sqrt(c.reward / N), c.privacy / N
                if N <= 0.0 or c.scale * (reward + privacy) >= Q[h, s, a]:
                    continue
                estimate(N, N_sas[g, s, a], P)  # [Alg.1 L6]
                r = min(max(R[g, s, a] / N, 0.0), 1.0)
                mean = expectation(P, V[h + 1])
                b = c.scale * (  # [Alg.1 L7]
                    VARIANCE * math.sqrt(variance(P, V[h + 1], mean) * c.iota / N)
                    + reward
                    + privacy
                    + c.next_value * math.sqrt(expectation(P, gap) / N)
                )
                Q[h, s, a] = min(Q[h, s, a], r + mean + b)  # [Alg.1 L9], Q̃ ≤ H from the start
        changed |= greedy(Q[h], V[h], pi[h])  # [Alg.1 L11-L14]
    return changed


def plan_ucbvi_ch(c: HoeffdingConstants, private: Private, memory: Memory) -> bool:
    """UCBVI with bonus 1 (baselines/ucbvi.py)."""
    N_sa, N_sas, R = private.N_sa, private.N_sas, private.R
    Q, V, pi, P = memory.Q, memory.V, memory.pi, memory.P
    H, S, A = Q.shape
    changed = False
    for h in range(H - 1, -1, -1):
        g = h % N_sa.shape[0]
        for s in range(S):
            for a in range(A):
                N = N_sa[g, s, a]
                b = c.scale * (c.width * math.sqrt(1.0 / N))
                if N <= 0.0 or b >= Q[h, s, a]:
                    continue
                estimate(N, N_sas[g, s, a], P)
                r = min(max(R[g, s, a] / N, 0.0), 1.0)
                Q[h, s, a] = min(Q[h, s, a], r + expectation(P, V[h + 1]) + b)
        changed |= greedy(Q[h], V[h], pi[h])
    return changed


def plan_ucbvi_bf(c: UcbviBernsteinConstants, private: Private, memory: Memory) -> bool:
    """UCBVI with bonus 2 (baselines/ucbvi.py)."""
    N_sa, N_sas, R = private.N_sa, private.N_sas, private.R
    Q, V, pi, P = memory.Q, memory.V, memory.pi, memory.P
    H, S, A = Q.shape
    G, gap = N_sa.shape[0], memory.gap
    changed = False
    for h in range(H - 1, -1, -1):
        g = h % G
        for s in range(S):
            gap[s] = 0.0  # [D2]
            if h + 1 < H:
                N_next = visits(N_sa[(h + 1) % G, s])
                gap[s] = min(c.gap / N_next, c.gap_most) if N_next > 0.0 else c.gap_most
        for s in range(S):
            for a in range(A):
                N = N_sa[g, s, a]
                correction = c.correction / N
                if N <= 0.0 or c.scale * correction >= Q[h, s, a]:
                    continue
                estimate(N, N_sas[g, s, a], P)
                r = min(max(R[g, s, a] / N, 0.0), 1.0)
                mean = expectation(P, V[h + 1])
                b = c.scale * (
                    math.sqrt(c.variance * variance(P, V[h + 1], mean) / N)
                    + correction
                    + math.sqrt(c.next_value * expectation(P, gap) / N)
                )
                Q[h, s, a] = min(Q[h, s, a], r + mean + b)
        changed |= greedy(Q[h], V[h], pi[h])
    return changed


def plan_private_ucb_vi(c: PrivateUcbViConstants, private: Private, memory: Memory) -> bool:
    """Private-UCB-VI on noisy counts as they are (baselines/private_ucb_vi.py)."""
    N_sa, N_sas, R = private.N_sa, private.N_sas, private.R
    Q, V, pi, P = memory.Q, memory.V, memory.pi, memory.P
    H, S, A = Q.shape
    changed = False
    for h in range(H - 1, -1, -1):
        g = h % N_sa.shape[0]
        for s in range(S):
            for a in range(A):
                D = max(N_sa[g, s, a] + c.E1, 1.0)
                estimate(D, N_sas[g, s, a], P)
                target = (
                    R[g, s, a] / D + expectation(P, V[h + 1]) + c.scale * (c.root / math.sqrt(D) + c.width / D)
                )
                Q[h, s, a] = min(max(target, 0.0), float(H - h))
        changed |= greedy(Q[h], V[h], pi[h])
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
