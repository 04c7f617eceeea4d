"""The loops that plans share; the pairs (s,a) of a step lie side by side as `row`s, which makes SIMD code.

`after` are the next states that are counted (state.Places): after[g, d, row], or nothing, of one dimension,
where all S are. A pair then adds up the same numbers in the same order, but for the zeros.
"""

from dpucbvi import protocol
from dpucbvi.engine.compiled import inlined
from dpucbvi.protocol import Floats, Ints

cut_to_unit = inlined(protocol.cut_to_unit)


@inlined
def backup(N: Floats, N_sas: Floats, after: Ints, g: int, V: Floats, P: Floats, mean: Floats) -> None:
    """[Eq.1] P̃ = Ñ(s,a,s')/Ñ(s,a) and Σ_{s'} P̃ V(s'), for the pairs of step g."""
    D, rows = P.shape
    mean[:] = 0.0
    for d in range(D):
        if after.ndim == 3:  # known when compiled: the other branch is left out
            for row in range(rows):
                p = N_sas[d, g, row] / N[row]
                P[d, row] = p
                mean[row] += p * V[after[g, d, row]]
        else:
            V_s = V[d]  # a scalar, so that the compiler need not ask whether V and mean overlap
            for row in range(rows):
                p = N_sas[d, g, row] / N[row]
                P[d, row] = p
                mean[row] += p * V_s


@inlined
def spreads(
    P: Floats, after: Ints, g: int, V: Floats, gap: Floats, mean: Floats, spread: Floats, gap_mean: Floats
) -> None:
    """Var_{P̃} V = Σ_{s'} P̃ (V(s') - mean)² and Σ_{s'} P̃ gap(s'), for all pairs."""
    D, rows = P.shape
    spread[:] = 0.0
    gap_mean[:] = 0.0
    for d in range(D):
        if after.ndim == 3:
            for row in range(rows):
                p, V_s = P[d, row], V[after[g, d, row]]
                spread[row] += p * ((V_s - mean[row]) * (V_s - mean[row]))
                gap_mean[row] += p * gap[after[g, d, row]]
        else:
            V_s, gap_s = V[d], gap[d]
            for row in range(rows):
                p = P[d, row]
                spread[row] += p * ((V_s - mean[row]) * (V_s - mean[row]))
                gap_mean[row] += p * gap_s


@inlined
def visits(N: Floats, s: int, A: int) -> float:
    """Ñ(s) = Σ_a Ñ(s,a)."""
    total = 0.0
    for a in range(A):
        total += N[s * A + a]
    return total


@inlined
def greedy(Q: Floats, V: Floats, pi: Ints) -> bool:
    """[Alg.1 L11-L14] V_h(s) = max_a Q_h(s,a), π_h(s) = argmax, ties to the lowest action; has π_h changed?"""
    A = Q.size // V.size
    changed = False
    for s in range(V.size):
        best, most = 0, Q[s * A]
        for a in range(1, A):
            if Q[s * A + a] > most:
                best, most = a, Q[s * A + a]
        V[s] = most
        changed |= pi[s] != best
        pi[s] = best
    return changed
