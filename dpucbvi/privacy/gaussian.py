"""Standard normal noise from raw 64-bit words, by Box and Muller's transform in octants.

Two words of numpy's SFC64 generator give two variates. The first gives a radius, the second a direction:

    r = √(2·(-ln U)),   φ = (π/4)·j/2^52,   (x, y) = r (cos φ, sin φ),  then mirrored.

U = 1 - i/2^52 comes from the top 52 bits i of the first word, and -ln U is that of laplace.py. The top 52 bits
j of the second word give an angle in the first octant [0, π/4); its three lowest bits carry it to one of the
eight octants:

    bit 2   swap x and y         bit 0   sign of x         bit 1   sign of y

If U were uniform on (0, 1] and φ on [0, π/4), x and y would be independent and exactly N(0, 1). On an octant
two short Taylor polynomials in φ² are enough,

    sin φ = φ (1 - φ²/3! + φ⁴/5! - ... - φ¹⁴/15!),   cos φ = 1 - φ²/2! + φ⁴/4! - ... + φ¹⁶/16!,

since the next terms are below (π/4)¹⁷/17! = 4.7e-17 and (π/4)¹⁸/18! = 2.1e-18. Beside them there are only sums,
products, one division and one square root, each of which IEEE 754 rounds in one way only: every machine gives
the same bits.

Grid. There are 2^52 radii and 2^55 directions. The largest magnitude is √(2·52 ln 2) = √72.09 = 8.49; the ideal
radius exceeds it with probability 2^-52.

Order. For n variates there are m = ⌈n/2⌉ pairs and 2m words: pair i takes word i for its radius and word m+i
for its direction, and the variates are x_0, ..., x_{m-1}, y_0, ..., y_{m-1}, of which the first n are kept.
Drawing in parts therefore gives other numbers than drawing at once.

Idealised numerics, as in laplace.py: floating-point Gaussian noise from a seeded generator simulates a private
mechanism and is none. Noise that may be published is in exact.py.
"""

import math
from typing import Any

import numpy as np

from dpucbvi.privacy.laplace import ONE_BITS, Words, bits_of, double_of, minus_log
from dpucbvi.protocol import Floats

EIGHTH_TURN = 0.7853981633974483  # π/4
SINE_SERIES = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(7, -1, -1))  # -1/15!, ..., -1/3!, 1
COSINE_SERIES = tuple((-1.0) ** k / math.factorial(2 * k) for k in range(8, -1, -1))  # 1/16!, ..., -1/2!, 1


def octant_angle(words: Any) -> Any:
    """φ in [0, π/4) from the top 52 bits of each word."""
    return (double_of((words >> np.uint64(12)) | ONE_BITS) - 1.0) * EIGHTH_TURN


def sine_and_cosine(phi: Any) -> tuple[Any, Any]:
    """sin φ and cos φ for φ in [0, π/4] (polynomials above)."""
    q = phi * phi
    sine, cosine = SINE_SERIES[0], COSINE_SERIES[0]
    for coefficient in SINE_SERIES[1:]:
        sine = sine * q + coefficient
    for coefficient in COSINE_SERIES[1:]:
        cosine = cosine * q + coefficient
    return phi * sine, cosine


def gaussian_pair(radius_words: Any, angle_words: Any) -> tuple[Any, Any]:
    """x and y of each two words; without a branch, so that compiled loops over it become SIMD code."""
    # --- radius and direction -------------------------------------------------------------------------
    radius = np.sqrt(2.0 * minus_log(radius_words))
    sine, cosine = sine_and_cosine(octant_angle(angle_words))
    # --- the octant -----------------------------------------------------------------------------------
    swap = np.uint64(0) - ((angle_words >> np.uint64(2)) & np.uint64(1))  # all bits, or none
    differing = (bits_of(sine) ^ bits_of(cosine)) & swap
    x = radius * double_of(bits_of(cosine) ^ differing)
    y = radius * double_of(bits_of(sine) ^ differing)
    x_bits = bits_of(x) ^ (angle_words << np.uint64(63))
    y_bits = bits_of(y) ^ ((angle_words >> np.uint64(1)) << np.uint64(63))
    return double_of(x_bits), double_of(y_bits)


def gaussian_from_words(words: Words) -> Floats:
    """2m standard normal variates from 2m words, in the order above."""
    return np.concatenate(gaussian_pair(*np.split(words, 2)))
