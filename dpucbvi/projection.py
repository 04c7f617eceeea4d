"""The post-processing step of Section 5.1: noisy counts to counts that make P̃ a distribution.

For every (h,s,a), with n = N̂_h(s,a), y = {N̂_h(s,a,s')}_{s'} and w = E/4:

    min_x max_{s'} |x_{s'} - y_{s'}|   such that   x ≥ 0  and  |Σ_{s'} x_{s'} - n| ≤ w          [Eq.4]
    Ñ(s,a,s') = x_{s'} + E/(2S),   Ñ(s,a) = Σ_{s'} x_{s'} + E/2                                [Eq.5]
    min t  such that  |x_{s'} - y_{s'}| ≤ t,  x ≥ 0,  |Σ x - n| ≤ w                              [Eq.6]

The LP has many minimisers; we take the one nearest to y in the Euclidean norm [D6]. It is unique and has
a closed form.

Claim. Let F = {x ≥ 0, |Σx - n| ≤ w} be non-empty and x* = max(y - λ, 0) (entry by entry) with the λ of
least |λ| for which x* ∈ F. Then x* is the Euclidean projection of y on F and a minimiser of Eq.4.

Proof. s(λ) = Σ max(y - λ, 0) is continuous and falls from ∞ to 0, strictly where it is positive. So λ = 0
if |s(0) - n| ≤ w; λ > 0 with s(λ) = n + w if s(0) > n + w; λ < 0 with s(λ) = n - w > 0 if s(0) < n - w. These
are the KKT conditions of min ½‖x - y‖² over F (λ the multiplier of the active bound on the sum,
max(λ - y, 0) those of x ≥ 0), so x* is the projection. For the LP, x* moves an entry by at most |λ|, or
from below 0 to 0: max|x* - y| ≤ max(|λ|, max(-y)). No x ∈ F does better: put t = max|x - y|. First,
t ≥ max(-y) because x ≥ 0. Second, t ≥ |λ|: if t < λ then x ≥ max(y - t, 0), whose sum is
s(t) > s(λ) = n + w (for n + w = 0 too, where the least such λ is max y); if t < -λ then
0 ≤ x ≤ max(y + t, 0), whose sum is s(-t) < s(λ) = n - w. ∎

Feasibility. F is empty exactly when n + w < 0. Then x = 0, the point of x ≥ 0 whose sum is nearest to the
band; it is counted as a fallback [D7]. With the proven E this has probability at most β/3 over a whole run.
Raising n to max(n, -w) turns the empty F into {0}, so one formula serves all.

`clip` is Eq.4 without its band, w = ∞: x = max(y, 0), whatever n. It is there to see what the LP is for [D32].
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpucbvi.counts import row_sums
from dpucbvi.errors import InputError, LpError, extra
from dpucbvi.protocol import Floats, Postprocess, Postprocessed


def no_postprocess(N_hat_sa: Floats, N_hat_sas: Floats, E: float) -> Postprocessed:
    """The noisy counts as they are: for non-private runs and for algorithms that use raw counts."""
    return Postprocessed(N_hat_sa.copy(), N_hat_sas.copy(), 0)


def closed_form(N_hat_sa: Floats, N_hat_sas: Floats, E: float) -> Postprocessed:
    """[Eq.4] by the closed form above, row by row, then [Eq.5]."""
    return _projected(N_hat_sa, N_hat_sas, E, band(E, "closed_form"))


def clip(N_hat_sa: Floats, N_hat_sas: Floats, E: float) -> Postprocessed:
    """Negative cells cut to 0 in place of [Eq.4], then [Eq.5]."""
    return _projected(N_hat_sa, N_hat_sas, E, band(E, "clip"))


def band(E: float, postprocess: str) -> float:
    """w of Eq.4."""
    return math.inf if postprocess == "clip" else E / 4


def _projected(N_hat_sa: Floats, N_hat_sas: Floats, E: float, w: float) -> Postprocessed:
    S = N_hat_sas.shape[-1]
    x = np.zeros_like(N_hat_sas)
    for index in np.ndindex(N_hat_sa.shape):
        x[index] = project_row(N_hat_sas[index], float(N_hat_sa[index]), w)
    return shift(x, E, w, S, N_hat_sa)


def project_row(y: Floats, n: float, w: float) -> Floats:
    """x* = max(y - λ, 0) with the least |λ| for which |Σx* - n| ≤ w; 0 if there is none."""
    n = max(n, -w)
    total = 0.0
    for value in y:
        total += max(value, 0.0)
    if abs(total - n) <= w:
        return np.maximum(y, 0.0)
    target = n + w if total > n else n - w
    return np.maximum(y - threshold(y, target), 0.0)


def threshold(y: Floats, target: float) -> float:
    """The λ with Σ max(y - λ, 0) = target ≥ 0 (Michelot, 1986).

    If the entries in a set stay positive then λ = (their sum - target)/(their number). Start with all; an entry
    below that λ does not stay positive and is dropped, which raises λ; so none comes back, and when none is
    dropped λ is right.
    """
    value, active = -np.inf, len(y) + 1
    while True:
        total, count = 0.0, 0
        for entry in y:
            if entry >= value:
                total += entry
                count += 1
        if count >= active or count == 0:  # >, 0: by rounding, an entry at λ is back or all are below it
            return value
        value, active = (total - target) / count, count


def shift(x: Floats, E: float, w: float, S: int, N_hat_sa: Floats) -> Postprocessed:
    """[Eq.5] Ñ(s,a,s') = x + E/(2S), Ñ(s,a) = Σ x + E/2; counts the rows with N̂(s,a) < -w."""
    return Postprocessed(row_sums(x) + E / 2, x + E / (2 * S), int((N_hat_sa < -w).sum()))


MOST_EXCESS = 1e-6  # of the projection over the LP's optimum
LP_OPTIONS: dict[str, dict[str, float]] = {
    "HIGHS": {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    "CLARABEL": {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12},
    "SCIPY": {},
}
QP_OPTIONS = {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-10}  # 1e-12 is beyond its reach


class CvxpyPostprocess:
    """[Eq.6] through cvxpy: all LPs of an episode as one problem, parametrised once.

    The rows do not interact, so min Σ_rows t solves every row's LP exactly. A second problem, min ‖x - y‖²
    over the same set, picks the minimiser nearest to y [D6]; that it attains the LP's value is checked each
    time. `canonical = False` keeps whichever minimiser the LP solver returns.
    """

    def __init__(self, solver: str = "HIGHS", canonical: bool = True):
        if solver not in LP_OPTIONS:
            raise InputError(
                f"solver: {solver!r} is not one of {', '.join(LP_OPTIONS)}"
                " (others do not reach a feasibility of 1e-8 on batched LPs)"
            )
        with extra("cvxpy", "the post-processing by cvxpy"):
            import cvxpy  # noqa: F401  (slow to import, and only this class needs it)
        self.solver, self.canonical = solver, canonical
        self._built_for: tuple[int, int, bool] | None = None

    def __call__(self, N_hat_sa: Floats, N_hat_sas: Floats, E: float) -> Postprocessed:
        S = N_hat_sas.shape[-1]
        x, _ = self.solve(N_hat_sas.reshape(-1, S), N_hat_sa.reshape(-1), E / 4)
        return shift(x.reshape(N_hat_sas.shape), E, E / 4, S, N_hat_sa)

    def solve(self, y: Floats, n: Floats, w: float) -> tuple[Floats, Floats]:
        """Minimisers x[row, s'] and optimal values t[row] of Eq.6 for rows y[row, s'], n[row]."""
        rows, S = y.shape
        if self._built_for != (rows, S, w == 0.0):
            self._build(rows, S, w == 0.0)
        free = n > -w  # elsewhere x = 0 is the only choice: F is {0}, or empty and 0 its fallback
        unit = np.maximum(np.maximum(np.abs(y).max(axis=1), np.abs(n)), max(w, 1.0))  # relative to each row
        self._y.value = np.where(free[:, None], y, 0.0) / unit[:, None]
        self._n.value = np.where(free, n, 0.0) / unit
        self._w.value = w / unit
        self._lp.solve(solver=self.solver, **LP_OPTIONS[self.solver])
        x, t = _solution(self._x), _solution(self._t)
        if self.canonical:
            self._qp.solve(solver="CLARABEL", **QP_OPTIONS)
            x = _solution(self._x)
            excess = float((np.abs(x - self._y.value).max(axis=1) - t).max())
            if excess > MOST_EXCESS:
                raise LpError(f"the projection misses the LP's optimum by {excess:.1e}")
            as_it_is = (y >= 0.0).all(axis=1) & (np.abs(y.sum(axis=1) - n) <= w)  # then t = 0 and x = y
            x = np.where(as_it_is[:, None], self._y.value, x)
        x = np.where(free[:, None], np.maximum(x, 0.0), 0.0) * unit[:, None]
        return x, np.where(free, t * unit, np.abs(y).max(axis=1))

    def _build(self, rows: int, S: int, exact_sum: bool) -> None:
        import cvxpy as cp

        self._built_for = (rows, S, exact_sum)
        self._y, self._n = cp.Parameter((rows, S)), cp.Parameter(rows)
        self._w = cp.Parameter(rows, nonneg=True)
        self._x, self._t = cp.Variable((rows, S), nonneg=True), cp.Variable(rows)
        off = cp.sum(self._x, axis=1) - self._n
        near = off == 0 if exact_sum else cp.abs(off) <= self._w  # a band of width 0 has no interior
        move = cp.abs(self._x - self._y) <= cp.reshape(self._t, (rows, 1), order="C") @ np.ones((1, S))
        self._lp = cp.Problem(cp.Minimize(cp.sum(self._t)), [move, near])
        self._qp = cp.Problem(cp.Minimize(cp.sum_squares(self._x - self._y)), [near])


def _solution(variable: Any) -> Floats:
    if variable.value is None:
        raise LpError("the LP solver returned no solution")
    return np.asarray(variable.value)


# By name; cvxpy's is made anew for every run, for it keeps its problem from episode to episode.
POSTPROCESSES: dict[str, Callable[[], Postprocess]] = {
    "none": lambda: no_postprocess,
    "closed_form": lambda: closed_form,
    "clip": lambda: clip,
    "cvxpy": CvxpyPostprocess,
}
