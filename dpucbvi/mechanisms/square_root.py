"""The square root of running sums in integers: exact Gaussian noise for T releases.

A is the lower triangle of ones, and √A the lower triangular Toeplitz matrix with

    c_0 = 1,   c_j = c_{j-1} (2j - 1)/(2j) = binom(2j, j)/4^j,       (Σ c_j u^j)² = 1/(1 - u)

(blt.py has what it is good for, how it is simulated in a few buffers, and the proof of privacy, which holds for
every lower triangular C). Exact noise needs a C with integer entries:

    ĉ_j = c_j rounded to a multiple of 2^-q       q ≥ 4 the smallest for which no ĉ_j is 0
    y_t = 2^q Σ_j ĉ_{t-j} x_j + z_t               integers; z discrete Gaussian of parameter σ²
    ŝ = A Ĉ⁻¹ y                                   the running sums and their noise B̂ z, made afterwards

An item of ℓ2 norm Δ moves y by at most Δ (Σ_j (2^q ĉ_j)²)^½, the root of an integer. Rounding costs little:
‖B̂_T‖ ‖Ĉ‖ is at most 5% above that of √A for T up to 10⁶ (tested), and is what E is made of. Nothing is
quadratic in T, because c falls and so ĉ is a flight of stairs with few steps. Let ĉ fall by w_i/2^q at j_i, and
let s be the true running sums; then

    y_t = 2^q s_t - Σ_i w_i s_{t-j_i} + z_t,      ŝ_t = (y_t + Σ_i w_i ŝ_{t-j_i})/2^q,

and b̂, the first column of B̂, is the inverse of the power series 1 - Σ_i (w_i/2^q) u^{j_i}.

Formal guarantee, exact, for at most T releases: given those before, y_t is a discrete Gaussian mechanism, which
item k moves by 2^q ĉ_{t-k} v. So ρ = Σ_j (2^q ĉ_j)² Δ²/(2σ²), a fraction, also for items chosen with earlier
releases in view (Bun & Steinke, Lemma 1.7); ŝ is post-processing.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.mechanisms import TOO_MANY, add_multiple
from dpucbvi.privacy.draws import fill
from dpucbvi.protocol import Floats, Ints

MOST_BYTES = 2 * 10**9  # of what is kept for all releases: true sums and estimates
LEAST_BITS = 4  # q


def check_memory(T: int, size: int) -> None:
    """Raise InputError if two arrays [release, counter] are too much."""
    needed = 8 * 2 * T * size
    if needed > MOST_BYTES:
        raise InputError(
            f"factorisation: square_root would keep {T} releases, {needed / 1e9:.1f} GB, more than "
            f"{MOST_BYTES / 1e9:g} GB; it takes factorisation=blt (simulated noise) or a larger every"
        )


def coefficients(T: int) -> Floats:
    """c_0, ..., c_{T-1}."""
    j = np.arange(1.0, T)
    return np.append(1.0, np.cumprod((2.0 * j - 1.0) / (2.0 * j)))[:T]


class Stairs(NamedTuple):
    """2^q ĉ: where it falls, by how much, and Σ (2^q ĉ_j)²."""

    unit: int  # 2^q
    at: Ints  # j_i ≥ 1
    by: Ints  # w_i
    square: int


@cache
def stairs(T: int) -> Stairs:
    c = coefficients(T)
    unit = 1 << LEAST_BITS
    while c[-1] * unit < 0.5:
        unit *= 2
    rounded = np.floor(c * unit + 0.5).astype(np.int64)
    falls = rounded[:-1] - rounded[1:]
    at = np.flatnonzero(falls)
    levels, lengths = np.unique(rounded, return_counts=True)
    square = sum(int(level) ** 2 * int(n) for level, n in zip(levels, lengths, strict=True))
    return Stairs(unit, at + 1, falls[at], square)


@cache
def stair_variances(T: int) -> Floats:
    """Σ_{j<t} b̂_j² for t = 1..T; b̂ by Newton's iteration b <- b(2 - fb) on power series."""
    steps, f = stairs(T), np.zeros(T)
    f[0] = 1.0
    f[steps.at] = -steps.by / steps.unit
    b, n = np.ones(1), 1
    while n < T:
        n = min(2 * n, T)
        error = product(f[:n], b, n)
        error[0] -= 1.0
        b = np.append(b, np.zeros(n - len(b))) - product(b, error, n)
    return np.cumsum(np.square(b))


def product(a: Floats, b: Floats, n: int) -> Floats:
    """The first n coefficients of a product of power series."""
    length = 1 << (len(a) + len(b)).bit_length()
    return np.fft.irfft(np.fft.rfft(a, length) * np.fft.rfft(b, length), length)[:n]


class StairSums(NamedTuple):
    """Running sums in integers, weighted by ĉ and noisy, and the estimates made of them."""

    t: Ints  # t[0]: releases so far
    s: Ints  # [release, counter]: the true sums after release 0, 1, ...
    s_hat: Floats  # [release, counter]: their estimates
    y: Ints  # what was last published
    noise: Ints  # scratch
    at: Ints  # of the stairs
    by: Ints
    unit: int
    variance: Floats


def start_stairs(size: int, T: int) -> StairSums:
    """Before the first of T releases."""
    steps, (y, noise) = stairs(max(T, 1)), (np.zeros(size, np.int64) for _ in range(2))
    s, s_hat = np.zeros((T + 1, size), np.int64), np.zeros((T + 1, size))
    variance = stair_variances(max(T, 1))[:T]
    return StairSums(np.zeros(1, np.int64), s, s_hat, y, noise, steps.at, steps.by, steps.unit, variance)


def next_estimate(sums: StairSums, source: Any, true: Ints) -> tuple[Floats, float]:
    """The estimates of the running sums, and their variance in σ²: y_t = 2^q s_t - Σ_i w_i s_{t-j_i} + z_t."""
    if sums.t[0] == sums.variance.size:
        raise OverflowError(TOO_MANY)
    sums.t[0] += 1
    t = sums.t[0]
    sums.s[t] = true
    fill(source, sums.noise)
    sums.y[:] = sums.noise
    add_multiple(sums.y, sums.unit, true)
    for i in range(sums.at.size):
        if sums.at[i] <= t:
            add_multiple(sums.y, -sums.by[i], sums.s[t - sums.at[i]])
    return estimate(sums), sums.variance[t - 1]


def estimate(sums: StairSums) -> Floats:
    """ŝ_t = (y_t + Σ_i w_i ŝ_{t-j_i})/2^q: of what is public alone."""
    t = sums.t[0]
    s_hat = sums.s_hat[t]
    s_hat[:] = sums.y
    for i in range(sums.at.size):
        if sums.at[i] <= t:
            add_multiple(s_hat, sums.by[i], sums.s_hat[t - sums.at[i]])
    for c in range(s_hat.size):
        s_hat[c] /= sums.unit
    return s_hat
