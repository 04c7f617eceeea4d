"""Compiled twin of privatizers/laplace.py: the same SFC64 words, the same Laplace variates, bit for bit."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from dpucbvi.engine.compiled import inlined, jit
from dpucbvi.privatizers.laplace import (
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

ROOT_SHIFT = ONE_BITS - SQRT_HALF_BITS
C21, C19, C17, C15, C13, C11, C9, C7, C5, C3, C1 = ARTANH_SERIES


@intrinsic
def bits_of(_context: Any, x: Any = None) -> Any:
    """The 64 bits of a double."""
    return types.uint64(types.float64), lambda _c, b, _s, args: b.bitcast(args[0], ir.IntType(64))


@intrinsic
def double_of(_context: Any, x: Any = None) -> Any:
    """The double that 64 bits encode."""
    return types.float64(types.uint64), lambda _c, b, _s, args: b.bitcast(args[0], ir.DoubleType())


@jit
def next_words(state: Words, out: Words) -> None:
    """Fill `out` with the generator's next words (SFC64: Doty-Humphrey, PractRand) and advance its state."""
    a, b, c, counter = state[0], state[1], state[2], state[3]
    for i in range(out.size):
        word = a + b + counter
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
    series = C21 * q + C19
    series = series * q + C17
    series = series * q + C15
    series = series * q + C13
    series = series * q + C11
    series = series * q + C9
    series = series * q + C7
    series = series * q + C5
    series = series * q + C3
    series = series * q + C1
    return -(exponent * LN2 + 2.0 * z * series)


@inlined
def laplace_from_word(word: Any) -> float:
    """A standard Laplace variate from one word."""
    magnitude = minus_log(word)
    return double_of(bits_of(magnitude) ^ (word << np.uint64(63)))
