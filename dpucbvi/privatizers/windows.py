"""Windows: pool over the steps, then test privately where that is wrong (JDP); nothing is assumed of the MDP.

Users come in batches that grow up to `most`/ε, each released once with fresh noise (batches.py), as symbols
(counts.py). The horizon is cut into 1, 2, 4 and H windows w, which nest: four levels. A batch is released at
one of them:

    the first `pooled` users    Y(s,a,s',b) of all steps together, Lap(2H/ε)
    all others, (ε, δ)          Y_h(s,a,s',b) of every step, N(0, 2H/μ²)
    all others, a pure ε        Y_w(s,a,s',b) of every window of a level, Lap(2H/ε)

The ℓ1 norm of a user's counts is H at every level. The level of a batch is one of those below the present one,
in turn; present is the first level that is not split for all pairs, known from earlier batches. While that is
the whole horizon, every third batch is released for all steps together too: its noise is smaller there.

With exact noise (law.py) both kinds are integers, the Gaussian with the σ² of its ρ. Real users take it in a
session.

Everything else is post-processing (`learn`). A row without any counts, such as that of a pair that no policy of
the batch may visit, adds nothing. A window has the sum of the windows within it that were released: with
Gaussian noise that is as good as if it had been released itself, with Laplace noise the standard deviation is
√(windows) larger. Of a batch a pair keeps, window by window, what holds more than noise: a total of at least
√(D v), v the noise of a cell, that raises n²/(v + n/4).

A window (n₁, v₁, Y) is tested against the one around it (n₀, v₀, distribution p) if n₁ ≥ power √v₁; they
differ if

    max_d (|Y_d - n₁ p_d| - tolerance n₁)₊ > z √(c_d v₁ + n₁p_d(1-p_d) + 1 + n₁²(v₀ + n₀p_d(1-p_d))/n₀²)

where c_d = (1-p_d)² + (D-1)p_d², because n₁ is a sum of D noisy cells too, times 16/9 for the tails of Laplace
noise. A window is split for a pair if it has a part that differs, and for all pairs if more than a share
`theta` of the tests below it do. A row (h,s,a) of what is handed on holds the counts of the largest window
around h that is not split, and their noise: an agent reads its rows as ever.

Privacy. Batch ends are fixed beforehand; level, policy and noised rows of a user's batch are functions of
earlier releases, whose law does not depend on her. Given these, her batch moves by at most its sensitivity, and
what follows is post-processing and other users' data. So the certificate is the worst over the kinds of noise,
not their sum (paper/PRIVACY.md).

No E of Assumption 3.1, for the reasons of batches.py. `noise_of` gives a bound on the noise of what is
released.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.confidence import SHARE, bound_to_E
from dpucbvi.counts import Counting, add_user, counters, counting
from dpucbvi.errors import InputError, check_number, whole
from dpucbvi.privacy.certificate import Certificate, check_budget, check_delta, nothing_released, worst
from dpucbvi.privacy.draws import another, fill, published
from dpucbvi.privatizers.arrays import PRIVATIZERS, AddedNoise
from dpucbvi.privatizers.batches import Batches, batch_ends, check_growth, ended, show
from dpucbvi.protocol import Floats, Ints, Noise, Noisy, Problem, User

WINDOWS = (1, 2, 4)  # and H: into how many windows the levels cut the horizon
HEAVY = 16.0 / 9.0  # by which the variance of Laplace noise is enlarged in tests
LITTLE_KNOWN = 20.0  # tests that are thought of as passed before there are any
ONCE_IN = 3  # batches, while nothing is split for all pairs, one is released for all steps together

# --- the windows ----------------------------------------------------------------------------------------------


class Tree(NamedTuple):
    """All windows, coarse to fine; number 0 is the whole horizon."""

    first: Ints
    last: Ints  # the step after
    parent: Ints
    level: Ints
    start: Ints  # of a level: the number of its first window


def windows(H: int) -> Tree:
    """Levels of 1, 2, 4 and H windows, as far as they differ."""
    cuts = [n for n in WINDOWS if n < H] + [H]
    ends = [(level, i * H // n, (i + 1) * H // n) for level, n in enumerate(cuts) for i in range(n)]
    level, first, last = np.array(ends, dtype=np.int64).T
    parent = [
        max((j for j in range(i) if level[j] < level[i] and first[j] <= first[i] < last[j]), default=0)
        for i in range(len(ends))
    ]
    start = np.searchsorted(level, range(len(cuts) + 1))
    return Tree(first.copy(), last.copy(), np.array(parent, dtype=np.int64), level.copy(), start)


# --- the release ----------------------------------------------------------------------------------------------


class Rule(NamedTuple):
    """What is kept of a batch, and when two windows differ."""

    heavy: float
    zero: float
    power: float
    z: float
    tolerance: float
    theta: float


class Levels(NamedTuple):
    """What every window has kept of every pair."""

    Y: Floats  # [window, cell, pair]
    variance: Floats  # [window, pair], of a cell
    tree: Tree
    rule: Rule


class WindowCounts(NamedTuple):
    """The batch that fills, step by step, and what is known so far; batch and exact noise are integers."""

    batch: np.ndarray
    shown: Ints  # [h, pair]: 1 where a policy of this batch may go
    levels: Levels
    present: Ints  # present[0]: the first level that is not split for all pairs
    closed: Ints
    ends: Ints
    pooled: int  # batches that are released for all steps together, before all others
    coarse: Any
    fine: Any
    coarse_noise: np.ndarray  # scratch
    fine_noise: np.ndarray  # scratch
    coarse_variance: float
    fine_variance: float
    counting: Counting
    gaussian: bool  # the noise of all levels but 0

    def seek(self, users: int) -> None:
        """Set the indices to those after this many users; no file is trusted with them."""
        self.closed[0] = np.searchsorted(self.ends, users, side="right")
        self.present[0] = first_unsplit(self.levels.tree, split_windows(self.levels))


def take(state: WindowCounts, t: int, user: User, noisy: Noisy) -> bool:
    add_user(state.counting, state.batch, user)
    show(user.pi, state.counting.G, state.counting.A, state.shown)
    if not ended(t, state.ends, state.closed):
        return False
    learn(state, release(state, level_of(state)), noisy)
    return True


def level_of(state: WindowCounts) -> int:
    """At which level the batch that has ended is released: known when it begins."""
    after, present, tree = state.closed[0] - 1 - state.pooled, state.present[0], state.levels.tree
    if after < 0 or (present == 0 and after % ONCE_IN == ONCE_IN - 1):
        return 0
    if state.gaussian:
        return tree.level[-1]
    return finer_level(tree, present, after - after // ONCE_IN if present == 0 else after)


def finer_level(tree: Tree, present: int, i: int) -> int:
    """One of the levels below the present one, in turn; the finest has none below it."""
    below = tree.level[-1] - present
    return present + 1 + i % below if below > 0 else present


def release(state: WindowCounts, level: int) -> np.ndarray:
    """The windows of a level with new noise, [cell, window, pair]: all that is ever seen of the batch."""
    if level == 0:
        fill(state.coarse, state.coarse_noise)
        return add_counts(state, level, state.coarse_noise)
    fill(state.fine, state.fine_noise)
    return add_counts(state, level, state.fine_noise)


def add_counts(state: WindowCounts, level: int, noise: np.ndarray) -> np.ndarray:
    """Add the batch's counts of every window to the noise, where a policy may go; others get 0."""
    tree, (H, pairs, D) = state.levels.tree, (state.counting.G, state.counting.pairs, state.counting.D)
    begin, end = tree.start[level], tree.start[level + 1]
    released = noise[: D * (end - begin) * pairs].reshape((D, end - begin, pairs))
    for window in range(begin, end):
        for pair in range(pairs):
            shown = is_shown(state, window, pair)
            for d in range(D):
                if not shown:
                    released[d, window - begin, pair] = 0
                for h in range(tree.first[window], tree.last[window] if shown else 0):
                    released[d, window - begin, pair] += state.batch[((1 + d) * H + h) * pairs + pair]
    state.batch[:] = 0
    state.shown[:] = 0
    return released


