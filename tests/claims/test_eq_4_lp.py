"""Eq.4 (and Eq.6, its LP): closed form, cvxpy, HiGHS through scipy and brute force agree on the optimum.

    min_x max_s |x_s - y_s|   such that   x ≥ 0,  |Σx - n| ≤ w

`y` are the N̂(s,a,s') of one (h,s,a), `n` is N̂(s,a), `w` is E/4.
"""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from dpucbvi import InputError
from dpucbvi.errors import LpError
from dpucbvi.projection import CvxpyPostprocess, closed_form, project_row, threshold

ROWS = 150


def rows(S, w, seed):
    """Random rows of every kind, the awkward ones included; the kinds take turns."""
    rng = np.random.default_rng([S, seed])
    y = rng.normal(0, 100, size=(ROWS, S))
    kind = np.arange(ROWS) % 10
    y[kind == 1] = -np.abs(y[kind == 1])  # all negative
    y[kind == 2] = np.abs(y[kind == 2])
    y[kind == 3] = np.round(y[kind == 3] / 50) * 50  # ties
    y[kind == 4] = 0.0
    y[kind == 5] *= 1e4  # large
    y[kind == 6] = np.round(y[kind == 6], 1)
    n = np.maximum(y, 0).sum(axis=1) + rng.normal(0, 1, ROWS) * rng.choice([1, 50, 500], ROWS)
    n[kind == 7] = -w  # F = {0}
    n[kind == 8] = -w - rng.exponential(30, (kind == 8).sum())  # infeasible
    n[kind == 9] = rng.normal(0, 300, (kind == 9).sum())
    touching = kind == 6  # λ exactly at an entry: the sum's bound is met where an entry turns 0
    lam = y[touching, 0]
    n[touching] = np.maximum(y[touching] - lam[:, None], 0).sum(axis=1) + np.where(lam > 0, -w, w)
    return y, n


INSTANCES = {
    f"S={S} w={w:g}": (*rows(S, w, i), w)
    for i, (S, w) in enumerate(product((1, 2, 3, 6, 12), (0.0, 1.0, 20.0, 1e5)))
}
every_instance = pytest.mark.parametrize(("y", "n", "w"), INSTANCES.values(), ids=INSTANCES.keys())


def objective(x, y):
    return np.abs(x - y).max(axis=-1)


def highs(y, n, w):
    """Optimal value of Eq.6 by scipy's linprog: variables (x, t)."""
    S = len(y)
    eye, ones = np.eye(S), np.ones((S, 1))
    A = np.block([[eye, -ones], [-eye, -ones]])
    total = np.append(np.ones(S), 0.0)
    A = np.vstack([A, total, -total])
    b = np.concatenate([y, -y, [n + w, w - n]])
    done = linprog(np.append(np.zeros(S), 1.0), A_ub=A, b_ub=b, bounds=[(0, None)] * S + [(None, None)])
    return done.fun if done.status == 0 else np.inf if done.status == 2 else pytest.fail(done.message)


def unit(y, n, w):
    """What errors of rows are measured against."""
    return max(1.0, np.abs(y).max(), np.abs(n).max(), w)


def projected(y, n, w):
    """The closed form, row by row."""
    return np.array([project_row(y[row], float(n[row]), w) for row in range(len(n))])


def check_solved(postprocess, y, n, w):
    """All rows in one problem: values and counts to 1e-6 of the batch's largest number."""
    x, t = postprocess.solve(y, n, w)
    exact, tolerance = projected(y, n, w), 1e-6 * unit(y, n, w)
    assert np.abs(t - objective(exact, y)).max() <= tolerance
    assert np.abs(x - exact).max() <= tolerance


@every_instance
def test_the_closed_form_is_feasible_and_optimal(y, n, w):
    """Against HiGHS row by row, 3,000 in all: the same value to 1e-7 (the solver's), feasible to 1e-9."""
    for row in range(ROWS):
        x = project_row(y[row], float(n[row]), w)
        tolerance = 1e-9 * unit(y[row], n[row], w)
        value = highs(y[row], n[row], w)
        assert x.min() >= 0
        if n[row] < -w:
            assert value == np.inf and not x.any()  # infeasible: the fallback is 0
        else:
            assert abs(x.sum() - n[row]) <= w + tolerance
            assert objective(x, y[row]) == pytest.approx(value, abs=100 * tolerance)


