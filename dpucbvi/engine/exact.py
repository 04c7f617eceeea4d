"""Compiled twin of privacy/exact.py: the same words in the same order, the same integers.

All arithmetic is on unsigned 64-bit integers, with the bounds of the reference; only x² and the product of two
words with n have 128 bits, in two parts. A sampler is handed words and the place `at` where they stand, and
returns the place behind those it used. A sampler that runs out of words returns a place past their end, and
what else it returns means nothing: the draw is begun again from its first word when there are more. So nothing
is drawn ahead, and no word is lost or used for two draws.

A draw that needs more than 8192 words or 512 bits of one u, whose probability is below 2^-500, is begun anew.
The others have V ≤ 2^20 and K ≤ 8192, nV ≤ 2^50, 4|Y|td ≤ t²d·2^18 ≤ 2^50, and nothing overflows.

A release does not contain this code: it calls a C function by its address (boxes.py), which all releases share.
"""

import ctypes
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from dpucbvi.engine.boxes import box, boxed_callback, call
from dpucbvi.engine.compiled import bound, by_hand, compiled
from dpucbvi.engine.noise import fill_seeded, next_words
from dpucbvi.privacy import draws, exact, words
from dpucbvi.privacy.exact import MOST, PARTS, digit
from dpucbvi.privacy.words import HalfWords, Words
from dpucbvi.protocol import Ints

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
HALF, LOW, SIZE = np.uint64(32), np.uint64(2**32 - 1), np.uint64(2**32)
FOUR, SIXTEEN, KEPT = np.uint64(4), np.uint64(PARTS), np.uint64(28)
# DIGITS[i, j] is digit i of e^{-j/16}; the first one of j = MOST + 1 is 0, which no word is below.
DIGITS = np.array([[digit(j, i) for j in range(MOST + 1)] + [0] for i in range(16)], dtype=np.uint64)
# By the first 12 bits of a word, how many j ≥ 1 have a first digit above every such word.
SURELY = (DIGITS[0, 1:] >> np.uint64(20) > np.arange(4096)[:, None]).sum(axis=1).astype(np.uint8)


