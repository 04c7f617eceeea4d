"""Compiled twin of privacy/exact.py: the same words in the same order, the same integers.

All arithmetic is on unsigned 64-bit integers, with the bounds of the reference; only x² and the product of two
words with n have 128 bits, in two parts. A sampler is handed words and the place `at` where they stand, and
returns the place behind those it used. A sampler that runs out of words returns a place past their end, and
what else it returns means nothing: the draw is begun again from its first word when there are more. So nothing
is drawn ahead, and no word is lost or used for two draws.

A draw that needs more than 8192 words, whose probability is below 2^-1000, is begun anew. The others have V ≤
8192 and K ≤ 8204, |Y|td ≤ t²d(V+1) < 2^46, and nothing overflows.

A release does not contain this code: it calls a C function by its address (boxes.py), which all releases share.
"""

import ctypes
from collections.abc import Callable
from math import factorial, isqrt
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from dpucbvi.engine.boxes import box, boxed_callback, call
from dpucbvi.engine.compiled import bound, by_hand, compiled, inlined, jit
from dpucbvi.engine.noise import fill_seeded, next_words
from dpucbvi.privacy import draws, exact, words
from dpucbvi.privacy.exact import FACTORIAL_OF
from dpucbvi.privacy.words import HalfWords, Words
from dpucbvi.protocol import Ints

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
HALF, LOW, SIZE = np.uint64(32), np.uint64(2**32 - 1), np.uint64(2**32)
BOUNDS = np.array([factorial(FACTORIAL_OF) // factorial(k) for k in range(FACTORIAL_OF + 1)], dtype=np.uint64)


@intrinsic
def high_word(_context: Any, x: Any = None, y: Any = None) -> Any:
    """⌊xy/2^64⌋."""

    def build(_c: Any, b: Any, _s: Any, args: Any) -> Any:
        wide = [b.zext(arg, ir.IntType(128)) for arg in args]
        return b.trunc(b.lshr(b.mul(*wide), ir.Constant(ir.IntType(128), 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), build


# --- words --------------------------------------------------------------------------------------------


@intrinsic
def read(_context: Any, reader: Any = None, address: Any = None, size: Any = None) -> Any:
    """What the C function at an address returns for (address, size, 0)."""

    def build(_c: Any, builder: Any, _s: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        kind = ir.FunctionType(word, [word, word, word])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [*arguments[1:], word(0)])

    return types.int64(types.int64, types.int64, types.int64), build


@inlined
def first_place(words: Words) -> int:
    """Where the source stands: at its end after a fork, when what it holds is the parent's."""
    return words.at[0] if words.at[1] == words.forks[0] else words.block.size


@by_hand(words.refill)
@jit
def refill(words: Words) -> None:
    """Read a new block behind the words that are left; the system may hand out less than it is asked for."""
    half, at = words.block.size // 2, first_place(words)
    at = at if at >= half else words.block.size
    for i in range(at, words.block.size):
        words.block[i - half] = words.block[i]
    if words.generator.size > 0:
        next_words(words.generator, words.new)
    else:
        done, size = 0, 8 * words.new.size
        while done < size:
            done += max(read(words.reader, words.new.ctypes.data + done, size - done), 0)
    words.at[0], words.at[1] = at - half, words.forks[0]


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
    """`uniform_below` for n > 2^32."""
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
def proposal(truth: Any, d: Any, n: Any, m: Any, words: HalfWords, at: int) -> tuple[Any, int]:
    """One of the answers 0..d-1, all as likely; d if it is false and not kept. Kept is e^{-n/m} of these."""
    answer, at = uniform_below(d, words, at)
    if answer != truth:
        kept, at = bernoulli_exp_above_one(ZERO, n, m, words, at)
        if not kept:
            answer = d
    return answer, at


# --- scales and draws ---------------------------------------------------------------------------------


@inlined
def laplace_variate(scale: Any, words: HalfWords, at: int) -> tuple[Any, int]:
    """Discrete Laplace of scale n/d, as a signed integer; `scale` is (n, d)."""
    Y, negative, at = discrete_laplace(scale[0], scale[1], words, at)
    return np.int64((Y ^ (ZERO - negative)) + negative), at  # ±Y without a branch


@inlined
def gaussian_variate(scale: Any, words: HalfWords, at: int) -> tuple[Any, int]:
    """Discrete Gaussian; `scale` is (n, d, t)."""
    Y, negative, at = discrete_gaussian(scale[0], scale[1], scale[2], words, at)
    return np.int64((Y ^ (ZERO - negative)) + negative), at


def draw(scale: Any, words: HalfWords, at: int) -> tuple[Any, int]:
    """Stands in `fill` for one of the functions above."""
    raise NotImplementedError


def fill(scale: Any, words: Words, out: Ints) -> None:
    """Fill `out` with the next draws; the source is asked for more words whenever one has run out of them."""
    i, at = 0, first_place(words)
    while i < out.size:
        value, after = draw(scale, words.block, at)
        if after > words.block.size:
            words.at[0] = at
            refill(words)
            at = words.at[0]
        else:
            out[i] = value
            at = after
            i += 1
    words.at[0] = at


laplace_draws, gaussian_draws = (compiled(bound(fill, draw=one)) for one in (laplace_variate, gaussian_variate))


# --- for releases -------------------------------------------------------------------------------------


@by_hand(exact.uniform_below)
@jit
def one_below(n: int, words: Words) -> Any:
    at = first_place(words)
    value, after = uniform_below(np.uint64(n), words.block, at)
    while after > words.block.size:
        words.at[0] = at
        refill(words)
        at = words.at[0]
        value, after = uniform_below(np.uint64(n), words.block, at)
    words.at[0] = after
    return np.int64(value)


@by_hand(exact.response)
@jit
def one_response(truth: int, d: int, n: int, m: int, words: Words) -> Any:
    """One of the answers 0..d-1: proposals, until one is kept."""
    at = first_place(words)
    while True:
        value, after = proposal(np.uint64(truth), np.uint64(d), np.uint64(n), np.uint64(m), words.block, at)
        if after > words.block.size:
            words.at[0] = at
            refill(words)
            after = words.at[0]
        elif value < np.uint64(d):
            words.at[0] = after
            return np.int64(value)
        at = after


def fill_families(words: Words, scale: Any, sizes: Ints, gaussian: bool, out: Ints, _k: int) -> int:
    """Fill `out` with new noise, family by family."""
    begin = 0
    for family in range(sizes.size):
        end = begin + sizes[family]
        n, d, t = scale[family, 0], scale[family, 1], scale[family, 2]
        if gaussian:
            gaussian_draws((n, d, t), words, out[begin:end])
        else:
            laplace_draws((n, d), words, out[begin:end])
        begin = end
    return 0


class CompiledDraws(NamedTuple):
    """The noise of privacy/law.ExactDraws, drawn by a C function into `out`."""

    scale: Any  # of two dimensions: what `fill_by` looks at
    out: Ints
    function: int
    box: Ints
    kept: tuple[Any, ...]  # what the box points to

    def draw(self, n: int) -> Ints:
        if n != self.out.size:
            raise ValueError(f"this noise is for {self.out.size} counters, not for {n}")
        ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(self.function)(self.box.ctypes.data, 0)
        return self.out.copy()


_FILLING: list[Any] = []  # `fill_families` as a C function, once it is needed


def compiled_draws(words: Words, scale: Any, sizes: Ints, gaussian: bool) -> CompiledDraws:
    """The source that ExactDraws of these arguments is, compiled."""
    out = np.zeros(int(sizes.sum()), np.int64)
    boxed = box(words, scale, sizes, gaussian, out)
    if not _FILLING:
        _FILLING.append(boxed_callback(fill_families, boxed))
    return CompiledDraws(scale, out, _FILLING[0].address, boxed.words, (words, sizes))


@by_hand(draws.fill)
@jit
def fill_any(source: Any, noise: Any) -> None:
    """Fill a vector with new noise, seeded or exact."""
    fill_by(source.scale, source, noise)


@inlined
def fill_by(scale: Any, source: Any, noise: Any) -> None:
    if scale.ndim == 2:  # known when compiled: the other branch is left out
        call(source.function, source.box.ctypes.data, 0)
        for c in range(noise.size):
            noise[c] = source.out[c]
    else:
        fill_seeded(source, noise)


# --- one law at a time --------------------------------------------------------------------------------


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
        return int(one_response(truth, d, self.n, self.d, Words._make(self.source)))


def draw_from(source: Words, n: int, draws: Callable[..., None], *scale: int) -> Ints:
    out = np.empty(n, dtype=np.int64)
    draws(tuple(np.uint64(number) for number in scale), Words._make(source), out)
    return out
