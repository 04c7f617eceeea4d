"""From a user's trajectory to the private counts that the next plan may read.

    trajectory --sanitised, statistics--> σ --release--> N̂, R̂ --zero, sum, LP, shift--> Ñ, R̃        [Alg.1 L17]

Nothing is counted of what a user sent before it is `sanitised`: how far one user can move the counters
(privacy/sensitivity.py) holds for whatever she sends. A release (privatizers/) turns the stream of users into
noisy counts, and a post-processing (projection.py) makes them the counts of Assumption 3.1.

`G` is the number of steps that are counted apart: H as in the paper, or 1 if counts are pooled over h, for
an MDP whose P and r do not depend on h.

Which counters are released is the privatizer's choice (`FAMILIES`):

    paper   N_h(s,a), N_h(s,a,s') and R_h(s,a), a third of the budget each
    tuned   N_h(s,a,s') with three quarters of the budget and R_h(s,a) with one; N̂_h(s,a) is the sum of
            N̂_h(s,a,s') over s'; R sums r - ½ instead of r, which halves its sensitivity, and r̃ = R̃/Ñ is put
            right by R̃ = R̂ + Ñ/2 [D29]

`D` is how many next states of a pair have a counter: all S, or those that a known support has (support.py).
"""

from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.mdp import Trajectory
from dpucbvi.protocol import Counts, Floats, Ints, Postprocess, Release, Shape, User
from dpucbvi.support import Support

CENTRE = 0.5


class Families(NamedTuple):
    """The share of the budget that N(s,a), N(s,a,s') and R(s,a) have, and whether R is centred."""

    N: Fraction
    M: Fraction  # of N(s,a,s')
    R: Fraction
    centred: bool

    @property
    def summed(self) -> bool:
        """N(s,a) is not released: it is the sum of N(s,a,s')."""
        return self.N == 0

    def offset(self, G: int, S: int, A: int, D: int | None = None) -> int:
        """Where the released counters begin in the vector of all."""
        return G * S * A if self.summed else 0


FAMILIES = {
    "paper": Families(Fraction(1, 3), Fraction(1, 3), Fraction(1, 3), centred=False),
    "tuned": Families(Fraction(0), Fraction(3, 4), Fraction(1, 4), centred=True),
}


def counters(G: int, S: int, A: int, D: int | None = None) -> int:
    """How many counters are kept: N(s,a), N(s,a,s') and R(s,a) for G steps."""
    return G * S * A * ((S if D is None else D) + 2)


def zero_counts(G: int, S: int, A: int) -> Counts:
    return as_counts(np.zeros(counters(G, S, A)), G, S, A)


def as_counts(flat: np.ndarray, G: int, S: int, A: int, D: int | None = None) -> Counts:
    """The three families as views of one vector: N(s,a), then N(s,a,s') for each s' in turn, then R(s,a).

    With s' outermost the compiled engine can treat all (h,s,a) of one s' side by side.
    """
    n, D = G * S * A, S if D is None else D
    N_sa, N_sas, R = np.split(flat, [n, n + n * D])
    by_next_state = N_sas.reshape(D, G, S, A)
    return Counts(N_sa.reshape(G, S, A), np.moveaxis(by_next_state, 0, -1), R.reshape(G, S, A))


# --- what a user sent -----------------------------------------------------------------------------------------


def sanitised(s: Any, a: Any, r: Any, H: int, S: int, A: int) -> Trajectory:
    """What can be counted of what a user sent: at most H steps, indices in range, rewards cut to [0, 1].

    A trajectory of fewer than H steps has those that it has. One that cannot be read has none.
    """
    try:
        states, actions = _indices(s, H + 1, S), _indices(a, H, A)
        n = min(len(states) - 1, len(actions), len(r))
        if n < 1:
            return NO_STEPS
        rewards = np.array([_reward(r[h]) for h in range(n)])
        return Trajectory(states[: n + 1], actions[:n], rewards)
    except Exception:  # what is sent can be wrong in more ways than can be listed
        return NO_STEPS


NO_STEPS = Trajectory(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))


def _indices(sent: Any, most: int, below: int) -> Ints:
    """The first `most` integers of what was sent; ValueError if one is not an integer in range."""
    if not isinstance(sent, list | tuple | np.ndarray):
        raise ValueError
    found = np.asarray(sent[:most])
    if found.ndim != 1 or found.dtype.kind not in "iu" or not ((found >= 0) & (found < below)).all():
        raise ValueError
    if not isinstance(sent, np.ndarray) and any(isinstance(one, bool | np.bool_) for one in sent[:most]):
        raise ValueError  # numpy reads [True, 2] as integers
    return found.astype(np.int64)


