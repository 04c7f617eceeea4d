"""Logarithm, exponential and power against mpmath, which nobody here wrote."""

import math
import random

import mpmath
import pytest

from dpucbvi import elementary

mpmath.mp.prec = 200
UNIFORM = random.Random(0).uniform
AROUND_0 = [UNIFORM(-0.999, 3.0) for _ in range(500)] + [10 ** UNIFORM(-30, 0) for _ in range(500)]
WIDE = [UNIFORM(-699.0, 699.0) for _ in range(3_000)] + [UNIFORM(-1.5, 1.5) for _ in range(3_000)]
POSITIVE = [*range(2, 2_000), *(2.0 ** UNIFORM(-1000, 1000) for _ in range(3_000))]
NEAR_1 = [UNIFORM(0.5, 2.0) for _ in range(3_000)]


def worst_ulps(f, true, points) -> float:
    """The largest error in units of the last place of the true value."""
    exact = [(x, true(mpmath.mpf(x))) for x in points]
    return max(float(abs(mpmath.mpf(f(x)) - y) / math.ulp(float(y))) for x, y in exact)


@pytest.mark.parametrize(
    ("name", "true", "points"),
    [
        ("log", mpmath.log, POSITIVE + NEAR_1),
        ("log1p", mpmath.log1p, AROUND_0),
        ("exp", mpmath.exp, WIDE),
        ("expm1", mpmath.expm1, AROUND_0),
    ],
)
def test_constants_are_correctly_rounded(name, true, points):
    assert worst_ulps(getattr(elementary, name), true, points) <= 0.5


def test_powers_are_correctly_rounded():
    for n in (2, 3, 4):
        assert worst_ulps(lambda x, n=n: elementary.power(x, n), lambda x, n=n: x**n, WIDE[:500]) <= 0.5
    with pytest.raises(OverflowError):
        elementary.power(1e200, 2)


def test_what_plans_use_is_off_by_less_than_a_unit_in_the_last_place():
    assert worst_ulps(elementary.quick_exp, mpmath.exp, WIDE) < 1.0
    assert worst_ulps(elementary.quick_log, mpmath.log, POSITIVE + NEAR_1) < 1.0
    assert elementary.quick_exp(0.0) == 1.0 and elementary.quick_log(1) == 0.0


def test_an_error_of_a_unit_is_noticed():
    """The negative control: the neighbour of every correctly rounded number is further off than a half."""
    assert worst_ulps(lambda x: math.nextafter(elementary.exp(x), math.inf), mpmath.exp, WIDE[:100]) > 0.5
