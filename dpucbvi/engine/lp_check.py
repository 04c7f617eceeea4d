"""Checks the closed form: when a compiled run ends, cvxpy solves a sample of its LPs again.

Rows are taken at moments spread over the run (log-spaced): the extreme ones (lowest N̂(s,a), most negative
N̂(s,a,s'), largest gap between N̂(s,a) and Σ N̂(s,a,s') on either side, largest LP value) and as many at random.
"""

from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.errors import LpError
from dpucbvi.privacy.laplace import seed_stream
from dpucbvi.projection import CvxpyPostprocess
from dpucbvi.protocol import Floats, Ints

ROWS_A_MOMENT = 10
TOLERANCE = 1e-6


class LpSample(NamedTuple):
    """Rows (y, n) of N̂ with the x that the engine made of them; `filled[0]` of them so far."""

    moments: Ints
    y: Floats
    n: Floats
    x: Floats
    filled: Ints

    @staticmethod
    def empty(rows: int, S: int, K: int) -> "LpSample":
        """Room for `rows` LPs at moments among episodes 1..K-1, after which counts are released."""
        wanted = min(-(-rows // ROWS_A_MOMENT), K * K.bit_length()) if K > 1 else 0  # so many are all of them
        moments = np.unique(np.geomspace(1, max(K - 1, 1), wanted).round().astype(np.int64))
        rows = min(rows, ROWS_A_MOMENT * (K - 1))
        return LpSample(
            moments, np.zeros((rows, S)), np.zeros(rows), np.zeros((rows, S)), np.zeros(1, dtype=np.int64)
        )

    def take(self, episode: int, seed: int, N_hat_sa: Floats, N_hat_sas: Floats, x: Floats) -> None:
        """Keep rows of the counts released after this episode; N_hat_sas and x have the next state first."""
        S = N_hat_sas.shape[0]
        y, n, x = N_hat_sas.reshape(S, -1).T, N_hat_sa.reshape(-1), x.reshape(S, -1).T
        off = y.sum(axis=1) - n
        extreme = [
            n.argmin(),
            y.min(axis=1).argmin(),
            off.argmin(),
            off.argmax(),
            np.abs(x - y).max(axis=1).argmax(),
        ]
        rng = np.random.default_rng([*seed_stream(seed, "audit").generate_state(4), episode])
        rows = [*extreme, *rng.integers(len(n), size=ROWS_A_MOMENT - len(extreme))]
        for row in rows[: len(self.n) - self.filled[0]]:
            i = self.filled[0]
            self.y[i], self.n[i], self.x[i] = y[row], n[row], x[row]
            self.filled[0] += 1

    def check(self, E: float) -> dict[str, Any]:
        """Solve the sample by cvxpy; the largest differences, relative to the row's largest number.

        Raises LpError if the engine's x is infeasible or worse than the LP's optimum by more than 1e-6. Without
        cvxpy nothing is checked, and `lp_unchecked` says why.
        """
        rows = int(self.filled[0])
        if rows == 0:
            return {"lp_checked": 0}
        if find_spec("cvxpy") is None:
            return {"lp_checked": 0, "lp_unchecked": "cvxpy is not installed"}
        y, n, x, w = self.y[:rows], self.n[:rows], self.x[:rows], E / 4
        unit = np.maximum(np.maximum(np.abs(y).max(axis=1), np.abs(n)), max(w, 1.0))
        _, t = CvxpyPostprocess(canonical=False).solve(y, n, w)
        value = float((np.abs(np.abs(x - y).max(axis=1) - t) / unit).max())
        beyond_band = np.where(n < -w, x.sum(axis=1), np.abs(x.sum(axis=1) - n) - w)  # infeasible: x must be 0
        feasibility = float((np.maximum(np.maximum(beyond_band, -x.min(axis=1)), 0.0) / unit).max())
        if max(value, feasibility) > TOLERANCE:
            raise LpError(
                f"the engine's post-processing is not the LP's: optimal value off by {value:.1e}, "
                f"feasibility by {feasibility:.1e} (relative; at most {TOLERANCE:.0e} is accepted)"
            )
        return {"lp_checked": rows, "lp_value_error": value, "lp_feasibility_error": feasibility}
