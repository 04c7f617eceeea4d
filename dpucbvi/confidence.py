"""E_{ε,β}: how far the private counts may lie from the true ones (Assumption 3.1).

Lemma 5.4 turns a bound on the raw noise into Assumption 3.1: if every |N̂ - N| ≤ E/4 then it holds with
E. So E = 4 × (a bound on the raw noise that fails with probability at most β/3).

`proven`  the bound by Chernoff's method. A sum Z of n independent Lap(b) has E e^{λZ} = (1-λ²b²)^{-n}, so

              P(|Z| > x) ≤ 2 exp(-λx) (1-λ²b²)^{-n}   for every 0 < λ < 1/b,

          least at λb = u with u = (√(n²+y²) - n)/y, y = x/b. Central: every release has at most L noises;
          union over all counters and K-1 releases. Local: n = K-1 noises; e^{λZ_k} is a submartingale in k,
          so by Doob the same bound covers all k at once, and the union is over the counters only.

`order`   the printed order with its constant explicit (the paper prints none):
              Central  E = c (H/ε) log(HSAT/β)²        [Section 5.1 (2)]
              Local    E = c (H/ε) √(K log(HSAT/β))    [Section 5.2 (2)]
"""

import math
from typing import NamedTuple

from scipy.optimize import brentq

from dpucbvi.binary_mechanism import levels

FAMILIES = 3  # N_h(s,a), N_h(s,a,s'), R_h(s,a): each is given a third of the budget


class Problem(NamedTuple):
    """The sizes every bound depends on; T = KH."""

    H: int
    S: int
    A: int
    K: int
    beta: float

    @property
    def T(self) -> int:
        return self.K * self.H


def counters(G: int, S: int, A: int) -> int:
    """How many counters are kept: N(s,a), N(s,a,s') and R(s,a) for G steps (H, or 1 if pooled over h)."""
    return G * S * A * (S + 2)


def laplace_sum_log_tail(y: float, n: int) -> float:
    """ln of Chernoff's bound on P(|Z| > y), Z the sum of n independent Lap(1)."""
    if y <= 0.0:
        return 0.0
    u = y / (math.sqrt(n * n + y * y) + n)  # = (√(n²+y²) - n)/y without cancellation
    return math.log(2.0) - u * y - n * math.log1p(-u * u)


def laplace_sum_bound(n: int, failure: float) -> float:
    """The y at which Chernoff's bound on P(|Z| > y) equals `failure`."""
    if n == 0:
        return 0.0
    target = math.log(failure)
    high = 1.0
    while laplace_sum_log_tail(high, n) > target:
        high *= 2.0
    return brentq(lambda y: laplace_sum_log_tail(y, n) - target, 0.0, high, xtol=1e-12, rtol=1e-12)


def proven_central(problem: Problem, G: int, scale: float) -> float:
    """[Lem.5.1] E = 4 × the bound on all releases of all trees with node noise Lap(scale)."""
    events = counters(G, problem.S, problem.A) * max(problem.K - 1, 1)
    return 4.0 * scale * laplace_sum_bound(levels(problem.K), problem.beta / 3.0 / events)


def proven_local(problem: Problem, G: int, scale: float) -> float:
    """[Lem.5.6] E = 4 × the bound on all partial sums of K-1 users' noise Lap(scale)."""
    events = counters(G, problem.S, problem.A)
    return 4.0 * scale * laplace_sum_bound(problem.K - 1, problem.beta / 3.0 / events)


def order_central(problem: Problem, epsilon: float, constant: float) -> float:
    """[Sec.5.1 (2)] E = c (H/ε) log(HSAT/β)²."""
    return constant * problem.H / epsilon * _log_hsat(problem) ** 2


def order_local(problem: Problem, epsilon: float, constant: float) -> float:
    """[Sec.5.2 (2)] E = c (H/ε) √(K log(HSAT/β))."""
    return constant * problem.H / epsilon * math.sqrt(problem.K * _log_hsat(problem))


def _log_hsat(problem: Problem) -> float:
    return math.log(problem.H * problem.S * problem.A * problem.T / problem.beta)
