"""Exponents of power laws y = c xᵃ, fitted run by run; the interval is over runs, as everywhere (stats.py).

The slope of log y against log x is least squares in every run alone. Runs are independent and points of one run
are not, so the spread between runs, and not the residuals of a fit, tells how well the exponent is known.
"""

import numpy as np

from dpucbvi.protocol import Floats
from experiments.lab.stats import Summary, summarise


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


def as_text(fit: Summary, name: str) -> str:
    """name = 0.52 ± 0.03, or without the interval from a single run."""
    if np.isnan(fit.mean):
        return f"{name} –"
    interval = "" if np.isnan(fit.half_width) else f" ± {fit.half_width:.2f}"
    return f"{name} {fit.mean:.2f}{interval}"