@every_instance
def test_the_closed_form_is_the_euclidean_projection(y, n, w):
    """By the variational inequality: (y - x*)·(x - x*) ≤ 0 for all x in F.

    A linear function on F has its maximum where one coordinate holds the whole sum, the least or the greatest.
    """
    for row in np.flatnonzero(n >= -w):
        x = project_row(y[row], float(n[row]), w)
        c = y[row] - x
        best = max(total * c.max() for total in (max(n[row] - w, 0.0), n[row] + w))
        assert best - c @ x <= 1e-9 * unit(y[row], n[row], w) ** 2


def lower_bound(y, n, w):
    """Eq.4's optimal value by bisection on t: is there an x in [max(y-t, 0), y+t] with its sum in the band?"""
    low, high = max(0.0, -y.min()), np.abs(y).sum() + abs(n) + w
    for _ in range(200):
        t = (low + high) / 2
        least, most = np.maximum(y - t, 0).sum(), (y + t).sum()
        if least <= n + w and most >= n - w:
            high = t
        else:
            low = t
    return high


@every_instance
def test_the_closed_form_is_optimal_to_rounding(y, n, w):
    """Against bisection on t, which needs no solver: 1e-9 relative."""
    for row in np.flatnonzero(n >= -w):
        x = project_row(y[row], float(n[row]), w)
        tolerance = 1e-9 * unit(y[row], n[row], w)
        assert objective(x, y[row]) == pytest.approx(lower_bound(y[row], n[row], w), abs=tolerance)


@every_instance
def test_canonical_cvxpy_reaches_the_same_value_and_the_same_counts(y, n, w):
    check_solved(CvxpyPostprocess(), y, n, w)


@pytest.mark.parametrize("solver", ["HIGHS", "CLARABEL", "SCIPY"])
def test_every_accepted_solver_reaches_the_value(solver):
    y, n, w = INSTANCES["S=6 w=20"]
    for canonical in (False, True):
        x, t = CvxpyPostprocess(solver, canonical).solve(y, n, w)
        exact, tolerance = projected(y, n, w), 1e-6 * unit(y, n, w)
        assert np.abs(t - objective(exact, y)).max() <= tolerance
        assert np.abs(objective(x, y) - objective(exact, y)).max() <= tolerance
        assert np.abs(np.abs(x.sum(axis=1) - n)[n >= -w]).max() <= w + 10 * tolerance


@pytest.mark.parametrize(("S", "E"), [(1, 8.0), (3, 0.0), (3, 8.0), (3, 4e3), (3, 4e5)])
def test_the_whole_postprocess_agrees(S, E):
    """closed_form and CvxpyPostprocess on arrays with axes (h, s, a), Eq.5 and the fallback count included."""
    rng = np.random.default_rng(S)
    N_hat_sas = rng.normal(0, 60, size=(2, 3, 2, S))
    N_hat_sa = N_hat_sas.sum(axis=-1) + rng.normal(0, 30, size=(2, 3, 2))
    N_hat_sa[0, 0, 0], N_hat_sa[1, 1, 1], N_hat_sa[1, 2, 0] = -E / 4, -E / 4 - 1, -E / 4 - 1e-9 * max(E, 1)
    N_hat_sa[N_hat_sa < -E / 4 - 2] = 5.0
    exact, solved = closed_form(N_hat_sa, N_hat_sas, E), CvxpyPostprocess()(N_hat_sa, N_hat_sas, E)
    tolerance = 1e-6 * unit(N_hat_sas, N_hat_sa, E)
    assert exact.fallbacks == solved.fallbacks == int((N_hat_sa < -E / 4).sum()) >= 2
    assert np.abs(exact.N_sa - solved.N_sa).max() <= S * tolerance
    assert np.abs(exact.N_sas - solved.N_sas).max() <= tolerance
    for post in (exact, solved):  # x = 0 in the fallback, and where n = -w leaves only 0
        for index in ((0, 0, 0), (1, 1, 1), (1, 2, 0)):
            assert post.N_sa[index] == pytest.approx(E / 2, abs=1e-9)
            assert post.N_sas[index] == pytest.approx(np.full(S, E / (2 * S)), abs=1e-9)


@pytest.mark.filterwarnings("error:Solution may be inaccurate")
@pytest.mark.parametrize("solver", ["HIGHS", "CLARABEL", "SCIPY"])
@pytest.mark.parametrize("ratio", [1, 50, 1500, 1e5])
@pytest.mark.parametrize(("batch", "S"), [(8, 2), (240, 6)])
def test_cvxpy_when_the_band_is_wider_than_the_counts(batch, S, ratio, solver):
    """Noise of scale 1 and E/4 = ratio: 50 as Central has it, 1,500 as in the first episodes of Local.

    A solver asked for more than it can reach stalls far from the optimum, and only on some rows: 12 draws each.
    """
    postprocess = CvxpyPostprocess(solver)
    for seed in range(12 if batch == 8 else 2):
        rng = np.random.default_rng([seed, batch])
        y = rng.laplace(0, 1.0, size=(batch, S))
        n = y.sum(axis=1) + rng.laplace(0, 1.0, size=batch)
        check_solved(postprocess, y, n, float(ratio))


