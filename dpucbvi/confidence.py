"""E_{ε,β}: how far the private counts may lie from the true ones (Assumption 3.1).

Lemma 5.4 turns a bound on the raw noise into Assumption 3.1: if every |N̂ - N| ≤ E/4 then it holds with
E. So E = 4 × (a bound on the raw noise that fails with probability at most β/3).

`proven`   the bound by Chernoff's method. A sum Z of n independent Lap(b) has E e^{λZ} = (1-λ²b²)^{-n}, so

               P(|Z| > x) ≤ 2 exp(-λx) (1-λ²b²)^{-n}   for every 0 < λ < 1/b,

           least at λb = u with u = (√(n²+y²) - n)/y, y = x/b. Each privatizer says
           how many noises a release has and over how many events the union goes. Gaussian noise of standard
           deviation σ has P(|Z| > zσ) = 2Φ(-z).

`printed`  the printed order with its constant explicit (the paper prints none), in central.py and local.py.
"""

import math
from typing import NamedTuple

from dpucbvi.elementary import log, log1p
from dpucbvi.protocol import Problem

TO_ASSUMPTION = 4.0  # E over the bound on the raw noise [Lem.5.4]
SHARE = 3.0  # of β: Assumption 3.1 fails with probability at most β/3
RAW_SUMMED = 5.0 / 8.0  # of E: bounds what is read of raw counts where N(s,a) is a sum (`bound_to_E`)


def laplace_sum_log_tail(y: float, n: float) -> float:
    """ln of Chernoff's bound on P(|Z| > y), Z the sum of n independent Lap(1)."""
    if y <= 0.0:
        return 0.0
    u = tilt(y, n)
    return log(2.0) - u * y - n * log1p(-u * u)


def tilt(y: float, n: float) -> float:
    """u = λb = (√(n²+y²) - n)/y, without cancellation."""
    return y / (math.sqrt(n * n + y * y) + n)


def laplace_sum_bound(n: float, failure: float) -> float:
    """The y at which Chernoff's bound on P(|Z| > y) equals `failure`.

    Its logarithm is concave in y with slope -u: from above, Newton's method falls to the root.
    """
    if n == 0:
        return 0.0
    target, y = log(failure), 1.0
    while laplace_sum_log_tail(y, n) > target:
        y *= 2.0
    while (lower := y + (laplace_sum_log_tail(y, n) - target) / tilt(y, n)) < y:
        y = lower
    return y


def gaussian_bound(failure: float) -> float:
    """The z with P(|Z| > z) = `failure` for a standard normal Z."""
    from scipy.special import ndtri

    return float(-ndtri(failure / 2.0))


def subgaussian_bound(failure: float) -> float:
    """The z at which Chernoff's bound 2e^{-z²/2} on P(|Z| > z) equals `failure`, if E e^{λZ} ≤ e^{λ²/2}."""
    return math.sqrt(2.0 * log(2.0 / failure))


class Bounds(NamedTuple):
    """On the noise of N(s,a,s'), of N(s,a) (a counter of its own, or the sum of a row) and of R(s,a)."""

    cell: float
    row: float
    reward: float


def bound_to_E(D: int, summed: bool, cell: float, row: float, reward: float) -> float:
    """E from bounds on the noise of N(s,a,s'), of N(s,a) and of R(s,a) that hold at once; a row has D cells.

    With a counter for N(s,a), `row` bounds its noise, and E = 4 × the largest of the three [Lem.5.4]. Without
    one, `row` = W bounds the noise of the sum of a row and Lemma 5.4 is proved again: if W ≤ E/4 the true
    counts are feasible for the LP, so an entry moves by at most 2 × `cell` and the row sum by at most E/4 + W ≤
    E/2; the shift of Eq.5 adds E/(2D) and E/2; so Ñ(s,a) lies in [N, N + E] and |Ñ(s,a,s') - N(s,a,s')| ≤ 2
    cell + E/(2D), which is at most E if E ≥ 4D/(2D-1) × cell. R̃ = R̂ + Ñ/2 is off by at most reward + E/2.

    Who reads the raw counts is off by at most E/4 in the first case. In the second a cell is off by less than
    E/2, a row by E/4 and R̂ + N̂/2 by reward + W/2 ≤ E/2 + E/8.
    """
    if not summed:
        return TO_ASSUMPTION * max(cell, row, reward)
    return max(TO_ASSUMPTION * row, 4.0 * D / (2.0 * D - 1.0) * cell, 2.0 * reward)


def log_hsat(problem: Problem) -> float:
    """log(HSAT/β), natural logarithm."""
    return log(problem.H * problem.S * problem.A * problem.T / problem.beta)
