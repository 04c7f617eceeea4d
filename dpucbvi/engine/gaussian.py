"""Compiled twin of privatizers/gaussian.py: the same words, the same normal variates, bit for bit."""

import math
from typing import Any

import numpy as np

from dpucbvi.engine.compiled import inlined, jit
from dpucbvi.engine.laplace import bits_of, double_of, minus_log, next_words
from dpucbvi.privatizers.gaussian import COSINE_SERIES, EIGHTH_TURN, SINE_SERIES
from dpucbvi.privatizers.laplace import ONE_BITS, Words
from dpucbvi.protocol import Floats

S15, S13, S11, S9, S7, S5, S3, S1 = SINE_SERIES
C16, C14, C12, C10, C8, C6, C4, C2, C0 = COSINE_SERIES
ZERO, ONE = np.uint64(0), np.uint64(1)


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
