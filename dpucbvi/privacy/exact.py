"""Exact noise for publication: discrete Laplace, discrete Gaussian and random answers, without a single float.

Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (arXiv:2004.00010, Algorithms
1-3). On the integers, with a rational scale t and a rational σ²,

    discrete Laplace    P(X = x) = (e^{1/t} - 1)/(e^{1/t} + 1) · e^{-|x|/t}
    discrete Gaussian   P(X = x) ∝ e^{-x²/(2σ²)}

Everything is built from uniform integers and comparisons:

    Uniform on 0..n-1   word·n = high·2^32 + low gives `high`, unless low < 2^32 mod n (Lemire, 2019): every
                        value is left with the same number ⌊2^32/n⌋ of words. Above n = 2^32, two words are one
    First failure       the first K ≥ 2 with Bernoulli(1/K) = 0, so P(K > k) = 1/k!. One N uniform on 0..12!-1
                        decides all K ≤ 12 at once: K > k if N < 12!/k!
    Bernoulli(e^{-γ})   γ = a/b in [0, 1]: the first K with Bernoulli(γ/K) = 0, that is Bernoulli(γ) = 0 or
    [Algorithm 1]       Bernoulli(1/K) = 0; P(K > k) = γ^k/k!, so K is odd with probability
                        1 - γ + γ²/2! - γ³/3! + ... = e^{-γ}
    Laplace             U uniform on 0..n-1, kept with probability e^{-U/n}; V successes of Bernoulli(e^{-1})
    [Algorithm 2]       before a failure; U + nV is geometric with ratio e^{-1/n}, ⌊(U + nV)/d⌋ with ratio
                        e^{-d/n}; a fair sign, where -0 is drawn again. Here t = n/d
    Gaussian            Y ~ Laplace of scale t = ⌊σ⌋ + 1, kept with probability e^{-γ},
    [Algorithm 3]       γ = (|Y| - σ²/t)²/(2σ²) = (|Y|td - n)²/(2ndt²). Here σ² = n/d
    Response            one of d answers is proposed, all as likely; the true one is kept, another one with
                        probability e^{-ε}, else a new one is proposed. So P(x) ∝ 1 for the truth and e^{-ε} for
                        each other: k-ary randomised response. With two answers and the truth 0, a 1 comes with
                        probability 1/(e^ε + 1), the cold bit of optimised unary encoding; its hot bit is fair

The sign and U come from one uniform on 0..2n-1. The numerators and denominators of scales are at most 2^30;
then 2ndt² ≤ 2^63 because t²d ≤ (√n + √d)² ≤ 4·2^30, and the compiled twin (engine/exact.py) needs 64-bit
integers only. Both read the same words in the same order.

Formal guarantees, for independent uniform words (words.py):
- the laws above are exact, without rounding and without a cut tail;
- a release f + X, f an integer vector and X iid discrete Laplace of scale t, is exactly (Δ₁/t)-DP where f
  changes by at most Δ₁ in ℓ1; with discrete Gaussian noise it is Δ₂²/(2σ²)-zCDP where f changes by at most Δ₂
  in ℓ2. `epsilon` and `rho` give these as fractions; rational.py rounds them up for printing;
- a response is exactly ε-DP, ε a fraction: two probabilities of one answer are equal or have the ratio e^{±ε}.
Out of scope: timing. The number of words a draw reads depends on its value.
"""

from fractions import Fraction
from math import factorial, isqrt

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.privacy.words import Stream, WordSource
from dpucbvi.protocol import Ints

LARGEST = 2**30  # of the numerator and the denominator of a scale
FACTORIAL_OF = 12  # 12! < 2^32 < 13!


# --- uniform and Bernoulli ----------------------------------------------------------------------------


def uniform_below(n: int, words: Stream) -> int:
    """Uniform on 0..n-1, 1 ≤ n < 2^64: from one word, or two above 2^32; n = 1 needs none."""
    if n == 1:
        return 0
    size = 2**32 if n <= 2**32 else 2**64
    while True:
        word = next(words) if n <= 2**32 else next(words) << 32 | next(words)
        high, low = divmod(word * n, size)
        if low >= size % n:
            return high


def first_failure(words: Stream) -> int:
    """The first K ≥ 2 with Bernoulli(1/K) = 0: P(K > k) = 1/k!."""
    N, K = uniform_below(factorial(FACTORIAL_OF), words), 2
    while K <= FACTORIAL_OF and N < factorial(FACTORIAL_OF) // factorial(K):
        K += 1
    if K > FACTORIAL_OF:  # N = 0 has decided no more than these
        while uniform_below(K, words) == 0:
            K += 1
    return K


