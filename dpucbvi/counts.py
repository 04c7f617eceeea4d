"""From a user's trajectory to the private counts that the next plan may read.

    trajectory --statistics--> σ --release--> N̂, R̂ --post-process--> Ñ, R̃        [Alg.1 L17]

A release (privatizers/) turns the stream of users into noisy counts of three families, N_h(s,a), N_h(s,a,s'),
R_h(s,a), and a post-processing (projection.py) makes them the counts of Assumption 3.1.

`G` is the number of steps that are counted apart: H as in the paper, or 1 if counts are pooled over h, for
an MDP whose P and r do not depend on h.
"""

import numpy as np

from dpucbvi.mdp import Trajectory
from dpucbvi.protocol import Counts, Floats, Postprocess, Release


def counters(G: int, S: int, A: int) -> int:
    """How many counters are kept: N(s,a), N(s,a,s') and R(s,a) for G steps."""
    return G * S * A * (S + 2)


def zero_counts(G: int, S: int, A: int) -> Counts:
    return as_counts(np.zeros(counters(G, S, A)), G, S, A)


def as_counts(flat: Floats, G: int, S: int, A: int) -> Counts:
    """The three families as views of one vector: N(s,a), then N(s,a,s') for each s' in turn, then R(s,a).

    With s' outermost the compiled engine can treat all (h,s,a) of one s' side by side.
    """
    n = G * S * A
    N_sa, N_sas, R = np.split(flat, [n, n + n * S])
    by_next_state = N_sas.reshape(S, G, S, A)
    return Counts(N_sa.reshape(G, S, A), np.moveaxis(by_next_state, 0, -1), R.reshape(G, S, A))


def statistics(trajectory: Trajectory, G: int, S: int, A: int) -> Floats:
    """σ: one user's contribution to every counter, as one vector in the order of `as_counts`."""
    flat = np.zeros(counters(G, S, A))
    counts = as_counts(flat, G, S, A)
    for h, (s, a, r) in enumerate(zip(trajectory.s, trajectory.a, trajectory.r, strict=False)):
        g = h % G
        counts.N_sa[g, s, a] += 1.0
        counts.N_sas[g, s, a, trajectory.s[h + 1]] += 1.0
        counts.R[g, s, a] += r
    return flat


class PrivateCounts:
    """A release and its post-processing at work: what line 17 of Algorithm 1 calls the Privatizer.

    `counts` are the private counts of the coming episode, `N_hat` the noisy ones behind them, `fallbacks` the
    number of infeasible LPs so far (projection.py).
    """

    def __init__(self, release: Release, postprocess: Postprocess, E: float, G: int, S: int, A: int):
        self.E, self.G, self.S, self.A = E, G, S, A
        self.fallbacks = 0
        self.counts = self.N_hat = zero_counts(G, S, A)
        self._release, self._postprocess = release, postprocess

    def update(self, trajectory: Trajectory) -> Counts:
        """[Alg.1 L17] Take the k-th user and return the private counts of episode k+1."""
        sigma = statistics(trajectory, self.G, self.S, self.A)
        self.N_hat = as_counts(self._release.release(sigma), self.G, self.S, self.A)
        N_tilde = self._postprocess(self.N_hat.N_sa, self.N_hat.N_sas, self.E)
        self.fallbacks += N_tilde.fallbacks
        self.counts = Counts(N_tilde.N_sa, N_tilde.N_sas, self.N_hat.R)
        return self.counts
