"""Seeded noise compiled by hand: the words and variates of privacy/draws.py, bit for bit."""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from dpucbvi.engine.compiled import by_hand, inlined, jit
from dpucbvi.privacy import draws
from dpucbvi.privacy.draws import Draws
from dpucbvi.privacy.gaussian import COSINE_SERIES, EIGHTH_TURN, SINE_SERIES
from dpucbvi.privacy.laplace import (
    ARTANH_SERIES,
    EXPONENT_BIAS,
    LN2,
    MANTISSA,
    ONE_BITS,
    SQRT_HALF_BITS,
    TWO52,
    TWO52_BITS,
    Words,
)
from dpucbvi.protocol import Floats

BLOCK = 1024  # words that are made before their variates are: they stay in the cache
ROOT_SHIFT = ONE_BITS - SQRT_HALF_BITS
L21, L19, L17, L15, L13, L11, L9, L7, L5, L3, L1 = ARTANH_SERIES
S15, S13, S11, S9, S7, S5, S3, S1 = SINE_SERIES
C16, C14, C12, C10, C8, C6, C4, C2, C0 = COSINE_SERIES
ZERO, ONE = np.uint64(0), np.uint64(1)

snapped = inlined(draws.snapped)


@intrinsic
def bits_of(_context: Any, x: Any = None) -> Any:
    """The 64 bits of a double."""
    return types.uint64(types.float64), lambda _c, b, _s, args: b.bitcast(args[0], ir.IntType(64))


@intrinsic
def double_of(_context: Any, x: Any = None) -> Any:
    """The double that 64 bits encode."""
    return types.float64(types.uint64), lambda _c, b, _s, args: b.bitcast(args[0], ir.DoubleType())


@intrinsic
def opaque(_context: Any, word: Any = None) -> Any:
    """The word itself, as a number of which LLVM knows nothing: code without instructions, on any processor."""
    kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
    return types.uint64(types.uint64), lambda _c, b, _s, args: b.asm(kind, "", "=r,0", args, False)


@by_hand(draws.next_words)
@jit
def next_words(state: Words, out: Words) -> None:
    """Fill `out` with the generator's next words (SFC64: Doty-Humphrey, PractRand) and advance its state."""
    a, b, c, counter = state[0], state[1], state[2], state[3]
    for i in range(out.size):
        word: Any = opaque(a + b + counter)  # else LLVM multiplies out sums of eight words: slower
        counter += np.uint64(1)
        a = b ^ (b >> np.uint64(11))
        b = c + (c << np.uint64(3))
        c = ((c << np.uint64(24)) | (c >> np.uint64(40))) + word
        out[i] = word
    state[0], state[1], state[2], state[3] = a, b, c, counter


@inlined
def minus_log(word: Any) -> float:
    """-ln U of one word; no branch and no call, so loops over it become SIMD code."""
    U = 2.0 - double_of((word >> np.uint64(12)) | ONE_BITS)
    shifted = bits_of(U) + ROOT_SHIFT
    exponent = double_of((shifted >> np.uint64(52)) | TWO52_BITS) - (TWO52 + EXPONENT_BIAS)
    m = double_of((shifted & MANTISSA) + SQRT_HALF_BITS)
    z = (m - 1.0) / (m + 1.0)
    q = z * z
    series = L21 * q + L19
    series = series * q + L17
    series = series * q + L15
    series = series * q + L13
    series = series * q + L11
    series = series * q + L9
    series = series * q + L7
    series = series * q + L5
    series = series * q + L3
    series = series * q + L1
    return -(exponent * LN2 + 2.0 * z * series)


@inlined
def laplace_from_word(word: Any) -> float:
    """A standard Laplace variate from one word."""
    magnitude = minus_log(word)
    return double_of(bits_of(magnitude) ^ (word << np.uint64(63)))


# --- normal variates ------------------------------------------------------------------------------------------


@inlined
def octant_angle(word: Any) -> float:
    """φ in [0, π/4) from the top 52 bits of one word."""
    return (double_of((word >> np.uint64(12)) | ONE_BITS) - 1.0) * EIGHTH_TURN


@inlined
def sine_and_cosine(phi: float) -> tuple[float, float]:
    """sin φ and cos φ for φ in [0, π/4]."""
    q = phi * phi
    sine = S15 * q + S13
    sine = sine * q + S11
    sine = sine * q + S9
    sine = sine * q + S7
    sine = sine * q + S5
    sine = sine * q + S3
    sine = sine * q + S1
    cosine = C16 * q + C14
    cosine = cosine * q + C12
    cosine = cosine * q + C10
    cosine = cosine * q + C8
    cosine = cosine * q + C6
    cosine = cosine * q + C4
    cosine = cosine * q + C2
    cosine = cosine * q + C0
    return phi * sine, cosine


@inlined
def gaussian_pair(radius_word: Any, angle_word: Any) -> tuple[float, float]:
    """Two standard normal variates from two words; no branch and no call, so loops over it become SIMD code."""
    # --- radius and direction -------------------------------------------------------------------------
    radius = math.sqrt(2.0 * minus_log(radius_word))
    sine, cosine = sine_and_cosine(octant_angle(angle_word))
    # --- the octant -----------------------------------------------------------------------------------
    differing = (bits_of(sine) ^ bits_of(cosine)) & (ZERO - ((angle_word >> np.uint64(2)) & ONE))
    x = radius * double_of(bits_of(cosine) ^ differing)
    y = radius * double_of(bits_of(sine) ^ differing)
    x_bits = bits_of(x) ^ (angle_word << np.uint64(63))
    y_bits = bits_of(y) ^ ((angle_word >> ONE) << np.uint64(63))
    return double_of(x_bits), double_of(y_bits)


# --- whole vectors --------------------------------------------------------------------------------------------


@jit
def fill_gaussian(state: Words, words: Words, out: Floats) -> None:
    """Fill `out` with the next n variates and advance the generator; `words` is scratch of length 2⌈n/2⌉."""
    next_words(state, words)
    m = (out.size + 1) // 2
    x, y, radius_words, angle_words = out[:m], out[m:], words[:m], words[m:]
    for i in range(y.size):
        x[i], y[i] = gaussian_pair(radius_words[i], angle_words[i])
    if out.size % 2:
        x[m - 1], _ = gaussian_pair(radius_words[m - 1], angle_words[m - 1])


@jit
def fill_seeded(source: Draws, out: Floats) -> None:
    """Fill `out` with scale × the next variates, on the lattice."""
    if source.gaussian:
        fill_gaussian(source.generator, source.words, out)
        for c in range(out.size):
            out[c] = snapped(source.scale[c] * out[c])
    else:
        for first in range(0, out.size, BLOCK):
            block, scale = out[first : first + BLOCK], source.scale[first : first + BLOCK]
            words = source.words[: block.size]
            next_words(source.generator, words)
            for c in range(block.size):
                block[c] = snapped(scale[c] * laplace_from_word(words[c]))


@by_hand(draws.published)
@inlined
def published(source: Any, values: Floats) -> Floats:
    """The values themselves: an audit has no eyes in compiled code."""
    return values
