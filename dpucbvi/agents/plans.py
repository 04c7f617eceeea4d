"""What a plan reads and writes, and the loops that plans share.

A plan is a plain function plan(c, counts, values, k): from the constants of its algorithm and the private
counts it makes the Q, V and pi of episode k in place. The reference engine calls it, and the fast one compiles
it, so it keeps to numbers, arrays and loops. The pairs (s,a) of a step lie side by side as `row` = s·A + a and
the next state leads, which makes SIMD code of the loops. Where Ñ = 0 the numbers of a pair are not finite, and
unused.

`backward` and `backward_bernstein` are the two loops from the last step to the first; what an algorithm has of
its own are formulas of single numbers that it hands to them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.protocol import Counts, Floats, Ints, cut_to_unit


class Counted(NamedTuple):
    """The private counts by row.

    `after[g, d, row]` are the next states that are counted; it is empty, and of one dimension, where all S are.
    A pair then adds up the same numbers in the same order, but for the zeros.
    """

    N_sa: Floats  # [g, row]
    N_sas: Floats  # [s', g, row], or d for s'
    R: Floats  # [g, row]
    after: Ints


class Values(NamedTuple):
    """What a plan leaves behind, and finds again in the next episode."""

    Q: Floats  # [h, row]
    V: Floats  # [h, s], 0 at h = H
    pi: np.ndarray  # actions [h, s], or probabilities [h, s, a]


def by_row(counts: Counts) -> Counted:
    G, S, A = counts.N_sa.shape
    N_sas = np.moveaxis(counts.N_sas, -1, 0).reshape(S, G, S * A)
    return Counted(
        counts.N_sa.reshape(G, S * A), N_sas, counts.R.reshape(G, S * A), np.zeros(0, dtype=np.int64)
    )


def first_values(ceiling: Floats, S: int, A: int, stochastic: bool) -> Values:
    """Before the first episode: Q⁰ of every step, and the uniform policy or action 0."""
    H = len(ceiling)
    pi = np.full((H, S, A), 1.0 / A) if stochastic else np.zeros((H, S), dtype=np.int64)
    return Values(np.repeat(ceiling[:, None], S * A, axis=1), np.zeros((H + 1, S)), pi)


def new_counts(h: int, H: int, G: int) -> bool:
    """Whether step h reads other counts than step h+1: if they are pooled, all steps read the same."""
    return G > 1 or h == H - 1


def transitions(N: Floats, N_sas: Floats, g: int, P: Floats) -> None:
    """[Eq.1] P̃ = Ñ(s,a,s')/Ñ(s,a), for the pairs of step g."""
    D, rows = P.shape
    for d in range(D):
        for row in range(rows):
            P[d, row] = N_sas[d, g, row] / N[row]


def means(P: Floats, after: Ints, g: int, V: Floats, mean: Floats) -> None:
    """Σ_{s'} P̃ V(s'), for all pairs."""
    D, rows = P.shape
    for row in range(rows):
        mean[row] = 0.0
    for d in range(D):
        if after.ndim == 3:  # known when compiled: the other branch is left out
            for row in range(rows):
                mean[row] += P[d, row] * V[after[g, d, row]]
        elif d % 2 == 1:  # two at a time, so that `mean` is read and written half as often
            V_c, V_d = V[d - 1], V[d]  # scalars: the compiler need not ask whether V and mean overlap
            for row in range(rows):
                mean[row] = mean[row] + P[d - 1, row] * V_c + P[d, row] * V_d
        elif d == D - 1:
            V_d = V[d]
            for row in range(rows):
                mean[row] += P[d, row] * V_d


def variances(P: Floats, after: Ints, g: int, V: Floats, mean: Floats, variance: Floats) -> None:
    """Var_{P̃} V = Σ_{s'} P̃ (V(s') - mean)², for all pairs."""
    D, rows = P.shape
    for row in range(rows):
        variance[row] = 0.0
    for d in range(D):
        if after.ndim == 3:
            for row in range(rows):
                V_s = V[after[g, d, row]]
                variance[row] += P[d, row] * ((V_s - mean[row]) * (V_s - mean[row]))
        elif d % 2 == 1:
            V_c, V_d = V[d - 1], V[d]
            for row in range(rows):
                far_c, far_d = V_c - mean[row], V_d - mean[row]
                variance[row] = variance[row] + P[d - 1, row] * (far_c * far_c) + P[d, row] * (far_d * far_d)
        elif d == D - 1:
            V_d = V[d]
            for row in range(rows):
                variance[row] += P[d, row] * ((V_d - mean[row]) * (V_d - mean[row]))


def next_gaps(next_gap: Callable[..., float], c: Any, N: Floats, gap: Floats) -> None:
    """min{...} of a Bernstein bonus for every s', from the counts of the next step."""
    A = N.size // gap.size
    for s in range(gap.size):
        total = 0.0  # Ñ(s) = Σ_a Ñ(s,a)
        for a in range(A):
            total += N[s * A + a]
        gap[s] = next_gap(total, c)


def backward(
    known: Callable[..., tuple[float, float, float]],
    value: Callable[..., float],
    choose: Callable[..., None],
    c: Any,
    counts: Counted,
    values: Values,
) -> None:
    """A plan with a bonus that does not depend on V.

    For a pair with counts N and R, `known(c, N, R)` gives the number by which counts are divided, r̃ and the
    bonus. From target = r̃ + Σ P̃ V_{h+1} + bonus, `value(c, N, target, last, H, left)` makes Q, where `last` was
    the Q before and `left` = H-h+1. `choose` makes V and pi of Q.
    """
    N, N_sas, R, after = counts
    Q, V, pi = values
    (H, pairs), G = Q.shape, len(N)
    P, work = np.zeros((len(N_sas), pairs)), np.zeros((4, pairs))
    D, r, b, mean = work[0], work[1], work[2], work[3]
    for h in range(H - 1, -1, -1):
        g = h % G
        N_g, R_g, Q_h = N[g], R[g], Q[h]
        if new_counts(h, H, G):
            for row in range(pairs):
                D[row], r[row], b[row] = known(c, N_g[row], R_g[row])
            transitions(D, N_sas, g, P)
        means(P, after, g, V[h + 1], mean)
        for row in range(pairs):
            Q_h[row] = value(c, N_g[row], r[row] + mean[row] + b[row], Q_h[row], float(H), float(H - h))
        choose(Q_h, V[h], pi[h])


def backward_bernstein(
    fixed_terms: Callable[..., tuple[float, float]],
    bonus: Callable[..., float],
    next_gap: Callable[..., float],
    c: Any,
    counts: Counted,
    values: Values,
) -> None:
    """A plan with a bonus of the variance of V and of the counts of the next step; Q never grows.

    `fixed_terms(c, N, gap)` are two numbers of a pair that do not depend on V, and the bonus is made of them by
    `bonus(c, N, variance, one, other)`.
    """
    N, N_sas, R, after = counts
    Q, V, pi = values
    (H, pairs), G = Q.shape, len(N)
    work = np.zeros((7 + len(N_sas), pairs))  # in one piece: the memory for it is asked for once
    r, gap_mean, mean, variance, one, other, P = work[0], work[1], work[2], work[3], work[4], work[5], work[7:]
    gap = work[6, : V.shape[1]]  # [D2] none at the last step
    for h in range(H - 1, -1, -1):  # [Alg.1 L5]
        g = h % G
        N_g, Q_h = N[g], Q[h]
        if new_counts(h, H, G):
            transitions(N_g, N_sas, g, P)  # [Alg.1 L6]
            for row in range(pairs):
                r[row] = cut_to_unit(R[g, row] / N_g[row])
        if new_counts(h, H, G) or h == H - 2:
            means(P, after, g, gap, gap_mean)
            for row in range(pairs):
                one[row], other[row] = fixed_terms(c, N_g[row], gap_mean[row])
        means(P, after, g, V[h + 1], mean)
        variances(P, after, g, V[h + 1], mean, variance)
        for row in range(pairs):
            b = bonus(c, N_g[row], variance[row], one[row], other[row])  # [Alg.1 L7]
            Q_h[row] = least(c, N_g[row], r[row] + mean[row] + b, Q_h[row], float(H), 0.0)  # [Alg.1 L9]
        greedy(Q_h, V[h], pi[h])  # [Alg.1 L11-L14]
        if new_counts(h, H, G):
            next_gaps(next_gap, c, N_g, gap)  # for step h-1


def least(c: Any, N: float, target: float, last: float, H: float, left: float) -> float:
    """[Alg.1 L9] The least of a target and the Q before, which is H at most; that Q where N = 0."""
    return target if (N > 0.0) & (target < last) else last


def greedy(Q: Floats, V: Floats, pi: Ints) -> None:
    """[Alg.1 L11-L14] V_h(s) = max_a Q_h(s,a), π_h(s) = argmax, ties to the lowest action."""
    A = Q.size // V.size
    for s in range(V.size):
        best, most = 0, Q[s * A]
        for a in range(1, A):
            if Q[s * A + a] > most:
                best, most = a, Q[s * A + a]
        V[s] = most
        pi[s] = best
