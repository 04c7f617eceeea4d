"""The Privatizers: from a user's trajectory to the private counts that the next plan may read.

    trajectory --statistics--> σ --release--> N̂, R̂ --post-process--> Ñ, R̃        [Alg.1 L17]

A release turns the stream of users into noisy counts of three families, N_h(s,a), N_h(s,a,s'), R_h(s,a),
and a post-processing (projection.py) makes them the counts of Assumption 3.1.

    NonPrivate  the counts as they are
    Central     the Binary Mechanism on every counter, node noise Lap(3ΔL/ε)      [Sec.5.1, Lem.5.1]
    Local       every user adds Lap(3Δ/ε) to her own statistics, the server sums  [Sec.5.2, Lem.5.6]

Δ is the ℓ1 sensitivity of one family: H in the paper, where a user is added or removed; 2H where her
trajectory is replaced by another, as Definitions 2.2 and 2.3 have it (`sensitivity`, see
privacy/accountant.py). The 3 splits ε evenly over the families, L = ⌈log2 K⌉ over the levels of the tree.

`G` is the number of steps that are counted apart: H as in the paper, or 1 if counts are pooled over h, for
an MDP whose P and r do not depend on h. Pooling moves no mass: one family still changes by at most Δ.
"""

from typing import NamedTuple, Protocol

import numpy as np

from dpucbvi.binary_mechanism import BinaryMechanism, levels
from dpucbvi.confidence import FAMILIES, counters
from dpucbvi.mdp import Floats, Trajectory
from dpucbvi.noise import LaplaceStream
from dpucbvi.projection import Postprocess


class Counts(NamedTuple):
    """N(s,a), N(s,a,s') and R(s,a), each with the leading step axis of length G."""

    N_sa: Floats
    N_sas: Floats
    R: Floats

    @property
    def G(self) -> int:
        return self.N_sa.shape[0]


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


class Release(Protocol):
    """Takes users one by one and gives, after each, the noisy counts of all so far."""

    def release(self, sigma: Floats) -> Floats: ...


class NonPrivate:
    """The true counts."""

    def __init__(self, size: int):
        self.sum = np.zeros(size)

    def release(self, sigma: Floats) -> Floats:
        self.sum += sigma
        return self.sum.copy()


def central_scale(epsilon: float, sensitivity: int, K: int) -> float:
    """Node noise 3ΔL/ε: [Sec.5.1 (1)] with log K read as the tree's L = ⌈log2 K⌉ levels [D5]."""
    return FAMILIES * sensitivity * levels(K) / epsilon


def local_scale(epsilon: float, sensitivity: int) -> float:
    """User noise 3Δ/ε [Sec.5.2 (1)]."""
    return FAMILIES * sensitivity / epsilon


def central(size: int, K: int, scale: float, stream: LaplaceStream) -> BinaryMechanism:
    """The Central Privatizer's release: one tree per counter, all advanced together."""
    return BinaryMechanism(size, levels(K), scale, stream)


class LocalRandomizer:
    """The user's side of the Local Privatizer: sees one trajectory's statistics, keeps nothing."""

    def __init__(self, scale: float, stream: LaplaceStream):
        self.scale = scale
        self._stream = stream

    def perturb(self, sigma: Floats) -> Floats:
        """σ̃ = σ + Lap(3Δ/ε) in every coordinate [Sec.5.2 (1), (3)]."""
        return sigma + self.scale * self._stream.draw(len(sigma))


class LocalServer:
    """The server's side of the Local Privatizer: sums what the users send [Sec.5.2 (2), (3)]."""

    def __init__(self, size: int):
        self.sum = np.zeros(size)

    def receive(self, sigma_tilde: Floats) -> Floats:
        self.sum += sigma_tilde
        return self.sum.copy()


class Local:
    """Both sides: a user's statistics go to her randomizer, and only what it returns to the server."""

    def __init__(self, size: int, randomizer: LocalRandomizer):
        self._user, self._server = randomizer, LocalServer(size)

    def release(self, sigma: Floats) -> Floats:
        return self._server.receive(self._user.perturb(sigma))


class Privatizer:
    """A release and its post-processing: what line 17 of Algorithm 1 calls.

    `E` is the E_{ε,β} of Assumption 3.1. `fallbacks` counts the infeasible LPs so far (projection.py).
    """

    def __init__(self, release: Release, postprocess: Postprocess, E: float, G: int, S: int, A: int):
        self.E, self.G, self.S, self.A = E, G, S, A
        self.fallbacks = 0
        self.N_hat = zero_counts(G, S, A)
        self._release, self._postprocess = release, postprocess

    def update(self, trajectory: Trajectory) -> Counts:
        """[Alg.1 L17] Take the k-th user and return the private counts of episode k+1."""
        sigma = statistics(trajectory, self.G, self.S, self.A)
        self.N_hat = as_counts(self._release.release(sigma), self.G, self.S, self.A)
        N_tilde = self._postprocess(self.N_hat.N_sa, self.N_hat.N_sas, self.E)
        self.fallbacks += N_tilde.fallbacks
        return Counts(N_tilde.N_sa, N_tilde.N_sas, self.N_hat.R)
