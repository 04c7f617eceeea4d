"""Mean and 95% interval over runs, the same in every figure and table.

For n independent runs x_1..x_n with mean x̄ and standard deviation s (n-1 in the denominator), the interval is
x̄ ± t_{0.975, n-1} s/√n: exact for normal x, and the usual convention for the regret of a few runs.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from dpucbvi.protocol import Floats

LEVEL = 0.95


class Summary(NamedTuple):
    """Mean over runs and half the width of its interval (nan from a single run)."""

    mean: Floats
    half_width: Floats


def summarise(values: Floats) -> Summary:
    """Over the first axis, one row per run."""
    values = np.asarray(values, dtype=np.float64)
    n = len(values)
    mean = values.mean(axis=0)
    if n < 2:
        return Summary(mean, np.full_like(mean, np.nan))
    quantile = stdtrit(n - 1, (1.0 + LEVEL) / 2.0)
    return Summary(mean, quantile * values.std(axis=0, ddof=1) / np.sqrt(n))


def three_digits(value: float) -> str:
    """The number to three significant digits, without a power of ten."""
    return f"{float(f'{value:.3g}'):,.10g}"
