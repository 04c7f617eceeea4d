"""Exact noise for publication: discrete Laplace, discrete Gaussian and random answers, without a single float.

Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (arXiv:2004.00010, Algorithms
1-3). On the integers, with a rational scale t and a rational σ²,

    discrete Laplace    P(X = x) = (e^{1/t} - 1)/(e^{1/t} + 1) · e^{-|x|/t}
    discrete Gaussian   P(X = x) ∝ e^{-x²/(2σ²)}

Everything is built from uniform integers and comparisons:

    Uniform on 0..n-1   word·n = high·2^32 + low gives `high`, unless low < 2^32 mod n (Lemire, 2019): every
                        value is left with the same number ⌊2^32/n⌋ of words. Above n = 2^32, two words are one
    u < e^{-j/16}       u uniform on [0, 1) is a stream of words, its digits in base 2^32: they are read and
                        compared with the digits of e^{-j/16} until two differ
    Bernoulli(e^{-γ})   16γ = j + a/b with 0 ≤ a < b: true if u < e^{-(j+1)/16}, false if u ≥ e^{-j/16}. Between
                        them u = e^{-(j+x)/16}, where x in [0, 1) has a density as e^{-x/16}, and x ≥ a/b is
                        true: if U ≥ a for U = ⌊bx⌋ on 0..b-1, with P(U) as e^{-U/(16b)}
    Bernoulli           the first K with Bernoulli(a/(16bK)) = 0, that is Bernoulli(1/(16K)) = 0 or
    (e^{-a/(16b)})      Bernoulli(a/b) = 0; P(K > k) = x^k/k! with x = a/(16b), so K is odd with probability
    [Algorithm 1]       1 - x + x²/2! - x³/3! + ... = e^{-x}
    Geometric           the number V of j ≥ 1 with u < e^{-j/16}: P(V ≥ v) = e^{-v/16}. From v = 128 on it
                        begins anew, for V - 128 given V ≥ 128 has the law of V
    Laplace             U uniform on 0..n-1, kept with probability e^{-U/(16n)}; U + nV is geometric with ratio
    [Algorithm 2]       e^{-1/(16n)}, ⌊(U + nV)/(16d)⌋ with ratio e^{-d/n}; a fair sign, where -0 is drawn
                        again. Here t = n/d
    Gaussian            Y ~ Laplace of scale t = ⌊σ⌋ + 1, kept with probability e^{-γ},
    [Algorithm 3]       γ = (|Y| - σ²/t)²/(2σ²) = (|Y|td - n)²/(2ndt²). Here σ² = n/d
    Response            one of d answers is proposed, all as likely; the true one is kept, another one with
                        probability e^{-ε}, else a new one is proposed. So P(x) ∝ 1 for the truth and e^{-ε} for
                        each other: k-ary randomised response

Algorithms 1 and 2 have whole numbers where this has sixteenths, with which most trials end at their first word.
U, the sign and the first Bernoulli(1/16) come from one uniform on 0..32n-1. The numerators and denominators of
scales are at most 2^30; then 2ndt² ≤ 2^63 because t²d ≤ (√n + √d)² ≤ 4·2^30, and the compiled twin
(engine/exact.py) needs 64-bit integers only. Both read the same words in the same order.

Formal guarantees, for independent uniform words (words.py):
- the laws above are exact, without rounding and without a cut tail;
- a release f + X, f an integer vector and X iid discrete Laplace of scale t, is exactly (Δ₁/t)-DP where f
  changes by at most Δ₁ in ℓ1; with discrete Gaussian noise it is Δ₂²/(2σ²)-zCDP where f changes by at most Δ₂
  in ℓ2. law.ExactNoise has these as fractions, and rounds them up for printing;
- a response is exactly ε-DP, ε a fraction: two probabilities of one answer are equal or have the ratio e^{±ε}.
Out of scope: timing. The number of words a draw reads depends on its value.
"""

from fractions import Fraction
from functools import cache
from itertools import count
from math import isqrt

from dpucbvi.errors import InputError
from dpucbvi.privacy.words import Stream

LARGEST = 2**30  # of the numerator and the denominator of a scale
PARTS, MOST = 16, 128  # e^{-j/16} for j up to 128 is what u is compared with


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


