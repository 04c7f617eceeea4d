"""E_{ε,β}: how far the private counts may lie from the true ones (Assumption 3.1).

Lemma 5.4 turns a bound on the raw noise into Assumption 3.1: if every |N̂ - N| ≤ E/4 then it holds with
E. So E = 4 × (a bound on the raw noise that fails with probability at most β/3).

`proven`   the bound by Chernoff's method. A sum Z of n independent Lap(b) has E e^{λZ} = (1-λ²b²)^{-n}, so

               P(|Z| > x) ≤ 2 exp(-λx) (1-λ²b²)^{-n}   for every 0 < λ < 1/b,

           least at λb = u with u = (√(n²+y²) - n)/y, y = x/b. Each privatizer says how many noises a release
           has and over how many events the union goes (privatizers/central.py, local.py).

`printed`  the printed order with its constant explicit (the paper prints none), in the same two files.
"""

import math

from dpucbvi.protocol import Problem

TO_ASSUMPTION = 4.0  # E over the bound on the raw noise [Lem.5.4]
SHARE = 3.0  # of β: Assumption 3.1 fails with probability at most β/3


def laplace_sum_log_tail(y: float, n: int) -> float:
    """ln of Chernoff's bound on P(|Z| > y), Z the sum of n independent Lap(1)."""
    if y <= 0.0:
        return 0.0
    u = y / (math.sqrt(n * n + y * y) + n)  # = (√(n²+y²) - n)/y without cancellation
    return math.log(2.0) - u * y - n * math.log1p(-u * u)


def laplace_sum_bound(n: int, failure: float) -> float:
    """The y at which Chernoff's bound on P(|Z| > y) equals `failure`."""
    from scipy.optimize import brentq  # slow to import: `import dpucbvi` and --help do without

    if n == 0:
        return 0.0
    target = math.log(failure)
    high = 1.0
    while laplace_sum_log_tail(high, n) > target:
        high *= 2.0
    return brentq(lambda y: laplace_sum_log_tail(y, n) - target, 0.0, high, xtol=1e-12, rtol=1e-12)


def proven_E(problem: Problem, scale: float, terms: int, events: int) -> float:
    """E = 4 × the bound on `events` sums of `terms` noises Lap(scale), all at once with probability 1 - β/3."""
    return TO_ASSUMPTION * scale * laplace_sum_bound(terms, problem.beta / SHARE / events)


def log_hsat(problem: Problem) -> float:
    """log(HSAT/β), natural logarithm."""
    return math.log(problem.H * problem.S * problem.A * problem.T / problem.beta)
