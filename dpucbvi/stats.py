"""Intervals over runs, comparisons of two sets of runs, and exponents of power laws.

Regrets of private runs have heavy tails, so the interval of a mean is the BCa bootstrap's (Efron 1987):
percentiles of resampled means, moved by their bias z and the skewness a of the runs. Plain percentiles lie too
low under a heavy tail. Agarwal et al. (2021, arXiv 2108.13264) recommend the bootstrap for a few runs, and the
probability of improvement.

Two arms with the same seeds are compared seed by seed: these runs share the stream of their environment.

The exponent a of y = c xᵃ is the slope of log y against log x, by least squares in every run alone. Runs are
independent and points of one run are not, so the spread between runs, and not the residuals of a fit, tells how
well the exponent is known. Slopes are nearly normal and often come from ten runs, for which a bootstrap is
too narrow. Their interval is Student's: x̄ ± t_{0.975, n-1} s/√n.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import betainccinv, betaincinv, ndtr, ndtri, stdtrit

from dpucbvi.protocol import Floats

LEVEL = 0.95
RESAMPLES = 2000  # of a bootstrap
EXACT_FLIPS = 14  # with so many pairs or fewer, all 2ⁿ signs are tried
FLIPS = 10_000  # with more, so many at random


class Summary(NamedTuple):
    """Mean over runs and half the width of Student's interval (nan from a single run)."""

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


class Interval(NamedTuple):
    """A mean over runs and its 95% interval (nan from a single run)."""

    mean: Floats
    low: Floats
    high: Floats