def digit(j: int, i: int) -> int:
    """Digit i of e^{-j/16} in base 2^32; digit 0 is the whole part of 2^32 e^{-j/16}, 2^32 for j = 0."""
    bits = 512 * (1 + i // 16)
    cut = floor_exp(j, bits) >> (bits - 32 * (i + 1))
    return cut % 2**32 if i else cut


@cache
def floor_exp(j: int, bits: int) -> int:
    """⌊2^bits e^{-j/16}⌋, j ≤ 128: what two partial sums agree on, of which one is above and one below."""
    one, other = (partial_sum(j, bits // 3 + n) for n in (16, 17))  # of terms that decrease after j/16
    found = (one[0] << bits) // one[1]
    return found if found == (other[0] << bits) // other[1] else floor_exp(j, bits + 64) >> 64


def partial_sum(j: int, terms: int) -> tuple[int, int]:
    """Σ (-j/16)^i/i! over i = 0, ..., terms, as numerator and denominator (Horner)."""
    top, bottom = 1, 1
    for i in range(terms, 0, -1):
        bottom *= PARTS * i
        top = bottom - j * top
    return top, bottom


def below(j: int, u: list[int], words: Stream) -> bool:
    """Whether u < e^{-j/16}, of whose digits more are read as they are needed."""
    for i in count():
        if i == len(u):
            u.append(next(words))
        if u[i] != digit(j, i):
            return u[i] < digit(j, i)
    raise AssertionError


def geometric(words: Stream) -> int:
    """V with P(V ≥ v) = e^{-v/16}."""
    V, u = 0, list[int]()
    while V < MOST and below(V + 1, u, words):
        V += 1
    return V if V < MOST else V + geometric(words)


def bernoulli_exp(a: int, b: int, words: Stream) -> bool:
    """True with probability e^{-a/b}, a ≥ 0."""
    j, rest = divmod(PARTS * a, b)
    while j >= MOST:
        if not below(MOST, [], words):
            return False
        j -= MOST
    found = strip(j, words)
    return found == 2 or (found == 1 and within_part(b, words) >= rest)


def strip(j: int, words: Stream) -> int:
    """2 if u < e^{-(j+1)/16}, 1 if e^{-(j+1)/16} ≤ u < e^{-j/16}, else 0."""
    u = list[int]()
    return 1 + below(j + 1, u, words) if below(j, u, words) else 0


def within_part(b: int, words: Stream) -> int:
    """U on 0..b-1 with P(U) as e^{-U/(16b)}."""
    while True:
        U = uniform_below(b, words)
        if bernoulli_exp_of_part(uniform_below(PARTS, words), U, b, words):
            return U


def bernoulli_exp_of_part(part: int, a: int, b: int, words: Stream) -> bool:
    """True with probability e^{-a/(16b)}, 0 ≤ a ≤ b, for `part` uniform on 0..15 [Algorithm 1]."""
    K = 1
    while part == 0 and uniform_below(b, words) < a:
        K += 1
        part = uniform_below(PARTS * K, words)
    return K % 2 == 1


# --- discrete Laplace ---------------------------------------------------------------------------------


def discrete_laplace(t: Fraction, words: Stream) -> int:
    """One discrete Laplace variate of scale t [Algorithm 2]."""
    n, d = parts("t", t)
    while True:
        both, part = divmod(uniform_below(2 * PARTS * n, words), PARTS)
        U, negative = divmod(both, 2)
        if not bernoulli_exp_of_part(part, U, n, words):
            continue
        Y = (U + n * geometric(words)) // (PARTS * d)
        if not (negative and Y == 0):
            return -Y if negative else Y


# --- discrete Gaussian --------------------------------------------------------------------------------


def discrete_gaussian(sigma2: Fraction, words: Stream) -> int:
    """One discrete Gaussian variate, σ² the parameter of its law [Algorithm 3]."""
    n, d = parts("sigma2", sigma2)
    t = isqrt(n // d) + 1
    while True:
        Y = discrete_laplace(Fraction(t), words)
        if bernoulli_exp((abs(Y) * t * d - n) ** 2, 2 * n * d * t * t, words):
            return Y


# --- answers ------------------------------------------------------------------------------------------


def response(truth: int, d: int, n: int, m: int, words: Stream) -> int:
    """One of the answers 0..d-1: the true one e^ε times as likely as any other, ε = n/m."""
    while True:
        answer = uniform_below(d, words)
        if answer == truth or bernoulli_exp(n, m, words):
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