def is_shown(state: WindowCounts, window: int, pair: int) -> bool:
    """Whether a policy of this batch may visit the pair within the window."""
    for h in range(state.levels.tree.first[window], state.levels.tree.last[window]):
        if state.shown[h * state.counting.pairs + pair]:
            return True
    return False


# --- what is made of it ---------------------------------------------------------------------------------------


def learn(state: WindowCounts, released: np.ndarray, noisy: Noisy) -> None:
    """Go on from what was released, which is all that is read here."""
    released = published(state.coarse, released)
    v = state.coarse_variance if released.shape[1] == 1 else state.fine_variance
    keep_level(state.levels, released, v)
    state.present[0] = hand_on(state.levels, noisy)


def keep_level(levels: Levels, released: np.ndarray, v: float) -> None:
    """Every window gets its noisy counts; those around add up the ones that have any."""
    tree, (D, n, pairs) = levels.tree, released.shape
    begin = tree.start[np.searchsorted(np.diff(tree.start), n)]  # how many windows there are tells the level
    row = np.zeros(D)
    for window in range(begin + n):
        for pair in range(pairs):
            row[:] = 0.0
            parts = 0
            for i in range(n):
                inside = tree.first[window] <= tree.first[begin + i] < tree.last[window]
                if inside and released[:, i, pair].any():
                    parts += 1
                    row += released[:, i, pair]
            if parts > 0 and in_order(row) >= math.sqrt(D * (parts * v)):  # it holds more than noise
                keep_row(levels, window, pair, row, parts * v)


