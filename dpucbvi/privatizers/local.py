"""Local, the Privatizer of Section 5.2: every user perturbs her own statistics (local differential privacy).

    b = 3Δ/ε          a user adds Lap(b) to each of her statistics, the server sums       [Sec.5.2 (1)]
    ε = 3 · Δ / b     families × ℓ1 change, for each user by herself                      [Lem.5.6]

E bounds all partial sums of K-1 users' noise at once: with n = K-1 noises e^{λZ_k} is a submartingale in k, so
by Doob the bound on the last sum covers all k, and the union is over the counters only. The order that the
paper prints for it is c (H/ε) √(K log(HSAT/β)), without the constant c.

The release stands here twice, as in central.py: `BothSides` as the paper has it, and as arrays.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.confidence import log_hsat
from dpucbvi.counts import FAMILIES, Counting, add_user, counters, counting, statistics
from dpucbvi.mechanisms.binary import Stream
from dpucbvi.privacy.draws import fill, snapped
from dpucbvi.privacy.laplace import LaplaceStream
from dpucbvi.privatizers.arrays import PRIVATIZERS
from dpucbvi.privatizers.noisy_sums import PrintedOrder, by_counter
from dpucbvi.protocol import Floats, Noise, Noisy, Problem, Release, Shape, User

# --- as arrays ------------------------------------------------------------------------------------------------


class SentSums(NamedTuple):
    """The sum of what the users sent."""

    sum: np.ndarray
    source: Any
    sent: np.ndarray  # scratch
    counting: Counting
    unit_sd: float


def take(state: SentSums, t: int, user: User, noisy: Noisy) -> bool:
    """The user perturbs every statistic, the server adds [Sec.5.2 (1)-(3)]."""
    first, end = state.counting.first, state.counting.end
    fill(state.source, state.sent[first:end])
    add_user(state.counting, state.sent, user)
    sent, sums, N_hat = state.sent[first:end], state.sum[first:end], noisy.counts[first:end]
    for c in range(N_hat.size):
        sums[c] += sent[c]
        N_hat[c] = sums[c]
    noisy.sd[:] = state.unit_sd * math.sqrt(t)
    return True


# --- as the paper has it --------------------------------------------------------------------------------------


def order_local(problem: Problem, epsilon: float, constant: float) -> float:
    """[Sec.5.2 (2)] E = c (H/ε) √(K log(HSAT/β))."""
    return constant * problem.H / epsilon * math.sqrt(problem.K * log_hsat(problem))


@dataclass(frozen=True)
class Local(PrintedOrder):
    """The Local Privatizer of Section 5.2, for LDP: every user adds Laplace noise to her own statistics.

    Parameters
    ----------
    epsilon : float
        The budget of a user, under the neighbours that `sensitivity` names.
    sensitivity : str
        `paper`: noise for a user who is added or removed. `replace_one`: for one whose trajectory is replaced.
    families : str
        Which counters are released (`counts.FAMILIES`): `paper`, `tuned`, `symbols`, ...
    confidence_scale : float
        Multiplies E; 1 in the paper. It changes the agent's bonus, not the privacy.
    printed_constant : float, optional
        Use the printed order of E with this constant instead of the proven E.
    noise : str
        `simulation`: seeded floating point, which protects nobody. `exact`: integers for publication.
    words : type
        The source of random words for exact noise: the operating system, except in tests.

    Raises
    ------
    InputError
        If a setting is out of range, or settings do not fit together.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> private = dp.certify(dp.Local(epsilon=1), H=20, S=6, A=2, K=50_000)
    >>> private.model, private.add_remove.epsilon, private.replace_one.epsilon
    ('LDP', 1.0, 2.0)
    """

    epsilon: float
    sensitivity: str = "paper"
    families: str = "paper"
    confidence_scale: float = 1.0
    printed_constant: float | None = None

    model = "LDP"
    take = staticmethod(take)  # the same on arrays; `as_printed` is the paper's text
    order = staticmethod(order_local)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        return super().noise_of(problem, G)._replace(terms=problem.K)

    def events(self, problem: Problem) -> int:
        """One bound covers all partial sums (Doob)."""
        return 1

    def state(self, problem: Problem, G: int, source: Any, grid: int | None = None) -> SentSums:
        shape, dtype = self.shape(problem, G), np.float64 if grid is None else np.int64
        tally = counting(shape, problem.H, self.families, self.clip, grid)
        n, unit_sd = counters(*shape), self.unit_sd(problem, G)
        return SentSums(np.zeros(n, dtype), source, np.zeros(n, dtype), tally, unit_sd)

    def as_printed(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Release:
        shape = self.shape(problem, G)
        user = LocalRandomizer(by_counter(self.scales(problem, G), self.families, *shape), LaplaceStream(seed))
        return BothSides(shape, user, self.families, self.unit_sd(problem, G))


class LocalRandomizer:
    """The user's side: sees one trajectory's statistics, keeps nothing."""

    def __init__(self, scale: float | Floats, stream: Stream):
        self.scale = scale
        self._stream = stream

    def perturb(self, sigma: Floats) -> Floats:
        """σ̃ = σ + Lap(3Δ/ε) in every coordinate [Sec.5.2 (1), (3)]."""
        return sigma + snapped(self.scale * self._stream.draw(len(sigma)))


class BothSides:
    """A user's statistics go to her randomizer; the server sums what it returns [Sec.5.2 (2), (3)]."""

    def __init__(self, shape: Shape, randomizer: LocalRandomizer, families: str, unit_sd: float):
        self._shape, self._families, self._unit_sd = shape, FAMILIES[families], unit_sd
        self._sent = self._families.released(*shape)
        self._user, self._users, self.sum = randomizer, 0, np.zeros(counters(*shape))

    def release(self, user: User) -> Floats:
        G, S, A, D = self._shape
        sigma = statistics(user, G, S, A, self._families, D=D)
        self.sum[self._sent] += self._user.perturb(sigma[self._sent])
        self._users += 1
        return self.sum.copy()

    @property
    def sd(self) -> Floats:
        return np.full(self._shape[:3], self._unit_sd * math.sqrt(self._users))


PRIVATIZERS.add("local", Local)