def bernoulli_exp(a: int, b: int, words: Stream) -> bool:
    """True with probability e^{-a/b}, 0 ≤ a ≤ b [Algorithm 1]."""
    K = 1
    if uniform_below(b, words) < a:
        K, last = 2, first_failure(words)
        while K < last and uniform_below(b, words) < a:
            K += 1
    return K % 2 == 1


def geometric(words: Stream) -> int:
    """V with P(V ≥ v) = e^{-v}: successes of Bernoulli(e^{-1}) before a failure."""
    V = 0
    while bernoulli_exp(1, 1, words):
        V += 1
    return V


# --- discrete Laplace ---------------------------------------------------------------------------------


def discrete_laplace(t: Fraction, words: Stream) -> int:
    """One discrete Laplace variate of scale t [Algorithm 2]."""
    n, d = parts("t", t)
    while True:
        U, negative = divmod(uniform_below(2 * n, words), 2)
        if not bernoulli_exp(U, n, words):
            continue
        Y = (U + n * geometric(words)) // d
        if not (negative and Y == 0):
            return -Y if negative else Y


# --- discrete Gaussian --------------------------------------------------------------------------------


def discrete_gaussian(sigma2: Fraction, words: Stream) -> int:
    """One discrete Gaussian variate, σ² the parameter of its law [Algorithm 3]."""
    n, d = parts("sigma2", sigma2)
    t = isqrt(n // d) + 1
    while True:
        Y = discrete_laplace(Fraction(t), words)
        if bernoulli_exp_above_one((abs(Y) * t * d - n) ** 2, 2 * n * d * t * t, words):
            return Y


def bernoulli_exp_above_one(a: int, b: int, words: Stream) -> bool:
    """True with probability e^{-a/b}, where a may exceed b: one factor e^{-1} at a time [Algorithm 1]."""
    while a > b:
        if not bernoulli_exp(1, 1, words):
            return False
        a -= b
    return bernoulli_exp(a, b, words)


# --- answers ------------------------------------------------------------------------------------------


def response(truth: int, d: int, n: int, m: int, words: Stream) -> int:
    """One of the answers 0..d-1: the true one e^ε times as likely as any other, ε = n/m."""
    while True:
        answer = uniform_below(d, words)
        if answer == truth or bernoulli_exp_above_one(n, m, words):
            return answer


# --- scales and draws ---------------------------------------------------------------------------------


def parts(key: str, scale: Fraction) -> tuple[int, int]:
    """Numerator and denominator; InputError unless the scale is a positive fraction of integers up to 2^30."""
    if not isinstance(scale, Fraction | int) or isinstance(scale, bool):
        raise InputError(f"{key}: {scale!r} is not accepted; it must be a Fraction, which is exact")
    n, d = scale.numerator, scale.denominator
    if not (0 < n <= LARGEST and d <= LARGEST):
        raise InputError(
            f"{key}: {scale} is not accepted; it must be positive, with numerator and denominator at most 2^30"
        )
    return n, d


class ExactLaplace:
    """Independent discrete Laplace variates of scale t from one source of words."""

    def __init__(self, t: Fraction, source: WordSource):
        self.n, self.d = parts("t", t)
        self.t, self.source = Fraction(t), source

    def draw(self, n: int) -> Ints:
        return np.array([discrete_laplace(self.t, self.source) for _ in range(n)], dtype=np.int64)

    def epsilon(self, change: int) -> Fraction:
        """The pure ε of a release of integers that change by at most `change` in ℓ1: Δ₁/t."""
        return change / self.t


class ExactGaussian:
    """Independent discrete Gaussian variates of parameter σ² from one source of words."""

    def __init__(self, sigma2: Fraction, source: WordSource):
        self.n, self.d = parts("sigma2", sigma2)
        self.sigma2, self.source = Fraction(sigma2), source

    def draw(self, n: int) -> Ints:
        return np.array([discrete_gaussian(self.sigma2, self.source) for _ in range(n)], dtype=np.int64)

    def rho(self, squared_change: int) -> Fraction:
        """The ρ of zCDP of a release of integers whose squared ℓ2 change is at most this: Δ₂²/(2σ²)."""
        return squared_change / (2 * self.sigma2)


class ExactCoins:
    """Public coins, and answers that hide the truth by ε, from one source of words."""

    def __init__(self, epsilon: Fraction, source: WordSource):
        self.n, self.d = parts("epsilon", epsilon)
        self.epsilon, self.source = Fraction(epsilon), source

    def below(self, n: int) -> int:
        """Uniform on 0..n-1."""
        return uniform_below(n, self.source)

    def response(self, truth: int, d: int) -> int:
        return response(truth, d, self.n, self.d, self.source)