def _reward(sent: Any) -> float:
    """A number in [0, 1]: what is no number, and NaN, is 0."""
    number: Any = sent if isinstance(sent, Real | np.bool_) else 0
    if number >= 1:
        return 1.0
    return float(number) if number > 0 else 0.0  # nothing is above NaN or below it


# --- what is counted of it ------------------------------------------------------------------------------------


def statistics(
    user: Trajectory | User,
    G: int,
    S: int,
    A: int,
    families: Families = FAMILIES["paper"],
    clip: int | None = None,
    D: int | None = None,
) -> Floats:
    """σ: one user's contribution to every counter, as one vector in the order of `as_counts`.

    Counters that are not released stay 0. With `clip`, only the first so many visits of a pair count. With `D`,
    N(s,a,s') has D counters, of which the user says where each of her steps belongs.
    """
    place = user.s[1:] if D is None or isinstance(user, Trajectory) else user.place
    flat = np.zeros(counters(G, S, A, D))
    counts = as_counts(flat, G, S, A, D)
    seen = np.zeros((G, S, A), dtype=np.int64)
    for h, (s, a, r) in enumerate(zip(user.s, user.a, user.r, strict=False)):
        g = h % G
        seen[g, s, a] += 1
        if clip is not None and seen[g, s, a] > clip:
            continue
        if not families.summed:
            counts.N_sa[g, s, a] += 1
        counts.N_sas[g, s, a, place[h]] += 1
        counts.R[g, s, a] += r - CENTRE if families.centred else r
    return flat


# --- as arrays ------------------------------------------------------------------------------------------------


class Counting(NamedTuple):
    """What is counted of a user, and room for it: the statistics of the function above, for both engines.

    In integers `centre` is in the units of the rewards, and `sigma` and all sums are integers.
    """

    G: int
    pairs: int  # SA
    A: int
    D: int
    offset: int  # of the first released counter
    one: float  # what a visit adds to N(s,a): 0 if that has no counter
    centre: float  # what is taken off a reward
    clip: int  # 0: none
    sigma: np.ndarray  # her statistics, all zero between users
    cells: Ints  # where they are not, some twice
    seen: Ints  # her visits by pair, all zero between users


def counting(shape: Shape, H: int, families: str, clip: int | None = None, grid: int | None = None) -> Counting:
    """With a `grid`, in integers: rewards in units of 1/grid, which is even."""
    (G, S, A, D), chosen, n = shape, FAMILIES[families], counters(*shape)
    sigma: np.ndarray = np.zeros(n, np.float64 if grid is None else np.int64)
    centre: float = 0.0 if grid is None else 0
    if chosen.centred:
        centre = CENTRE if grid is None else grid // 2
    one = 0 if chosen.summed else 1
    cells, seen = np.zeros(3 * H, np.int64), np.zeros(G * S * A, np.int64)
    return Counting(G, S * A, A, D, chosen.offset(*shape), one, centre, clip or 0, sigma, cells, seen)


def add_user(c: Counting, total: np.ndarray, user: User) -> None:
    """total += σ of the user, which is worked out in c.sigma first."""
    rows = c.G * c.pairs
    for h in range(user.a.size):
        pair = (h % c.G) * c.pairs + user.s[h] * c.A + user.a[h]
        places = pair, rows * (1 + user.place[h]) + pair, rows * (1 + c.D) + pair
        c.cells[3 * h], c.cells[3 * h + 1], c.cells[3 * h + 2] = places
        c.seen[pair] += 1
        if c.clip == 0 or c.seen[pair] <= c.clip:
            c.sigma[places[0]] += c.one
            c.sigma[places[1]] += 1
            c.sigma[places[2]] += user.r[h] - c.centre
    for i in range(3 * user.a.size):
        cell = c.cells[i]
        total[cell] += c.sigma[cell]
        c.sigma[cell] = 0
    for h in range(user.a.size):
        c.seen[c.cells[3 * h]] = 0


