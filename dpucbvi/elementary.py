"""Logarithms, exponentials and powers with the same bits on every machine.

Those of the C library depend on the library, and in it on the processor: with fused multiply-add the last bit
may be another. What is computed once in a run is computed here in decimal arithmetic and rounded once: `log`,
`log1p`, `exp`, `expm1` and `power` are the doubles nearest to the true values.

A plan needs some in every episode, and compiled. `quick_exp` and `quick_log` are plain arithmetic in a fixed
order, at most 1 unit in the last place off (measured against mpmath in tests/unit/core/test_elementary.py):

    e^x  = 2^n e^t,        n = ⌊x/ln 2 + ½⌋,       t = x - n ln 2,       e^t = 1 + t + t² (1/2! + t/3! + ...)
    ln x = n ln 2 + ln m,  x = 2^n m,  m in [√½, √2),  ln m = 2z (1 + z²/3 + z⁴/5 + ...),   z = (m-1)/(m+1)

with ln 2 in two parts, the first short enough for n ln 2 to be exact.
"""

import math
from decimal import Context, Decimal
from fractions import Fraction

DIGITS = Context(prec=50)
TINY = 2.0**-60  # below it, log1p(x) and expm1(x) are x to the last digit
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42fefa38p-1"), float.fromhex("0x1.ef35793c7673p-45")
ROOT_HALF = math.sqrt(0.5)


def log(x: float) -> float:
    """ln x, correctly rounded. Requires x > 0."""
    return float(Decimal(x).ln(DIGITS))


def log1p(x: float) -> float:
    """ln(1 + x), correctly rounded. Requires x > -1."""
    return float(DIGITS.add(1, Decimal(x)).ln(DIGITS)) if abs(x) > TINY else x


def exp(x: float) -> float:
    """e^x, correctly rounded."""
    return float(Decimal(x).exp(DIGITS))


def expm1(x: float) -> float:
    """e^x - 1, correctly rounded."""
    return float(DIGITS.subtract(Decimal(x).exp(DIGITS), 1)) if abs(x) > TINY else x


def power(x: float, n: int) -> float:
    """x^n, correctly rounded; OverflowError if it is no double."""
    return float(Fraction(x) ** n)


def quick_exp(x: float) -> float:
    """e^x for |x| < 700, to a unit in the last place."""
    n = math.floor(x / (LN2_HIGH + LN2_LOW) + 0.5)
    t = (x - n * LN2_HIGH) - n * LN2_LOW
    series = 0.0
    for i in range(14, 1, -1):  # 1/2! + t/3! + ... + t¹²/14!, from the inside
        series = (1.0 + t * series) / i
    return math.ldexp(1.0 + (t + t * t * series), n)


def quick_log(x: float) -> float:
    """ln x for a finite x > 0, to a unit in the last place."""
    m, n = math.frexp(x)
    if m < ROOT_HALF:
        m, n = 2.0 * m, n - 1
    f = m - 1.0
    z = f / (2.0 + f)
    series = 0.0
    for i in range(21, 1, -2):  # z²/3 + z⁴/5 + ... + z²⁰/21, from the inside
        series = (1.0 / i + series) * (z * z)
    below = f * f / 2.0 - (z * (f * f / 2.0 + 2.0 * series) + n * LN2_LOW)  # 2z = f - f²/2 + z f²/2
    return n * LN2_HIGH + (f - below)