def keep_row(levels: Levels, window: int, pair: int, row: Floats, v: float) -> None:
    """Add a row of counts to what the window has of the pair, if that tells more of it."""
    more, n, v_before = in_order(row), in_order(levels.Y[window, :, pair]), levels.variance[window, pair]
    if more > 0.0 and information(n + more, v_before + v) > information(n, v_before):
        for d in range(row.size):
            levels.Y[window, d, pair] += row[d]
        levels.variance[window, pair] += v


def in_order(x: Floats) -> float:
    """Σ x, added in order so that both engines have the same bits."""
    total = 0.0
    for i in range(x.size):
        total += x[i]
    return total


def information(n: float, v: float) -> float:
    """n²/(v + n/4): how well n visits with noise of variance v tell a probability."""
    return n * n / (v + n / 4.0) if n > 0.0 else 0.0


# --- which windows are split ----------------------------------------------------------------------------------


def split_windows(levels: Levels) -> Ints:
    """[window, pair]: 1 where the counts of the window are not handed on."""
    tree, pairs = levels.tree, levels.Y.shape[2]
    n = tree.level[-1] + 1
    tested, different = np.zeros(n), np.zeros(n)
    split = np.zeros((tree.first.size, pairs), np.int64)
    for window in range(tree.first.size - 1, 0, -1):
        for pair in range(pairs):
            parent = tree.parent[window]
            z = distance(levels, window, parent, pair)
            if z >= 0.0:
                tested[tree.level[parent]] += 1.0
            if z > levels.rule.z:
                different[tree.level[parent]] += 1.0
                split[parent, pair] = 1
            split[parent, pair] |= split[window, pair]
    share = 0.0
    for level in range(n - 2, -1, -1):
        share = max(share, different[level] / (tested[level] + LITTLE_KNOWN))
        if share > levels.rule.theta:
            for window in range(tree.first.size):
                if tree.level[window] == level:
                    split[window, :] = 1
    return split


def distance(levels: Levels, window: int, parent: int, pair: int) -> float:
    """By how many standard deviations a window differs from the one around it; -1 if it is not tested."""
    rule, D = levels.rule, levels.Y.shape[1]
    v0, v1 = levels.variance[parent, pair], levels.variance[window, pair]
    n1, n0, largest = in_order(levels.Y[window, :, pair]), 0.0, 0.0
    for d in range(D):
        n0 += kept(levels, parent, d, pair)
    if n0 <= 0.0 or n1 <= 0.0 or n1 < rule.power * math.sqrt(v1):
        return -1.0
    for d in range(D):
        p = kept(levels, parent, d, pair) / n0
        apart = abs(levels.Y[window, d, pair] - n1 * p) - rule.tolerance * n1
        spread, noise = p * (1.0 - p), (1.0 - p) ** 2 + (D - 1) * p**2  # of Y_d - n₁ p_d: n₁ is noisy too
        variance = rule.heavy * v1 * noise + n1 * spread + 1.0 + n1 * n1 * (v0 + n0 * spread) / (n0 * n0)
        if apart > 0.0:
            largest = max(largest, apart / math.sqrt(variance))
    return largest


def kept(levels: Levels, window: int, d: int, pair: int) -> float:
    """A cell, or 0 if it is small for its noise."""
    y = levels.Y[window, d, pair]
    return y if y >= levels.rule.zero * math.sqrt(levels.variance[window, pair]) else 0.0


