"""Compiled twin of privacy/exact.py: the same words in the same order, the same integers.

All arithmetic is on unsigned 64-bit integers, with the bounds of the reference; only x² and the product of two
words with n have 128 bits, in two parts. A sampler is handed words and the place `at` where they stand, and
returns the place behind those it used. A sampler that runs out of words returns a place past their end, and
what else it returns means nothing: the draw is begun again from its first word when there are more. So nothing
is drawn ahead, and no word is lost or used for two draws.

A draw that has read w words has V ≤ w and K ≤ w + 12. One that would read more than 2^20 words ends in an
error: its probability is below 2^-10000, so the source is broken. Below that, |Y|td ≤ t²d(V+1) < 2^54, and
nothing overflows.
"""

from collections.abc import Callable
from math import factorial, isqrt
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from dpucbvi.engine.compiled import bound, compiled, inlined
from dpucbvi.privacy import exact
from dpucbvi.privacy.exact import FACTORIAL_OF
from dpucbvi.privacy.words import HalfWords, WordSource
from dpucbvi.protocol import Ints

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
HALF, LOW, SIZE = np.uint64(32), np.uint64(2**32 - 1), np.uint64(2**32)
BOUNDS = np.array([factorial(FACTORIAL_OF) // factorial(k) for k in range(FACTORIAL_OF + 1)], dtype=np.uint64)
MOST_WORDS = 2**20  # of one draw


@intrinsic
def high_word(_context: Any, x: Any = None, y: Any = None) -> Any:
    """⌊xy/2^64⌋."""

    def build(_c: Any, b: Any, _s: Any, args: Any) -> Any:
        wide = [b.zext(arg, ir.IntType(128)) for arg in args]
        return b.trunc(b.lshr(b.mul(*wide), ir.Constant(ir.IntType(128), 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), build


# --- uniform and Bernoulli ----------------------------------------------------------------------------


@inlined
def uniform_below(n: Any, words: HalfWords, at: int) -> tuple[Any, int]:
    """Uniform on 0..n-1, 1 ≤ n < 2^64: from one word, or two above 2^32; n = 1 needs none."""
    if n > SIZE:
        return uniform_below_wide(n, words, at)
    if n == ONE:
        return ZERO, at
    while at < words.size:
        product = np.uint64(words[at]) * n
        at += 1
        low = product & LOW
        if low >= n or low >= SIZE % n:  # the second is the test; the first spares most its division
            return product >> HALF, at
    return ZERO, words.size + 1


@inlined
def uniform_below_wide(n: Any, words: HalfWords, at: int) -> tuple[Any, int]:
    """The same for n > 2^32."""
    while at + 1 < words.size:
        word = np.uint64(words[at]) << HALF | np.uint64(words[at + 1])
        at += 2
        low = word * n
        if low >= n or low >= (ZERO - n) % n:  # 2^64 mod n
            return high_word(word, n), at
    return ZERO, words.size + 1


@inlined
def first_failure(words: HalfWords, at: int) -> tuple[Any, int]:
    """The first K ≥ 2 with Bernoulli(1/K) = 0: P(K > k) = 1/k!."""
    N, at = uniform_below(BOUNDS[0], words, at)
    K = 2 + np.int64(N < BOUNDS[2]) + np.int64(N < BOUNDS[3]) + np.int64(N < BOUNDS[4])  # spares branches
    while 5 <= K <= FACTORIAL_OF and N < BOUNDS[K]:
        K += 1
    if K > FACTORIAL_OF:  # N = 0 has decided no more than these
        while at <= words.size:
            one_in_K, at = uniform_below(np.uint64(K), words, at)
            if one_in_K != ZERO:
                break
            K += 1
    return K, at


@inlined
def bernoulli_exp(a: Any, b: Any, words: HalfWords, at: int) -> tuple[bool, int]:
    """True with probability e^{-a/b}, 0 ≤ a ≤ b [Algorithm 1]."""
    K = 1
    below_b, at = uniform_below(b, words, at)
    if below_b < a:
        last, at = first_failure(words, at)
        K = 2
        while K < last:
            below_b, at = uniform_below(b, words, at)
            if below_b >= a:
                break
            K += 1
    return K & 1 == 1, at


@inlined
def geometric(words: HalfWords, at: int) -> tuple[Any, int]:
    """V with P(V ≥ v) = e^{-v}: successes of Bernoulli(e^{-1}) before a failure."""
    V = ZERO
    while at <= words.size:
        K, at = first_failure(words, at)  # γ = 1: Bernoulli(γ) never fails
        if K & 1 == 0:
            break
        V += ONE
    return V, at


# --- discrete Laplace ---------------------------------------------------------------------------------


@inlined
def discrete_laplace(n: Any, d: Any, words: HalfWords, at: int) -> tuple[Any, Any, int]:
    """One discrete Laplace variate of scale n/d: its magnitude, and 1 if it is negative [Algorithm 2]."""
    while at <= words.size:
        both, at = uniform_below(TWO * n, words, at)
        U, negative = both >> ONE, both & ONE
        kept, at = bernoulli_exp(U, n, words, at)
        if not kept:
            continue
        V, at = geometric(words, at)
        Y = U + n * V
        if d != ONE:
            Y //= d
        if Y | (negative ^ ONE) != ZERO:  # unless it is -0
            return Y, negative, at
    return ZERO, ZERO, at


# --- discrete Gaussian --------------------------------------------------------------------------------


@inlined
def discrete_gaussian(n: Any, d: Any, t: Any, words: HalfWords, at: int) -> tuple[Any, Any, int]:
    """One discrete Gaussian variate with σ² = n/d and t = ⌊σ⌋ + 1, as magnitude and sign [Algorithm 3]."""
    td = t * d
    b = TWO * n * td * t
    while at <= words.size:
        Y, negative, at = discrete_laplace(t, ONE, words, at)
        x = Y * td - n if Y * td > n else n - Y * td
        kept, at = bernoulli_exp_above_one(high_word(x, x), x * x, b, words, at)
        if kept:
            return Y, negative, at
    return ZERO, ZERO, at


@inlined
def bernoulli_exp_above_one(high: Any, low: Any, b: Any, words: HalfWords, at: int) -> tuple[bool, int]:
    """True with probability e^{-a/b}, a = high·2^64 + low: one factor e^{-1} at a time [Algorithm 1]."""
    while high > ZERO or low > b:
        K, at = first_failure(words, at)
        if K & 1 == 0 or at > words.size:
            return False, at
        if low < b:
            high -= ONE
        low -= b
    return bernoulli_exp(low, b, words, at)


# --- answers ------------------------------------------------------------------------------------------


@inlined
def response(truth: Any, d: Any, n: Any, m: Any, words: HalfWords, at: int) -> tuple[Any, int]:
    """One of the answers 0..d-1: the true one e^{n/m} times as likely as any other."""
    while at <= words.size:
        answer, at = uniform_below(d, words, at)
        if answer == truth:
            return answer, at
        kept, at = bernoulli_exp_above_one(ZERO, n, m, words, at)
        if kept:
            return answer, at
    return ZERO, at


# --- scales and draws ---------------------------------------------------------------------------------


@inlined
def laplace_variate(scale: Any, _i: int, words: HalfWords, at: int) -> tuple[Any, int]:
    """Discrete Laplace of scale n/d, as a signed integer; `scale` is (n, d)."""
    Y, negative, at = discrete_laplace(scale[0], scale[1], words, at)
    return np.int64((Y ^ (ZERO - negative)) + negative), at  # ±Y without a branch


@inlined
def gaussian_variate(scale: Any, _i: int, words: HalfWords, at: int) -> tuple[Any, int]:
    """Discrete Gaussian; `scale` is (n, d, t)."""
    Y, negative, at = discrete_gaussian(scale[0], scale[1], scale[2], words, at)
    return np.int64((Y ^ (ZERO - negative)) + negative), at


@inlined
def answer(scale: Any, _i: int, words: HalfWords, at: int) -> tuple[Any, int]:
    """A response; `scale` is (truth, d, n, m)."""
    given, at = response(scale[0], scale[1], scale[2], scale[3], words, at)
    return np.int64(given), at


@inlined
def bit(scale: Any, i: int, words: HalfWords, at: int) -> tuple[Any, int]:
    """The i-th of some bits, of which one is hot; `scale` is (hot, n, m)."""
    if np.uint64(i) == scale[0]:
        sent, at = uniform_below(TWO, words, at)
    else:
        sent, at = response(ZERO, TWO, scale[1], scale[2], words, at)
    return np.int64(sent), at


def draw(scale: Any, i: int, words: HalfWords, at: int) -> tuple[Any, int]:
    """Stands in `fill` for one of the functions above."""
    raise NotImplementedError


def fill(scale: Any, words: HalfWords, at: int, out: Ints, done: int) -> tuple[int, int]:
    """Fill out[done:] from words[at:]; returns where both stand when `out` is full or the words run out."""
    while done < out.size:
        value, after = draw(scale, done, words, at)
        if after > words.size:
            break
        out[done] = value
        at = after
        done += 1
    return at, done


laplace_draws, gaussian_draws, answer_draws, bit_draws = (
    compiled(bound(fill, draw=one)) for one in (laplace_variate, gaussian_variate, answer, bit)
)


def draw_from(source: WordSource, n: int, draws: Callable[..., tuple[int, int]], *scale: int) -> Ints:
    """n variates; the source is asked for more words whenever a draw has run out of them."""
    out, done = np.empty(n, dtype=np.int64), 0
    constants = tuple(np.uint64(number) for number in scale)
    while True:
        source.at, done = draws(constants, source.words, source.at, out, done)
        if done == n:
            return out
        if len(source.words) - source.at > MOST_WORDS:
            raise OverflowError(f"one draw has read more than {MOST_WORDS} words: they cannot be random")
        source.refill()


class ExactLaplace(exact.ExactLaplace):
    """The reference's class with compiled draws."""

    def draw(self, n: int) -> Ints:
        return draw_from(self.source, n, laplace_draws, self.n, self.d)


class ExactGaussian(exact.ExactGaussian):
    """The reference's class with compiled draws."""

    def draw(self, n: int) -> Ints:
        t = isqrt(self.n // self.d) + 1
        return draw_from(self.source, n, gaussian_draws, self.n, self.d, t)


class ExactCoins(exact.ExactCoins):
    """The reference's class with compiled answers."""

    def response(self, truth: int, d: int) -> int:
        return int(draw_from(self.source, 1, answer_draws, truth, d, self.n, self.d)[0])

    def bits(self, hot: int, n: int) -> Ints:
        return draw_from(self.source, n, bit_draws, hot, self.n, self.d)
