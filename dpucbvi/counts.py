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
    symbols Y_h(s,a,s',b) with the whole budget: how often the next state was s' and the reward, which the user
            rounds to 0 or 1 at random with its own mean, was b. N̂(s,a,s') is the sum over b, R̂ that of
            Ŷ(s,a,s',1) over s' [D37]

`D` is how many next states of a pair have a counter: all S, or those that a known support has (support.py).
A pair has as many `cells`, or 2D where symbols are counted, those of b = 0 first.
"""

from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.errors import InputError, finite, whole
from dpucbvi.mdp import Trajectory
from dpucbvi.privacy.draws import LATTICE, generator, next_words, snapped, unit
from dpucbvi.privacy.laplace import Words, seed_stream
from dpucbvi.protocol import Counts, Floats, Ints, Postprocess, Problem, Release, Shape, User
from dpucbvi.support import Support

CENTRE = 0.5


class Families(NamedTuple):
    """The share of the budget that N(s,a), N(s,a,s') and R(s,a) have, and whether R is centred.

    `joint`: next state and reward bit are one symbol, and have the share M.
    """

    N: Fraction
    M: Fraction  # of N(s,a,s')
    R: Fraction
    centred: bool
    joint: bool = False

    @property
    def summed(self) -> bool:
        """N(s,a) is not released: it is the sum of N(s,a,s')."""
        return self.N == 0

    def cells(self, D: int) -> int:
        """How many cells a pair with D next states has."""
        return 2 * D if self.joint else D

    def released(self, G: int, S: int, A: int, D: int) -> slice:
        """Where the released counters are in the vector of all."""
        rows = G * S * A
        return slice(rows if self.summed else 0, rows * (1 + D if self.joint else 2 + D))


FAMILIES = {
    "paper": Families(Fraction(1, 3), Fraction(1, 3), Fraction(1, 3), centred=False),
    "tuned": Families(Fraction(0), Fraction(3, 4), Fraction(1, 4), centred=True),
    "symbols": Families(Fraction(0), Fraction(1), Fraction(0), centred=False, joint=True),
}


def shape_of(problem: Problem, G: int, families: str) -> Shape:
    """The shape of the counters."""
    return G, problem.S, problem.A, FAMILIES[families].cells(problem.next_states)


def counters(G: int, S: int, A: int, D: int | None = None) -> int:
    """How many counters are kept: N(s,a), D cells N(s,a,s') and R(s,a) for G steps."""
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


# --- rewards as bits ------------------------------------------------------------------------------------------


class Rounding(NamedTuple):
    """The coins by which users round their rewards to 0 or 1; empty where rewards are counted as they are.

    They are the users' own, and in a run a stream of their own. Privacy does not rest on them: whatever the
    bits are, a visit is one symbol.
    """

    generator: Words
    words: Words  # scratch, one a step

    @classmethod
    def start(cls, families: str, H: int, seed: int) -> "Rounding":
        """The coins of a run with this seed."""
        none = np.zeros(0, np.uint64)
        if not FAMILIES[families].joint:
            return cls(none, none)
        return cls(generator(seed_stream(seed, "rewards")), np.zeros(H, np.uint64))


def add_bits(coins: Rounding, r: Floats, D: int, place: Ints) -> None:
    """From next states to symbols: D places on where the reward is rounded to 1."""
    next_words(coins.generator, coins.words)
    for h in range(r.size):
        if unit(coins.words[h]) < r[h]:
            place[h] += D


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

    Counters that are not released stay 0. With `clip`, only the first so many visits of a pair count. A pair
    has D cells, of which a `User` says where each of her steps belongs; the rewards of a `Trajectory` must be 0
    and 1 where symbols are counted.
    """
    D = families.cells(S) if D is None else D
    bits = np.asarray(user.r if families.joint else 0, dtype=np.int64)
    place = user.s[1:] + S * bits if isinstance(user, Trajectory) else user.place
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
        if not families.joint:
            counts.R[g, s, a] += snapped(r - CENTRE if families.centred else r)
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
    first: int  # released counter,
    end: int  # and that after the last
    one: float  # what a visit adds to N(s,a): 0 if that has no counter
    centre: float  # what is taken off a reward
    lattice: float  # LATTICE, by which it is then rounded (privacy/draws.py); 0 in integers
    joint: bool  # the reward is in the cell
    clip: int  # 0: none
    sigma: np.ndarray  # her statistics, all zero between users
    cells: Ints  # where they are not, some twice
    seen: Ints  # her visits by pair, all zero between users


def counting(shape: Shape, H: int, families: str, clip: int | None = None, grid: int | None = None) -> Counting:
    """How users are counted; with a `grid`, rewards are integers in units of 1/grid, which is even."""
    (G, S, A, D), chosen, n = shape, FAMILIES[families], counters(*shape)
    sigma: np.ndarray = np.zeros(n, np.float64 if grid is None else np.int64)
    centre: float = 0.0 if grid is None else 0
    rounded: float = LATTICE if grid is None else 0
    if chosen.centred:
        centre = CENTRE if grid is None else grid // 2
    one = 0 if chosen.summed else 1
    cells, seen, released = np.zeros(3 * H, np.int64), np.zeros(G * S * A, np.int64), chosen.released(*shape)
    ends = released.start, released.stop
    return Counting(G, S * A, A, D, *ends, one, centre, rounded, chosen.joint, clip or 0, sigma, cells, seen)


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
            if not c.joint:
                c.sigma[places[2]] += (user.r[h] - c.centre + c.lattice) - c.lattice
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
        rounding: Rounding | None = None,
    ):
        self.E, self.G, self.S, self.A = E, G, S, A
        self._H = G if H is None else H
        self.fallbacks = 0
        self.counts = self.N_hat = zero_counts(G, S, A)
        self._release, self._postprocess = release, postprocess
        self._families, self._zero, self._rewards, self._support = families, zero, rewards, support
        self._pi, self._rounding = np.zeros(0), rounding

    def show(self, pi: np.ndarray) -> None:
        """The policy that the coming user is shown: it is public, and a release may use it."""
        self._pi = pi

    def update(self, trajectory: Trajectory) -> Counts:
        """[Alg.1 L17] Take the k-th user and return the private counts of episode k+1."""
        trajectory = sanitised(*trajectory, self._H, self.S, self.A)
        place = trajectory.s[1:] if self._support is None else self._support.moves(trajectory)
        D = self.S if self._support is None else self._support.D
        if self._families.joint:
            assert self._rounding is not None, "symbols need coins"
            place = place.copy()
            add_bits(self._rounding, trajectory.r, D, place)
        released = self._release.release(User(*trajectory, self._pi, place))
        if released is not None:
            sizes = (self.G, self.S, self.A, self._families.cells(D))
            flat = finite("privatizer: its release", released, (counters(*sizes),))
            N_hat = self.noisy(as_counts(flat, *sizes))
            made = self._postprocess(N_hat.N_sa, N_hat.N_sas, self.E)
            N_sa = finite("postprocess: its N_sa", getattr(made, "N_sa", None), N_hat.N_sa.shape)
            N_sas = finite("postprocess: its N_sas", getattr(made, "N_sas", None), N_hat.N_sas.shape)
            self.fallbacks += whole("postprocess: its fallbacks", made.fallbacks, 0)
            self.N_hat = self._spread(N_hat)
            self.counts = self._spread(Counts(N_sa, N_sas, self._rewards_of(N_sa)))
        return self.counts

    def _spread(self, counts: Counts) -> Counts:
        return counts if self._support is None else counts._replace(N_sas=self._support.spread(counts.N_sas))

    def _rewards_of(self, N_sa: Floats) -> Floats:
        if self._rewards is not None:
            return self._rewards * N_sa
        return self.N_hat.R + CENTRE * N_sa if self._families.centred else self.N_hat.R

    def noisy(self, released: Counts) -> Counts:
        """N̂ as the LP gets it: small cells zeroed if asked for, what has no counter summed."""
        if self._zero > 0.0:
            cells = zeroed(released.N_sas, self._release.sd, self._zero)  # type: ignore[attr-defined]
            released = released._replace(N_sas=cells)
        return summed(released, self._families)


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
        self._private.update(trajectory)
        return self.counts

    def __getattr__(self, name: str) -> Any:
        if name not in ("counts", "N_hat", "fallbacks", "E", "G", "S", "A"):
            raise AttributeError(f"agent: private counts have no {name} that an agent may read")
        value = getattr(self._private, name)
        return Counts(*map(np.copy, value)) if isinstance(value, Counts) else value


def zeroed(N_sas: Floats, sd: Floats, tau: float) -> Floats:
    """Cells below τ standard deviations of their noise set to 0 [D30]."""
    return np.where(N_sas < tau * sd[..., None], 0.0, N_sas)


def summed(released: Counts, families: Families) -> Counts:
    """N(s,a), N(s,a,s') and R(s,a) of released counters: what has none of its own is a sum of cells."""
    N_sa, N_sas, R = released
    if families.joint:
        D = N_sas.shape[-1] // 2
        N_sas, R = N_sas[..., :D] + N_sas[..., D:], row_sums(N_sas[..., D:])
    return Counts(row_sums(N_sas) if families.summed else N_sa, N_sas, R)


def row_sums(N_sas: Floats) -> Floats:
    """Σ_{s'} N(s,a,s'), added in order."""
    total = np.zeros(N_sas.shape[:-1])
    for s_next in range(N_sas.shape[-1]):
        total += N_sas[..., s_next]
    return total