def test_the_lp_has_several_minimisers():
    """N̂ = (30, -4, 12, -7, 5), total 38, E/4 = 20: the optimum is 7, and a solver may return another point.

    With y's negative entries at 0 the sum is 47 ≤ 58, so λ = 0: the nearest minimiser is (30, 0, 12, 0, 5).
    """
    y, n, w = np.array([30.0, -4, 12, -7, 5]), np.array([38.0]), 20.0
    nearest = project_row(y, 38.0, w)
    assert nearest.tolist() == [30, 0, 12, 0, 5]
    x, t = CvxpyPostprocess(canonical=False).solve(y[None], n, w)
    assert t[0] == pytest.approx(7.0, abs=1e-7) and objective(x[0], y) == pytest.approx(7.0, abs=1e-7)
    assert x[0].min() >= 0 and abs(x[0].sum() - 38) <= w + 1e-7
    assert np.abs(x[0] - nearest).max() > 1.0  # another minimiser
    canonical, _ = CvxpyPostprocess(canonical=True).solve(y[None], n, w)
    assert canonical[0] == pytest.approx(nearest, abs=1e-6)


def test_a_problem_is_built_once_and_again_for_another_shape():
    solver = CvxpyPostprocess()
    rng = np.random.default_rng(1)
    seen = []
    for rows_, S, w in [(4, 3, 2.0), (4, 3, 5.0), (4, 3, 0.0), (2, 3, 0.0), (4, 3, 2.0)]:
        y = rng.normal(0, 10, (rows_, S))
        n = rng.normal(15, 3, rows_)
        x, _ = solver.solve(y, n, w)
        seen.append(id(solver._lp))
        assert x == pytest.approx(projected(y, n, w), abs=1e-5)
    assert seen[0] == seen[1]
    assert seen[2] != seen[1]


@pytest.mark.parametrize("solver", ["OSQP", "GUROBI", "highs", ""])
def test_a_solver_that_is_not_precise_enough_is_refused(solver):
    with pytest.raises(InputError, match=r"^solver: .* is not one of HIGHS, CLARABEL, SCIPY"):
        CvxpyPostprocess(solver)


def test_a_wrong_projection_is_noticed(monkeypatch):
    """Control of the run-time check: if the second problem misses the LP's optimum, the class says so."""
    solver = CvxpyPostprocess()
    y, n = np.array([[30.0, -4, 12]]), np.array([100.0])
    solver.solve(y, n, 5.0)
    monkeypatch.setattr(solver._qp, "solve", lambda **_: solver._x.save_value(np.array([[5.0, 0.0, 0.0]])))
    with pytest.raises(LpError, match="misses the LP's optimum"):
        solver.solve(y, n, 5.0)


def test_brute_force_on_a_grid():
    """S = 2, y and n whole, w in halves: λ is a multiple of 1/4, so a grid of step 1/4 holds every optimum."""
    axis = np.arange(0, 25) / 4
    grid = np.array(list(product(axis, axis)))
    for y in product(range(-2, 4), repeat=2):
        for n, w in product(range(-3, 4), (0, 0.5, 1, 2, 3)):
            feasible = grid[np.abs(grid.sum(axis=1) - n) <= w]
            x = project_row(np.array(y, dtype=float), float(n), float(w))
            if n < -w:
                assert len(feasible) == 0 and not x.any()
                continue
            assert x.min() >= 0 and abs(x.sum() - n) <= w
            assert objective(x, np.array(y)) == objective(feasible, np.array(y)).min()
            distances = ((feasible - y) ** 2).sum(axis=1)
            assert ((x - y) ** 2).sum() == distances.min()
            assert np.array_equal(x, feasible[distances.argmin()])


@pytest.mark.parametrize("S", [2, 3, 6])
def test_threshold_ends_when_an_entry_lies_at_it(S):
    """λ equal to an entry, up to rounding: an entry there may be in or out, but the search must end.

    Without a rule for it, one such row in about 15 goes on for ever.
    """
    rng = np.random.default_rng(S)
    for _ in range(2000):
        y = np.round(rng.normal(0, 100, S), 1)
        lam = float(rng.choice(y))
        target = float(np.maximum(y - lam, 0).sum())
        found = threshold(y, target)
        assert np.maximum(y - found, 0).sum() == pytest.approx(target, abs=1e-10)
