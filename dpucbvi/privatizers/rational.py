"""Scales in exact arithmetic: a scale that is rounded is rounded up, so that no guarantee rests on a
rounding."""

import math
from fractions import Fraction


def round_up(x: Fraction) -> float:
    """The smallest double that is at least x; infinite if there is none."""
    try:
        nearest = float(x)
    except OverflowError:
        return math.inf
    return nearest if math.isinf(nearest) or Fraction(nearest) >= x else math.nextafter(nearest, math.inf)
