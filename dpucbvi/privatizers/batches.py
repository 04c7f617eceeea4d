"""Batches: users in growing batches, each batch's counts released once, with fresh noise (JDP).

    a batch ends after e users,  e <- e + max(first, ⌊(growth - 1) e⌋)
    N̂ <- N̂ + (counts of the batch) + noise,   b_f = Δ_f/(share_f ε)   or   σ_f = Δ_f/(μ √share_f)

A user lies in one batch, so that nothing composes over time. Two things are read off what is public:

    the policy   within a batch it does not change, and a user who follows it visits pairs (s, π_h(s)) only: the
                 other cells are 0 whatever she does, and get no noise. (If the policy does change, as that of
                 Private-UCB-PO does without new counts, every policy of the batch is meant.)
    empty rows   a pair whose noisy batch total, the sum of its D cells, is below its own standard deviation
                 √D sd is left out of this batch: it holds little but noise. Post-processing.

Privacy. The releases before the user's batch do not depend on her data. Given them, the policy and with it the
cells that get noise are fixed; the batch's vector moves by at most Δ_f in family f if she is another; what
follows is post-processing of that release and other users' data. So the releases are ε-DP or μ-GDP (adaptive
parallel composition), and the actions of the others JDP by the billboard lemma.

No E of Assumption 3.1: within a batch the counts fall behind by a constant share of them, and a row that is
left out behind by a batch. `noise_of` gives the bound on the noise of what was released.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.counts import Counting, add_user, counters, counting
from dpucbvi.errors import InputError, check_flag, check_number, whole
from dpucbvi.privacy.certificate import Scales, check_delta
from dpucbvi.privacy.draws import fill
from dpucbvi.privatizers.arrays import PRIVATIZERS
from dpucbvi.privatizers.noisy_sums import NoisySums
from dpucbvi.protocol import Ints, Noise, Noisy, Problem, User

# --- the release ----------------------------------------------------------------------------------------------


MOST_BATCHES = 1_000_000


class FillingBatch(NamedTuple):
    """The batch that fills, and the sum of those released, whose variance every row has."""

    batch: np.ndarray
    total: np.ndarray
    shown: Ints  # 1 for the rows that a policy of this batch may visit
    variance: np.ndarray
    closed: Ints  # closed[0]: how many batches have ended
    ends: Ints
    source: Any
    noise: np.ndarray  # scratch
    counting: Counting
    cell_variance: float
    least: float  # of a batch's row, to be kept
    policy_cells: bool
    drop_empty: bool


def take(state: FillingBatch, t: int, user: User, noisy: Noisy) -> bool:
    add_user(state.counting, state.batch, user)
    if state.policy_cells:
        show(user.pi, state.counting.G, state.counting.A, state.shown)
    else:
        state.shown[:] = 1
    if not ended(t, state.ends, state.closed):
        return False
    close(state)
    noisy.counts[:] = state.total
    for row in range(state.variance.size):
        noisy.sd[row] = math.sqrt(state.variance[row])
    return True


def close(state: FillingBatch) -> None:
    """The batch with its noise goes into the total, row by row, and is emptied."""
    D, rows = state.counting.D, state.shown.size
    fill(state.source, state.noise)
    batch = state.batch[state.counting.first : state.counting.end]
    for c in range(batch.size):
        batch[c] += state.noise[c]
    for row in range(rows):
        if state.shown[row] and not (state.drop_empty and row_total(state.batch, row, rows, D) < state.least):
            for family in range(D + 2):  # N(s,a), N(s,a,s') for every s', R(s,a)
                state.total[family * rows + row] += state.batch[family * rows + row]
            state.variance[row] += state.cell_variance
    state.batch[:] = 0
    state.shown[:] = 0


def row_total(batch: np.ndarray, row: int, rows: int, D: int) -> float:
    """The sum of the batch's noisy cells."""
    total = 0.0
    for d in range(D):
        total += batch[(1 + d) * rows + row]
    return total


def ended(t: int, ends: Ints, closed: Ints) -> bool:
    """Whether user t is the last of a batch; closed[0] counts these."""
    if closed[0] == ends.size or t != ends[closed[0]]:
        return False
    closed[0] += 1
    return True


def show(pi: np.ndarray, G: int, A: int, shown: Ints) -> None:
    """Mark the rows (g, s, a) that a user who follows the policy may visit."""
    H, S = pi.shape[:2]
    for h in range(H):
        for s in range(S):
            row = (h % G) * S * A + s * A
            if pi.ndim == 2:  # known when compiled: the other branch is left out
                shown[row + pi[h, s]] = 1
            else:
                for a in range(A):
                    if pi[h, s, a] > 0.0:
                        shown[row + a] = 1