def first_unsplit(tree: Tree, split: Ints) -> int:
    """The first level that has a window that is not split for all pairs."""
    for window in range(tree.first.size):
        for pair in range(split.shape[1]):
            if split[window, pair] == 0:
                return tree.level[window]
    return tree.level[-1]


def hand_on(levels: Levels, noisy: Noisy) -> int:
    """Every row (h,s,a) gets the counts of the largest window around h that is not split; the present level."""
    split = split_windows(levels)
    H, D, pairs = levels.tree.last[0], levels.Y.shape[1], levels.Y.shape[2]
    for h in range(H):
        for pair in range(pairs):
            chosen = -1
            for window in range(levels.tree.first.size):
                inside = levels.tree.first[window] <= h < levels.tree.last[window]
                if chosen < 0 and inside and split[window, pair] == 0:
                    chosen = window
            row = h * pairs + pair
            for d in range(D):
                noisy.counts[(1 + d) * H * pairs + row] = levels.Y[chosen, d, pair]
            noisy.sd[row] = math.sqrt(levels.variance[chosen, pair])
    return first_unsplit(levels.tree, split)


# --- the privatizer -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Windows(AddedNoise):
    """Counts pooled over the steps as far as private tests allow; pure ε (`delta` = 0) or (ε, δ), for JDP.

    Parameters
    ----------
    epsilon : float
        The budget of a user, under the neighbours that `sensitivity` names.
    delta : float
        0 for Laplace noise and a pure ε; above 0 for Gaussian noise.
    sensitivity : str
        `paper`: noise for a user who is added or removed. `replace_one`: for one whose trajectory is replaced.
    first : int
        A batch has at least ⌈first/ε⌉ users.
    growth : float
        By which factor each batch multiplies the number of users so far.
    most : int
        A batch has at most ⌈most/ε⌉ users, so that a bad policy of a late one costs no more than theirs.
    pooled : int
        The batches of the first ⌈pooled/ε⌉ users are released for all steps together.
    zero : float
        The tests set cells below this many standard deviations to 0.
    power : float
        A window is tested once its count is this many standard deviations of the noise of a cell.
    z : float
        A window differs from the one around it if a cell is off by this many standard deviations.
    tolerance : float
        Differences of probabilities up to this do not count for `z`.
    theta : float
        A whole level is split if more than this share of its tests find a difference.
    confidence_scale : float
        Multiplies E; 1 in the paper. It changes the agent's bonus, not the privacy.
    noise : str
        `simulation`: seeded floating point, which protects nobody. `exact`: integers for publication, and for
        sessions with real users.
    words : type
        The source of random words for exact noise: the operating system, except in tests.

    Raises
    ------
    InputError
        If a setting is out of range, or settings do not fit together.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> private = dp.certify(dp.Windows(epsilon=1), H=20, S=6, A=2, K=50_000)
    >>> private.model, private.replace_one.epsilon <= 1
    ('JDP', True)
    """

    epsilon: float
    delta: float = 0.0
    sensitivity: str = "replace_one"
    first: int = 100
    growth: float = 1.3
    most: int = 3000
    pooled: int = 1500
    zero: float = 3.0
    power: float = 5.0
    z: float = 5.0
    tolerance: float = 0.1
    theta: float = 0.025
    confidence_scale: float = 1.0

    take = staticmethod(take)
    model = "JDP"
    families = "symbols"
    exact_dtype = np.float64  # sums that are kept, which are made of what was released

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.sensitivity, self.families, self.confidence_scale)
        check_delta(self.delta, pure=True)
        check_rule(self)
        whole("most", self.most, 1)
        self.check_mode()

    def ends(self, problem: Problem) -> Ints:
        """After which users a batch ends."""
        least, most = (math.ceil(users / self.epsilon) for users in (self.first, self.most))
        return batch_ends(problem.K - 1, least, self.growth, most)

    def pooled_first(self, problem: Problem) -> int:
        """How many batches are released for all steps together before all others."""
        return int((self.ends(problem) <= math.ceil(self.pooled / self.epsilon)).sum())

    def kinds(self, problem: Problem) -> tuple[int, int]:
        """How many batches are released for all steps together at most, and how many at other levels."""
        first = self.pooled_first(problem)
        after = len(self.ends(problem)) - first
        return first + after // ONCE_IN, after

    @property
    def of_kind(self) -> tuple[Batches, Batches]:
        """How a batch is released for all steps together, and how at another level."""
        settings: Any = {"sensitivity": self.sensitivity, "families": self.families, "first": 1}
        settings |= {"noise": self.noise, "words": self.words}
        return Batches(self.epsilon, **settings), Batches(self.epsilon, self.delta, **settings)

    def scale(self, problem: Problem, kind: int) -> float:
        """The scale of the noise of a cell."""
        return self.of_kind[kind].scales(problem, (1, problem.H)[kind]).M

    def certificate(self, problem: Problem, G: int) -> Certificate:
        """The worst of the kinds that are released: a user is in one batch, and does not choose its kind."""
        check_steps(problem, G)
        kinds = zip(self.of_kind, (1, G), self.kinds(problem), strict=True)
        found = [batches.certificate(problem, steps) for batches, steps, n in kinds if n]
        return worst(found) if found else nothing_released(self.model)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        check_steps(problem, G)
        D, kinds = 2 * problem.S, self.kinds(problem)
        terms = kinds[0], kinds[1] * problem.H  # noises in a cell of the whole horizon
        events = 2 * counters(*self.shape(problem, G)) * max(sum(kinds), 1)
        failure, scales = problem.beta / SHARE / events, [self.scale(problem, kind) for kind in (0, 1)]
        parts = list(zip([batches.law for batches in self.of_kind], scales, terms, strict=True))

        def bound(cells: int) -> float:
            """A bound on the noise of a sum of this many cells, over both kinds of batches."""
            return sum(law.row_bound(b, cells, n, failure) if n else 0.0 for law, b, n in parts)

        E = self.confidence_scale * bound_to_E(problem.S, True, bound(2), bound(D), bound(problem.S))
        sd = math.sqrt(sum(law.variance * b * b * n for law, b, n in parts))
        factor, n = self.confidence_scale, max(sum(terms), 1)
        return Noise(scales[1], E, n, factor=factor, cell=bound(1), sd=sd, proven=False)

    def source(
        self, problem: Problem, G: int, seed: np.random.SeedSequence, kind: Callable[..., Any]
    ) -> list[Any]:
        """The noise of the two kinds: that of all steps together, and that of counts per step at most."""
        kinds = zip(self.of_kind, (1, G), (seed, another(seed)), strict=True)
        return [batches.source(problem, steps, of_kind, kind) for batches, steps, of_kind in kinds]

    def grid(self, problem: Problem, G: int) -> int:
        return 1

    def state(self, problem: Problem, G: int, source: list[Any], grid: int | None = None) -> WindowCounts:
        shape, dtype = self.shape(problem, G), np.float64 if grid is None else np.int64
        (H, S, A, D), gaussian, (coarse, fine) = shape, self.delta > 0.0, self.of_kind
        pairs = S * A
        return WindowCounts(
            batch=np.zeros(counters(*shape), dtype),
            shown=np.zeros(H * pairs, np.int64),
            levels=no_levels(self, problem, D, 1.0 if gaussian else HEAVY),
            present=np.zeros(1, np.int64),
            closed=np.zeros(1, np.int64),
            ends=self.ends(problem),
            pooled=self.pooled_first(problem),
            coarse=source[0],
            fine=source[1],
            coarse_noise=np.zeros(D * pairs, dtype),
            fine_noise=np.zeros(D * H * pairs, dtype),
            coarse_variance=coarse.law.variance * self.scale(problem, 0) ** 2,
            fine_variance=fine.law.variance * self.scale(problem, 1) ** 2,
            counting=counting(shape, H, self.families, None, grid),
            gaussian=gaussian,
        )


def no_levels(privatizer: Any, problem: Problem, D: int, heavy: float) -> Levels:
    """Before anything is known."""
    tree, pairs = windows(problem.H), problem.S * problem.A
    rule = Rule(heavy, *(getattr(privatizer, key) for key in Rule._fields[1:]))
    return Levels(np.zeros((tree.first.size, D, pairs)), np.zeros((tree.first.size, pairs)), tree, rule)


def check_rule(privatizer: Any) -> None:
    """The settings that windows have in both models."""
    check_growth(privatizer)
    whole("pooled", privatizer.pooled, 0)
    for key in Rule._fields[1:]:
        check_number(key, getattr(privatizer, key), lambda value: value >= 0.0, "a number >= 0")


def check_steps(problem: Problem, G: int) -> None:
    if problem.H != G:
        raise InputError("pooled: windows find out by themselves how far to pool; it must be false here")


PRIVATIZERS.add("windows", Windows)
