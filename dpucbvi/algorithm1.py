"""Algorithm 1 of the paper, DP-UCBVI, line by line.

Each comment `[Alg.1 Ln]` marks line n of the printed algorithm. Ñ, P̃, r̃, Q̃, Ṽ are `N_tilde`, `P_tilde`,
`r_tilde`, `Q_tilde`, `V_tilde`; steps are 0-based, so `V_tilde[H]` is the paper's Ṽ_{H+1}.

The algorithm is a generator: it yields the policy of an episode and is sent the user who followed it (line 16),
a handle without data, which the privatizer opens once. What the paper leaves open is settled in
paper/DEVIATIONS.md: D1 a bonus with no counts is infinite, so Q̃ = H; D2 the fourth bonus term is 0 at h = H; D3
ties go to the lowest action; D4 the counts after the last episode are never released.
"""

import math

import numpy as np

from dpucbvi.bonus import BernsteinConstants, Bonus, bernstein_bonus, next_value_gap
from dpucbvi.counts import PrivateCounts, zero_counts
from dpucbvi.protocol import Algorithm, Counts, Floats, Plan, Problem, cut_to_unit, expectation


def dp_ucbvi(
    problem: Problem,
    privatizer: PrivateCounts,
    constants: BernsteinConstants,
    bonus: Bonus = bernstein_bonus,
    ceiling: Floats | None = None,
    minimum: bool = True,
) -> Algorithm:
    """DP-UCBVI: optimistic value iteration on private counts with a Bernstein bonus.

    `problem` holds H, S, A, K and β; ε lives in the privatizer; the constants are those of line 7, with
    ι = log(30HSAT/β), E_{ε,β} and a factor on the bonus multiplied in (bonus.bernstein_constants). `ceiling[h]`
    is Q̃⁰_h: H in the paper [D18], or anything else that no Q exceeds [D31]. Without `minimum`, line 9
    forgets the Q̃ of the last episode [D32].
    """
    H, S, A, K = problem.H, problem.S, problem.A, problem.K  # [Alg.1 L1]
    counts = zero_counts(privatizer.G, S, A)  # [Alg.1 L2]
    Q_tilde = np.full((H, S, A), float(H))  # Q̃⁰, so that line 9 has a minimum to start from
    if ceiling is not None:
        Q_tilde[:] = ceiling[:, None, None]
    Q_tilde_0 = Q_tilde.copy()
    V_tilde = np.zeros((H + 1, S))
    pi = np.zeros((H, S), dtype=np.int64)
    for _k in range(1, K + 1):  # [Alg.1 L3]
        V_tilde[H] = 0.0  # [Alg.1 L4]
        if not minimum:
            Q_tilde[:] = Q_tilde_0
        for h in reversed(range(H)):  # [Alg.1 L5]
            P_tilde, r_tilde = private_estimates(counts, h)  # [Alg.1 L6]
            b = bonuses(counts, P_tilde, V_tilde[h + 1], h, H, constants, bonus)  # [Alg.1 L7]
            for s, a in np.ndindex(S, A):  # [Alg.1 L8]
                target = r_tilde[s, a] + expectation(P_tilde[s, a], V_tilde[h + 1]) + b[s, a]
                Q_tilde[h, s, a] = min(Q_tilde[h, s, a], H, target)  # [Alg.1 L9]
            # [Alg.1 L10] end for
            for s in range(S):  # [Alg.1 L11]
                V_tilde[h, s] = Q_tilde[h, s].max()  # [Alg.1 L12]
                pi[h, s] = Q_tilde[h, s].argmax()  # [Alg.1 L13]
            # [Alg.1 L14] end for
        # [Alg.1 L15] end for
        user = yield Plan(pi.copy(), Q_tilde.copy(), V_tilde.copy())  # [Alg.1 L16]
        counts = privatizer.update(user)  # [Alg.1 L17]
    # [Alg.1 L18] end for


def private_estimates(counts: Counts, h: int) -> tuple[Floats, Floats]:
    """[Eq.1] P̃_h = Ñ_h(s,a,s')/Ñ_h(s,a) and r̃_h = (R̃_h/Ñ_h) cut to [0,1]; 0 where Ñ_h(s,a) = 0."""
    g = h % counts.G
    S, A = counts.N_sa.shape[1:]
    P_tilde = np.zeros((S, A, S))
    r_tilde = np.zeros((S, A))
    for s, a in np.ndindex(S, A):
        N = counts.N_sa[g, s, a]
        if N > 0.0:
            P_tilde[s, a] = counts.N_sas[g, s, a] / N
            r_tilde[s, a] = cut_to_unit(counts.R[g, s, a] / N)
    return P_tilde, r_tilde


def bonuses(
    counts: Counts,
    P_tilde: Floats,
    V_next: Floats,
    h: int,
    H: int,
    constants: BernsteinConstants,
    bonus: Bonus = bernstein_bonus,
) -> Floats:
    """[Alg.1 L7] b_h(s,a) for all (s,a), from the counts of steps h and h+1; infinite where Ñ = 0 [D1]."""
    S, A = P_tilde.shape[:2]
    gap_next = np.zeros(S)  # [D2] stays 0 at the last step
    if h + 1 < H:
        for s_next in range(S):
            N_next = sum(counts.N_sa[(h + 1) % counts.G, s_next])  # Ñ_{h+1}(s') = Σ_a Ñ_{h+1}(s',a)
            gap_next[s_next] = next_value_gap(N_next, constants)
    b = np.full((S, A), math.inf)
    for s, a in np.ndindex(S, A):
        N = counts.N_sa[h % counts.G, s, a]
        if N > 0.0:
            b[s, a] = bonus(N, P_tilde[s, a], V_next, gap_next, constants)
    return b
