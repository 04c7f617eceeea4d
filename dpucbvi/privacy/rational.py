"""Fractions for what is promised, floats for what is printed: rounding that never promises too much.

A privacy parameter that is computed exactly is a fraction; a float next to it may lie below. `round_up` gives
the smallest float that does not. `round_up_to` gives a fraction with small numerator and denominator that does
not lie below, for scales of noise: more noise than asked for is still private. `round_down_to` gives one that
does not lie above, for a budget: less of it spent than allowed is still private.

Formal guarantees: exact. x ≤ round_up(x), and no float lies between; x ≤ round_up_to(x, most), and for x ≥ 1
the excess is below 2x/most; round_down_to likewise from below.
"""

import math
from fractions import Fraction

from dpucbvi.errors import InputError


def round_up(x: Fraction) -> float:
    """The smallest float ≥ x; infinity if x exceeds them all."""
    try:
        nearest = float(x)  # correctly rounded, so at most one step below
    except OverflowError:
        return math.inf if x > 0 else -math.nextafter(math.inf, 0.0)
    if math.isinf(nearest) or Fraction(nearest) >= x:
        return nearest
    return math.nextafter(nearest, math.inf)


def round_up_to(x: Fraction, most: int) -> Fraction:
    """The smallest k/2^i ≥ x with k ≤ most, where 2^i ≤ most is as large as k allows."""
    if not 0 < x <= most:
        raise InputError(f"x: {x} is not accepted; it must be positive and at most {most}")
    power = 1 << (most.bit_length() - 1)
    while math.ceil(x * power) > most:
        power //= 2
    return Fraction(math.ceil(x * power), power)


def round_down_to(x: Fraction, most: int) -> Fraction:
    """The largest k/2^i ≤ x with k ≤ most, where 2^i ≤ most is as large as k allows; 0 if x < 1/most."""
    if not 0 < x <= most:
        raise InputError(f"x: {x} is not accepted; it must be positive and at most {most}")
    power = 1 << (most.bit_length() - 1)
    while math.floor(x * power) > most:
        power //= 2
    return Fraction(math.floor(x * power), power)
