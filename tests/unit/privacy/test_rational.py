"""Rounding up gives the next float, or the next small fraction, and never less than what was asked for."""

import math
from fractions import Fraction

import pytest
from hypothesis import example, given, strategies as st

from dpucbvi.errors import InputError
from dpucbvi.privacy.accounting import round_down_to, round_up, round_up_to

LARGEST_FLOAT = Fraction(math.nextafter(math.inf, 0.0))
SMALLEST_FLOAT = Fraction(math.nextafter(0.0, 1.0))


@given(st.fractions())
@example(Fraction(1, 3))
@example(Fraction(2, 3))
@example(Fraction(-1, 3))
@example(Fraction(2**53 + 1))
@example(SMALLEST_FLOAT / 3)
@example(-SMALLEST_FLOAT / 3)
@example(LARGEST_FLOAT - 1)
@example(-LARGEST_FLOAT - 1)
def test_the_smallest_float_that_is_not_below(x):
    rounded = round_up(x)
    assert Fraction(rounded) >= x
    below = math.nextafter(rounded, -math.inf)
    assert math.isinf(below) or Fraction(below) < x


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_itself(x):
    assert round_up(Fraction(x)) == x
    if abs(x) < float(LARGEST_FLOAT):
        assert round_up(Fraction(x) + SMALLEST_FLOAT / 2**60) == math.nextafter(x, math.inf)


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=2**30))
@example(Fraction(2**30))
@example(Fraction(2**30) - Fraction(1, 3))
@example(Fraction(1, 3))
def test_a_small_fraction_that_is_not_below(x):
    most = 2**30
    rounded = round_up_to(x, most)
    assert x <= rounded
    assert rounded.numerator <= most and rounded.denominator <= most
    if x >= 1:
        assert rounded - x < 2 * x / most
    assert round_up_to(rounded, most) == rounded


@given(st.fractions(min_value=Fraction(1, 2**30), max_value=2**30))
@example(Fraction(2**30))
@example(Fraction(1, 2**30))
@example(Fraction(1, 3))
def test_a_small_fraction_that_is_not_above(x):
    rounded = round_down_to(x, 2**30)
    assert 0 < rounded <= x and rounded.numerator <= 2**30 and rounded.denominator <= 2**30
    assert x - rounded < (2 * x / 2**30 if x >= 1 else Fraction(1, 2**30))
    assert round_down_to(rounded, 2**30) == rounded and float(rounded) == rounded


def test_what_does_not_fit_is_refused():
    for wrong in (Fraction(0), Fraction(-1), Fraction(2**30 + 1)):
        for rounding in (round_up_to, round_down_to):
            with pytest.raises(InputError):
                rounding(wrong, 2**30)