class PrivateCounts:
    """A release and its post-processing at work: what line 17 of Algorithm 1 calls the Privatizer.

    `counts` are the private counts of the coming episode, `N_hat` the noisy ones behind them, `fallbacks` the
    number of infeasible LPs so far (projection.py). `zero` is the τ of `zeroed`. With `rewards`, r(s,a) is
    known and R̃ = r Ñ: what was released of R is not read [D32]. With a `support`, the release and the
    post-processing have D next states, and what is handed on has 0 for the others [D35]. Of a user at most `H`
    steps count: as many as are counted apart, if it is not given.
    """

    def __init__(
        self,
        release: Release,
        postprocess: Postprocess,
        E: float,
        G: int,
        S: int,
        A: int,
        families: Families = FAMILIES["paper"],
        zero: float = 0.0,
        rewards: Floats | None = None,
        support: Support | None = None,
        H: int | None = None,
    ):
        self.E, self.G, self.S, self.A = E, G, S, A
        self._H = G if H is None else H
        self.fallbacks = 0
        self.counts = self.N_hat = zero_counts(G, S, A)
        self._release, self._postprocess = release, postprocess
        self._families, self._zero, self._rewards, self._support = families, zero, rewards, support
        self._pi = np.zeros(0)

    def show(self, pi: np.ndarray) -> None:
        """The policy that the coming user is shown: it is public, and a release may use it."""
        self._pi = pi

    def update(self, trajectory: Trajectory) -> Counts:
        """[Alg.1 L17] Take the k-th user and return the private counts of episode k+1."""
        trajectory = sanitised(*trajectory, self._H, self.S, self.A)
        place = trajectory.s[1:] if self._support is None else self._support.moves(trajectory)
        released = self._release.release(User(*trajectory, self._pi, place))
        if released is not None:
            D = None if self._support is None else self._support.D
            N_hat = self.noisy(as_counts(released, self.G, self.S, self.A, D))
            N_tilde = self._postprocess(N_hat.N_sa, N_hat.N_sas, self.E)
            self.fallbacks += N_tilde.fallbacks
            self.N_hat = self._spread(N_hat)
            self.counts = self._spread(Counts(N_tilde.N_sa, N_tilde.N_sas, self._rewards_of(N_tilde.N_sa)))
        return self.counts

    def _spread(self, counts: Counts) -> Counts:
        return counts if self._support is None else counts._replace(N_sas=self._support.spread(counts.N_sas))

    def _rewards_of(self, N_sa: Floats) -> Floats:
        if self._rewards is not None:
            return self._rewards * N_sa
        return uncentred(self.N_hat.R, N_sa) if self._families.centred else self.N_hat.R

    def noisy(self, released: Counts) -> Counts:
        """N̂ as the LP gets it: small cells zeroed if asked for, N̂(s,a) summed if it has no counter."""
        N_sa, N_sas = released.N_sa, released.N_sas
        if self._zero > 0.0:
            N_sas = zeroed(N_sas, self._release.sd, self._zero)  # type: ignore[attr-defined]
        if self._families.summed:
            N_sa = row_sums(N_sas)
        return Counts(N_sa, N_sas, released.R)


class Visitor:
    """The user of episode k as an agent meets her: a number, and no data."""

    def __init__(self, k: int):
        self.k = k

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"agent: a user has no {name} that an agent may read; one that sets reads_trajectories = True is "
            "sent trajectories, and certifies nothing"
        )


class Turnstile:
    """What an agent holds of its private counts: it may read them, and let each user through once.

    The trajectory behind a visitor stays here. `counts`, `N_hat`, `fallbacks` and the sizes are those of
    `PrivateCounts`.
    """

    def __init__(self, private: PrivateCounts):
        self._private, self._waiting = private, (None, NO_STEPS)

    def admit(self, visitor: Any, trajectory: Trajectory) -> Any:
        """The user of this episode comes; whoever came before cannot be counted any more."""
        self._waiting = (visitor, trajectory)
        return visitor

    def update(self, visitor: Any) -> Counts:
        """[Alg.1 L17] Count the user of this episode."""
        expected, trajectory = self._waiting
        if expected is None or visitor is not expected:
            raise InputError("agent: update takes the user of this episode, and takes her once")
        self._waiting = (None, NO_STEPS)
        return self._private.update(trajectory)

    def __getattr__(self, name: str) -> Any:
        if name not in ("counts", "N_hat", "fallbacks", "E", "G", "S", "A"):
            raise AttributeError(f"agent: private counts have no {name} that an agent may read")
        return getattr(self._private, name)


def zeroed(N_sas: Floats, sd: Floats, tau: float) -> Floats:
    """Cells below τ standard deviations of their noise set to 0 [D30]."""
    return np.where(N_sas < tau * sd[..., None], 0.0, N_sas)


def row_sums(N_sas: Floats) -> Floats:
    """Σ_{s'} N(s,a,s'), added in order."""
    total = np.zeros(N_sas.shape[:-1])
    for s_next in range(N_sas.shape[-1]):
        total += N_sas[..., s_next]
    return total


def uncentred(R: Floats, N_sa: Floats) -> Floats:
    """R̃ of counts whose rewards were centred: Σ r = Σ (r - ½) + N/2."""
    return R + CENTRE * N_sa