# --- the privatizer -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batches(NoisySums):
    """Noise once per batch of users: Laplace for a pure ε (`delta` = 0), or Gaussian for (ε, δ); for JDP.

    Parameters
    ----------
    epsilon : float
        The budget of a user, under the neighbours that `sensitivity` names.
    delta : float
        0 for Laplace noise and a pure ε; above 0 for Gaussian noise.
    sensitivity : str
        `paper`: noise for a user who is added or removed. `replace_one`: for one whose trajectory is replaced.
    families : str
        Which counters are released (`counts.FAMILIES`): `paper`, `tuned`, `symbols`, ...
    first : int
        The least number of users in a batch.
    growth : float
        Each batch multiplies the number of users so far by at least this.
    per_epsilon : bool
        The least batch has ⌈first/ε⌉ users, so that its noise is the same share of it at every ε.
    policy_cells : bool
        Noise goes only to the pairs (s, π_h(s)) of the policies shown; no user can visit others.
    drop_empty : bool
        Leave out a pair's batch if its noisy total is small.
    clip : int, optional
        For pooled counts and Gaussian noise: how many visits of a pair count per user. No E is proven then.
    confidence_scale : float
        Multiplies E; 1 in the paper. It changes the agent's bonus, not the privacy.
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
    >>> private = dp.certify(dp.Batches(epsilon=1), H=20, S=6, A=2, K=50_000)
    >>> private.replace_one.epsilon <= 1, private.delta
    (True, 0.0)
    """

    epsilon: float
    delta: float = 0.0
    sensitivity: str = "replace_one"
    families: str = "tuned"
    first: int = 150
    growth: float = 1.3
    per_epsilon: bool = False
    policy_cells: bool = True
    drop_empty: bool = True
    clip: int | None = None
    confidence_scale: float = 1.0

    take = staticmethod(take)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_delta(self.delta, pure=True)
        check_flag("policy_cells", self.policy_cells)
        check_flag("drop_empty", self.drop_empty)
        check_growth(self)

    def ends(self, problem: Problem) -> Ints:
        """After which users a batch ends."""
        return batch_ends(problem.K - 1, self.least_batch, self.growth)

    def releases(self, problem: Problem) -> int:
        return len(self.ends(problem))

    @property
    def least_batch(self) -> int:
        return math.ceil(self.first / self.epsilon) if self.per_epsilon else self.first

    def row_bound(self, scales: Scales, D: int, n: float, failure: float) -> float:
        return scales.M * self.law.sum_bound(D * n, failure)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        n = self.releases(problem)
        sd = self.unit_sd(problem, G) * math.sqrt(n)
        return super().noise_of(problem, G)._replace(terms=max(n, 1), sd=sd, proven=False)

    def state(self, problem: Problem, G: int, source: Any, grid: int | None = None) -> FillingBatch:
        shape, dtype = self.shape(problem, G), np.float64 if grid is None else np.int64
        n, rows = counters(*shape), math.prod(shape[:3])
        tally = counting(shape, problem.H, self.families, self.clip, grid)
        cell_variance = self.unit_sd(problem, G) ** 2
        return FillingBatch(
            np.zeros(n, dtype),
            np.zeros(n, dtype),
            np.zeros(rows, np.int64),
            np.zeros(rows),
            np.zeros(1, np.int64),
            self.ends(problem),
            source,
            np.zeros(tally.end - tally.first, dtype),
            tally,
            cell_variance,
            math.sqrt(shape[3] * cell_variance),
            self.policy_cells,
            self.drop_empty,
        )


def check_growth(privatizer: Any) -> None:
    """The settings that say how batches grow."""
    whole("first", privatizer.first, 1)
    check_number("growth", privatizer.growth, lambda growth: growth >= 1.0, "a number >= 1")


def batch_ends(users: int, first: int, growth: float, most: float = math.inf) -> Ints:
    """e <- e + max(first, ⌊min((growth - 1) e, most)⌋), as long as there are so many users."""
    ends, e = [], 0
    while (e := e + max(first, math.floor(min((growth - 1.0) * e, most, users)))) <= users:
        ends.append(e)
        if len(ends) > MOST_BATCHES:
            raise InputError(f"first: {first} makes more than {MOST_BATCHES:,} batches of {users:,} users")
    return np.array(ends, dtype=np.int64)


PRIVATIZERS.add("batches", Batches)
