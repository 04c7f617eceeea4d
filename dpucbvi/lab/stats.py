"""Mean and 95% interval over runs, the same in every figure and table.

For n independent runs x_1..x_n with mean x̄ and standard deviation s (n-1 in the denominator), the interval is
x̄ ± t_{0.975, n-1} s/√n: exact for normal x, and the usual convention for the regret of a few runs.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from dpucbvi.protocol import Floats

LEVEL = 0.95
RESAMPLES = 2000  # of a bootstrap


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


class Bootstrap(NamedTuple):
    """Mean over runs and its 95% interval by the percentiles of resampled means."""

    mean: Floats
    low: Floats
    high: Floats


def bootstrap(values: Floats, seed: int = 0) -> Bootstrap:
    """Over the first axis, one row per run; runs are resampled whole. Regrets of private runs have heavy
    tails."""
    values = np.asarray(values, dtype=np.float64)
    picks = np.random.default_rng(seed).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(values[picks].mean(axis=1), [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0], axis=0)
    return Bootstrap(values.mean(axis=0), low, high)


def three_digits(value: float) -> str:
    """The number to three significant digits, without a power of ten."""
    return f"{float(f'{value:.3g}'):,.10g}"