@intrinsic
def high_word(_context: Any, x: Any = None, y: Any = None) -> Any:
    """⌊xy/2^64⌋."""

    def build(_c: Any, b: Any, _s: Any, args: Any) -> Any:
        wide = [b.zext(arg, ir.IntType(128)) for arg in args]
        return b.trunc(b.lshr(b.mul(*wide), ir.Constant(ir.IntType(128), 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), build


@intrinsic
def bit_length(_context: Any, x: Any = None) -> Any:
    """⌊log2 x⌋ + 1."""

    def build(_c: Any, b: Any, _s: Any, args: Any) -> Any:
        return b.sub(ir.Constant(ir.IntType(64), 64), b.ctlz(args[0], ir.Constant(ir.IntType(1), 0)))

    return types.uint64(types.uint64), build


# --- words --------------------------------------------------------------------------------------------


@intrinsic
def read(_context: Any, reader: Any = None, address: Any = None, size: Any = None) -> Any:
    """What the C function at an address returns for (address, size, 0)."""

    def build(_c: Any, builder: Any, _s: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        kind = ir.FunctionType(word, [word, word, word])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [*arguments[1:], word(0)])

    return types.int64(types.int64, types.int64, types.int64), build


def first_place(words: Words) -> int:
    """Where the source stands: at its end after a fork, when what it holds is the parent's."""
    return words.at[0] if words.at[1] == words.forks[0] else words.block.size


@by_hand(words.refill)
def refill(words: Words) -> None:
    """Put a new block behind the words that are left."""
    half, at = words.block.size // 2, first_place(words)
    at = at if at >= half else words.block.size
    for i in range(at, words.block.size):
        words.block[i - half] = words.block[i]
    if words.generator.size > 0:
        next_words(words.generator, words.new)
    else:
        done = 0
        while done < words.new.nbytes:
            done += max(read(words.reader, words.new.ctypes.data + done, words.new.nbytes - done), 0)
    words.at[0], words.at[1] = at - half, words.forks[0]


@compiled
def more(words: Words, at: int) -> int:
    """Have the words from `at` on, and others behind them; returns where they then begin."""
    words.at[0] = at
    refill(words)
    return words.at[0]


# --- uniform and Bernoulli ----------------------------------------------------------------------------


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


def uniform_below_wide(n: Any, words: HalfWords, at: int) -> tuple[Any, int]:
    """`uniform_below` for n > 2^32."""
    while at + 1 < words.size:
        word = np.uint64(words[at]) << HALF | np.uint64(words[at + 1])
        at += 2
        low = word * n
        if low >= n or low >= (ZERO - n) % n:  # 2^64 mod n
            return high_word(word, n), at
    return ZERO, words.size + 1


def below(j: Any, words: HalfWords, at: int) -> tuple[bool, int]:
    """Whether u < e^{-j/16}, of which the words from `at` on are the digits."""
    for i in range(min(len(DIGITS), words.size - at)):
        if words[at + i] != DIGITS[i, j]:
            return words[at + i] < DIGITS[i, j], at + i + 1
    return False, words.size + 1


def geometric(words: HalfWords, at: int) -> tuple[Any, int]:
    """V with P(V ≥ v) = e^{-v/16}."""
    V = 0
    while at < words.size:
        word = np.uint64(words[at])
        j: Any = np.int64(SURELY[np.int64(words[at] >> 20)])
        while word < DIGITS[0, j + 1]:
            j += 1
        if word == DIGITS[0, j + 1]:
            j, at = count_below(words, at)
        else:
            at += 1
        V += j
        if j < MOST:
            return np.uint64(V), at
    return ZERO, words.size + 1


@compiled
def count_below(words: HalfWords, at: int) -> tuple[int, int]:
    """How many j in 1..128 have u < e^{-j/16}, when its first digit does not decide it."""
    less, last = below(1, words, at)
    j = 0
    while less and j < MOST - 1:
        j += 1
        less, after = below(j + 1, words, at)
        last = max(last, after)
    return j + less, last


def bernoulli_exp_of_part(part: Any, a: Any, b: Any, words: HalfWords, at: int) -> tuple[bool, int]:
    """True with probability e^{-a/(16b)}, 0 ≤ a ≤ b, for `part` uniform on 0..15 [Algorithm 1]."""
    K = ONE
    while part == ZERO and at <= words.size:
        below_b, at = uniform_below(b, words, at)
        if below_b >= a:
            break
        K += ONE
        part, at = uniform_below(SIXTEEN * K, words, at)
    return K & ONE == ONE, at


def sixteenths(high: Any, low: Any, b: Any, shift: Any) -> tuple[Any, Any]:
    """⌊a/b⌋ and the rest of a = high·2^64 + low; or only a lower bound of the former, if that is 128 or more.

    `shift` leaves 28 bits of b, if it has more: the quotient of what is left is at most one too small.
    """
    if high >> shift:
        return SIZE, ZERO
    left = low if shift == ZERO else high << (np.uint64(64) - shift) | low >> shift
    j = left // ((b >> shift) + np.uint64(shift > ZERO))
    rest = low - j * b
    more = np.uint64(rest >= b)
    return j + more, rest - more * b


# --- discrete Laplace ---------------------------------------------------------------------------------


def discrete_laplace(n: Any, d: Any, words: HalfWords, at: int) -> tuple[Any, Any, int]:
    """One discrete Laplace variate of scale n/d: its magnitude, and 1 if it is negative [Algorithm 2]."""
    while at <= words.size:
        mixed, at = uniform_below(TWO * SIXTEEN * n, words, at)
        U, negative, part = mixed // (TWO * SIXTEEN), (mixed // SIXTEEN) & ONE, mixed % SIXTEEN
        kept, at = bernoulli_exp_of_part(part, U, n, words, at)
        if not kept:
            continue
        V, at = geometric(words, at)
        Y = (U + n * V) // SIXTEEN
        if d != ONE:
            Y //= d
        if Y | (negative ^ ONE) != ZERO:  # unless it is -0
            return Y, negative, at
    return ZERO, ZERO, at


# --- discrete Gaussian --------------------------------------------------------------------------------


def discrete_gaussian(n: Any, d: Any, t: Any, words: HalfWords, at: int) -> tuple[Any, Any, int]:
    """One discrete Gaussian variate with σ² = n/d and t = ⌊σ⌋ + 1, as magnitude and sign [Algorithm 3]."""
    td = t * d
    b = TWO * n * td * t
    shift = max(bit_length(b), KEPT) - KEPT
    while at <= words.size:
        Y, negative, at = discrete_laplace(t, ONE, words, at)
        x = FOUR * (Y * td - n if Y * td > n else n - Y * td)
        kept, at = bernoulli_exp(high_word(x, x), x * x, b, shift, words, at)
        if kept:
            return Y, negative, at
    return ZERO, ZERO, at


def bernoulli_exp(high: Any, low: Any, b: Any, shift: Any, words: HalfWords, at: int) -> tuple[bool, int]:
    """True with probability e^{-a/(16b)}, a = high·2^64 + low."""
    j, rest = sixteenths(high, low, b, shift)
    while j >= MOST:
        less, at = below(MOST, words, at)
        if not less:
            return False, at
        taken = low - np.uint64(MOST) * b
        high -= high_word(np.uint64(MOST), b) + np.uint64(taken > low)
        low = taken
        j, rest = sixteenths(high, low, b, shift)
    less, after = below(np.int64(j), words, at)
    if not less:
        return False, after
    surely, at = below(np.int64(j) + 1, words, at)
    if surely:
        return True, max(at, after)
    U, at = within_part(b, words, max(at, after))
    return U >= rest, at


def within_part(b: Any, words: HalfWords, at: int) -> tuple[Any, int]:
    """U on 0..b-1 with P(U) as e^{-U/(16b)}."""
    while at <= words.size:
        U, at = uniform_below(b, words, at)
        part, at = uniform_below(SIXTEEN, words, at)
        kept, at = bernoulli_exp_of_part(part, U, b, words, at)
        if kept:
            return U, at
    return ZERO, at


# --- scales and draws ---------------------------------------------------------------------------------


def laplace_variate(scale: Any, words: HalfWords, at: int) -> tuple[Any, int]:
    """Discrete Laplace of scale n/d, as a signed integer; `scale` is (n, d)."""
    Y, negative, at = discrete_laplace(scale[0], scale[1], words, at)
    return np.int64((Y ^ (ZERO - negative)) + negative), at  # ±Y without a branch


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
            at = more(words, at)
        else:
            out[i] = value
            at = after
            i += 1
    words.at[0] = at


laplace_draws, gaussian_draws = (compiled(bound(fill, draw=one)) for one in (laplace_variate, gaussian_variate))


# --- for releases -------------------------------------------------------------------------------------


@by_hand(exact.uniform_below)
def one_below(n: int, words: Words) -> Any:
    at = first_place(words)
    value, after = uniform_below(np.uint64(n), words.block, at)
    while after > words.block.size:
        at = more(words, at)
        value, after = uniform_below(np.uint64(n), words.block, at)
    words.at[0] = after
    return np.int64(value)


@by_hand(exact.bernoulli_exp)
def one_bernoulli_exp(n: int, m: int, words: Words) -> bool:
    """True with probability e^{-n/m}, n and m at most 2^30 as those of an answer."""
    at = first_place(words)
    kept, after = bernoulli_exp(ZERO, SIXTEEN * np.uint64(n), np.uint64(m), ZERO, words.block, at)
    while after > words.block.size:
        at = more(words, at)
        kept, after = bernoulli_exp(ZERO, SIXTEEN * np.uint64(n), np.uint64(m), ZERO, words.block, at)
    words.at[0] = after
    return kept


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


def fill_by(scale: Any, source: Any, noise: Any) -> None:
    if scale.ndim == 2:  # known when compiled: the other branch is left out
        call(source.function, source.box.ctypes.data, 0)
        for c in range(noise.size):
            noise[c] = source.out[c]
    else:
        fill_seeded(source, noise)


@by_hand(draws.fill)
def fill_any(source: Any, noise: Any) -> None:
    """Fill a vector with new noise, seeded or exact."""
    fill_by(source.scale, source, noise)