def bootstrap(values: Floats, of: Callable[[Floats], Floats] = np.asarray, seed: int = 0) -> Interval:
    """The mean of each column, one row per run, with its BCa interval; runs are resampled whole.

    `of` makes other numbers of the means, such as their ratio, along the last axis.
    """
    values = np.asarray(values, dtype=np.float64)
    n, mean = len(values), of(values.mean(axis=0))
    if n < 2:
        return Interval(mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan))
    picks = np.random.default_rng(seed).integers(n, size=(RESAMPLES, n))
    cells = (picks + n * np.arange(RESAMPLES)[:, None]).ravel()
    times = np.bincount(cells, minlength=n * RESAMPLES).reshape(RESAMPLES, n).astype(np.float64)
    resampled = np.sort(of(np.einsum("rn,nc->rc", times, values) / n), axis=0)
    gap, slack = resampled - mean, 1e-12 * np.abs(resampled).max(axis=0)  # rounding breaks no tie
    z = ndtri(np.mean((gap < -slack) + 0.5 * (np.abs(gap) <= slack), axis=0))
    left_out = of((values.sum(axis=0) - values) / (n - 1))
    off = left_out.mean(axis=0) - left_out
    squares = (off**2).sum(axis=0)
    a = (off**3).sum(axis=0) / (6.0 * np.where(squares > 0.0, squares, 1.0) ** 1.5)
    ends = []
    for end in ((1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0):
        w = z + ndtri(end)
        at = ndtr(z + w / (1.0 - a * w)) * (RESAMPLES - 1)
        below = np.minimum(at.astype(np.int64), RESAMPLES - 2)
        low, high = (np.take_along_axis(resampled, i[None], axis=0)[0] for i in (below, below + 1))
        ends.append(low + (at - below) * (high - low))
    return Interval(mean, *ends)


def mean_interval(values: Floats) -> tuple[float, float, float]:
    """The mean of a number that every run has, and its interval."""
    mean, low, high = (float(part[0]) for part in bootstrap(np.asarray(values)[:, None]))
    return mean, low, high


def at_least(hits: Floats, trials: Floats | int, alpha: float) -> Floats:
    """Clopper and Pearson's lower bound on a probability, wrong with probability at most α."""
    hits = np.asarray(hits, dtype=np.float64)
    return np.where(hits > 0, betaincinv(np.maximum(hits, 1), trials - hits + 1, alpha), 0.0)


def at_most(hits: Floats, trials: Floats | int, alpha: float) -> Floats:
    """Clopper and Pearson's upper bound on a probability, wrong with probability at most α."""
    hits = np.asarray(hits, dtype=np.float64)
    return np.where(hits < trials, betainccinv(hits + 1, np.maximum(trials - hits, 1), alpha), 1.0)


def clopper_pearson(k: int, n: int) -> tuple[float, float]:
    """The 95% interval of a probability from k hits in n trials; it is never too narrow."""
    hits, tail = np.array(k, dtype=np.float64), (1.0 - LEVEL) / 2.0
    return float(at_least(hits, n, tail)), float(at_most(hits, n, tail))


class Paired(NamedTuple):
    """How a compares with b, run by run; less is better, as regret is."""

    difference: float  # mean of a - b
    low: float  # 95% interval of the mean over pairs
    high: float
    improvement: float  # the probability that a run of a has less than one of b
    p: float  # of the permutation test that the pairs are exchangeable

    def __str__(self) -> str:
        difference, low, high = (three_digits(value) for value in self[:3])
        return (
            f"a - b = {difference} (95%: {low} to {high}); a run of a has less "
            f"than one of b with probability {self.improvement:.2f}; p = {self.p:.2g}"
        )


def paired(a: Floats, b: Floats) -> Paired:
    """Compare the values of two arms whose i-th runs have the same seed."""
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    return Paired(*mean_interval(difference), probability_of_improvement(a, b), permutation_p(a, b))


def probability_of_improvement(a: Floats, b: Floats) -> float:
    """P(X < Y) + P(X = Y)/2 for a run X of a and a run Y of b, over all pairs (the U statistic over nm)."""
    x, y = np.asarray(a, dtype=np.float64)[:, None], np.asarray(b, dtype=np.float64)[None, :]
    return float(np.mean((x < y) + 0.5 * (x == y)))


def permutation_p(a: Floats, b: Floats) -> float:
    """The two-sided p-value of the mean difference if a and b may be swapped within every pair.

    The signs of the differences are flipped: all 2ⁿ ways for up to 14 pairs, which is exact; else 10,000 at
    random, and p = (1 + as extreme)/(1 + tried) is valid (Phipson & Smyth 2010). With n pairs p is at least
    2/2ⁿ, so 5 runs never reach 0.05.
    """
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    n, exact = len(difference), len(difference) <= EXACT_FLIPS
    if exact:
        flips = np.arange(2**n)[:, None] >> np.arange(n) & 1
    else:
        flips = np.random.default_rng(0).integers(2, size=(FLIPS, n))
    sums = np.abs((2.0 * flips - 1.0) @ difference)
    slack = 1e-12 * np.abs(difference).sum()  # the order of a sum must not decide
    extreme = int((sums >= abs(difference.sum()) - slack).sum())
    return extreme / 2**n if exact else (1 + extreme) / (1 + FLIPS)


def holm(p_values: Floats) -> Floats:
    """Holm's adjusted p-values in the given order: with probability 0.95 or more no true hypothesis has one
    below 0.05, whatever their dependence."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(np.arange(len(p), 0, -1) * p[order]), 1.0)
    return adjusted


def three_digits(value: float) -> str:
    """The number to three significant digits, without a power of ten."""
    return f"{float(f'{value:.3g}'):,.10g}"


def exponents(x: Floats, y: Floats) -> Floats:
    """The exponent of every row of y[run, point]; nan from a single point or where y ≤ 0 somewhere."""
    x, y = np.asarray(x, dtype=np.float64), np.atleast_2d(np.asarray(y, dtype=np.float64))
    fitted = np.full(len(y), np.nan)
    if len(x) > 1:
        u = np.log(x) - np.log(x).mean()
        good = (y > 0).all(axis=1)
        fitted[good] = np.log(y[good]) @ u / (u @ u)
    return fitted


def exponent(x: Floats, y: Floats) -> Summary:
    """Mean and 95% interval over the runs of y[run, point]."""
    return summarise(exponents(x, y))


def tail(x: Floats, y: Floats, factor: float) -> tuple[Floats, Floats]:
    """The points of y[run, point] with x from max(x)/factor on: what a local exponent is fitted to."""
    last = x >= x.max() / factor * (1.0 - 1e-12)
    return x[last], y[:, last]


def exponent_text(fit: Summary, name: str) -> str:
    """name = 0.52 ± 0.03, or without the interval from a single run."""
    if np.isnan(fit.mean):
        return f"{name} –"
    interval = "" if np.isnan(fit.half_width) else f" ± {fit.half_width:.2f}"
    return f"{name} {fit.mean:.2f}{interval}"
