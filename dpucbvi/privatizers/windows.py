"""Windows: pool over the steps, then test privately where that is wrong (JDP); nothing is assumed of the MDP.

Users come in growing batches, each released once with fresh noise (batches.py), as symbols (counts.py). There
are two kinds of batch, and which comes when is public:

    the first `pooled` users    Y(s,a,s',b) of all steps together, Lap(2H/ε)
    all others                  Y_h(s,a,s',b), Lap(2H/ε) for a pure ε, N(0, 2H/μ²) for (ε, δ)

Everything else is post-processing. The horizon is cut into 1, 2, 4 and H windows, which nest. A window's count
of a pair is the sum of its steps' (and, for the whole horizon, of the pooled batches): with Gaussian noise that
is as good as if it had been released directly, with Laplace noise the standard deviation is √(steps) larger. Of
a batch a pair keeps, window by window, what holds more than noise: a total of at least `keep` √(D v), v the
noise of a cell, that raises n²/(v + n/4).

A window (n₁, v₁, Y) is tested against the one around it (n₀, v₀, distribution p) if n₁ ≥ power √v₁; they
differ if

    max_d (|Y_d - n₁ p_d| - tolerance n₁)₊ > z √(c_d v₁ + n₁p_d(1-p_d) + 1 + n₁²(v₀ + n₀p_d(1-p_d))/n₀²)

where c_d = (1-p_d)² + (D-1)p_d², because n₁ is a sum of D noisy cells too, times 16/9 for the tails of Laplace
noise. A window is split for a pair if it has a part that differs, and for all pairs if more than a share
`theta` of the tests below it do. A row (h,s,a) of what is handed on holds the counts of the largest window
around h that is not split, and their noise: an agent reads its rows as ever.

Privacy. Batch ends and kinds are fixed beforehand; policy and noised rows of a user's batch are functions of
earlier releases, whose law does not depend on her. Given these, her batch moves by at most its sensitivity, and
what follows is post-processing and other users' data. So the certificate is the worst over the two kinds, not
their sum (paper/PRIVACY.md).

No E of Assumption 3.1, for the reasons of batches.py. `noise_of` gives a bound on the noise of what is
released.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.confidence import SHARE, bound_to_E
from dpucbvi.counts import Counting, add_user, counters, counting, shape_of
from dpucbvi.errors import InputError, check_number, whole
from dpucbvi.privacy.certificate import Certificate, check_budget, check_delta, nothing_released, worst
from dpucbvi.privacy.draws import Draws, another, fill, seeded
from dpucbvi.privacy.law import ONCE, Gaussian, Laplace, Law, reach
from dpucbvi.privatizers.arrays import PRIVATIZERS, Arrays
from dpucbvi.privatizers.batches import batch_ends, ended, show
from dpucbvi.protocol import Floats, Ints, Noise, Noisy, Problem, User

WINDOWS = (1, 2, 4)  # and H: into how many windows the levels cut the horizon
HEAVY = 16.0 / 9.0  # by which the variance of Laplace noise is enlarged in tests
LITTLE_KNOWN = 20.0  # tests that are thought of as passed before there are any
KEEP_SUMS = {True: 1.0, False: 3.0}  # for sums over steps of Gaussian and of Laplace noise

# --- the windows ----------------------------------------------------------------------------------------------


class Tree(NamedTuple):
    """All windows, coarse to fine; number 0 is the whole horizon."""

    first: Ints
    last: Ints  # the step after
    parent: Ints
    level: Ints


def windows(H: int) -> Tree:
    """Levels of 1, 2, 4 and H windows, as far as they differ."""
    cuts = [n for n in WINDOWS if n < H] + [H]
    ends = [(level, i * H // n, (i + 1) * H // n) for level, n in enumerate(cuts) for i in range(n)]
    level, first, last = np.array(ends, dtype=np.int64).T
    parent = [
        max((j for j in range(i) if level[j] < level[i] and first[j] <= first[i] < last[j]), default=0)
        for i in range(len(ends))
    ]
    return Tree(first.copy(), last.copy(), np.array(parent, dtype=np.int64), level.copy())


# --- the release ----------------------------------------------------------------------------------------------


class Rule(NamedTuple):
    """What is kept of a batch, and when two windows differ."""

    keep_sums: float
    heavy: float
    zero: float
    power: float
    z: float
    tolerance: float
    theta: float


class WindowCounts(NamedTuple):
    """The batch that fills, step by step, and what every window has kept."""

    batch: Floats
    shown: Ints  # [h, pair]: 1 where a policy of this batch may go
    Y: Floats  # [window, cell, pair]
    variance: Floats  # [window, pair], of a cell
    closed: Ints
    ends: Ints
    pooled: int  # batches of the first kind
    coarse: Draws
    fine: Draws
    coarse_noise: Floats  # scratch
    fine_noise: Floats  # scratch
    coarse_variance: float
    fine_variance: float
    counting: Counting
    tree: Tree
    rule: Rule

    def seek(self, users: int) -> None:
        """Set the index as it is after so many users: no file is trusted with it."""
        self.closed[0] = np.searchsorted(self.ends, users, side="right")


def take(state: WindowCounts, t: int, user: User, noisy: Noisy) -> bool:
    add_user(state.counting, state.batch, user)
    show(user.pi, state.counting.G, state.counting.A, state.shown)
    if not ended(t, state.ends, state.closed):
        return False
    if state.closed[0] <= state.pooled:
        release_pooled(state)
    else:
        release_steps(state)
    state.batch[:] = 0
    state.shown[:] = 0
    hand_on(state, split_windows(state), noisy)
    return True


def release_pooled(state: WindowCounts) -> None:
    """The counts of all steps together with noise of their own, for every pair that was shown."""
    H, pairs, D = state.counting.G, state.counting.pairs, state.counting.D
    fill(state.coarse, state.coarse_noise)
    row = np.zeros(D)
    for pair in range(pairs):
        seen = 0
        for h in range(H):
            seen += state.shown[h * pairs + pair]
        for d in range(D):
            row[d] = state.coarse_noise[d * pairs + pair]
            for h in range(H):
                row[d] += state.batch[(1 + d) * H * pairs + h * pairs + pair]
        if seen > 0:
            keep_row(state, 0, pair, row, state.coarse_variance, 1.0)


def release_steps(state: WindowCounts) -> None:
    """The counts of every step with noise; windows add up the steps in which the pair was shown."""
    H, pairs, D = state.counting.G, state.counting.pairs, state.counting.D
    fill(state.fine, state.fine_noise)
    released = state.batch[state.counting.first : state.counting.end]
    for c in range(released.size):
        released[c] += state.fine_noise[c]
    row = np.zeros(D)
    for window in range(state.tree.first.size):
        for pair in range(pairs):
            row[:] = 0.0
            seen = 0
            for h in range(state.tree.first[window], state.tree.last[window]):
                if state.shown[h * pairs + pair]:
                    seen += 1
                    for d in range(D):
                        row[d] += state.batch[(1 + d) * H * pairs + h * pairs + pair]
            if seen > 0:
                keep = state.rule.keep_sums if seen > 1 else 1.0
                keep_row(state, window, pair, row, seen * state.fine_variance, keep)


def keep_row(state: WindowCounts, window: int, pair: int, row: Floats, v: float, keep: float) -> None:
    """Add a batch's row to what the window has of the pair, if it holds more than noise."""
    total, n, v_before = in_order(row), in_order(state.Y[window, :, pair]), state.variance[window, pair]
    if total < keep * math.sqrt(row.size * v):
        return
    if information(n + total, v_before + v) <= information(n, v_before):
        return
    for d in range(row.size):
        state.Y[window, d, pair] += row[d]
    state.variance[window, pair] += v


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


def split_windows(state: WindowCounts) -> Ints:
    """[window, pair]: 1 where the counts of the window are not handed on."""
    tree, pairs = state.tree, state.counting.pairs
    levels = tree.level[-1] + 1
    tested, different = np.zeros(levels), np.zeros(levels)
    split = np.zeros((tree.first.size, pairs), np.int64)
    for window in range(tree.first.size - 1, 0, -1):
        for pair in range(pairs):
            parent = tree.parent[window]
            z = distance(state, window, parent, pair)
            if z >= 0.0:
                tested[tree.level[parent]] += 1.0
            if z > state.rule.z:
                different[tree.level[parent]] += 1.0
                split[parent, pair] = 1
            split[parent, pair] |= split[window, pair]
    share = 0.0
    for level in range(levels - 2, -1, -1):
        share = max(share, different[level] / (tested[level] + LITTLE_KNOWN))
        if share > state.rule.theta:
            for window in range(tree.first.size):
                if tree.level[window] == level:
                    split[window, :] = 1
    return split


def distance(state: WindowCounts, window: int, parent: int, pair: int) -> float:
    """By how many standard deviations a window differs from the one around it; -1 if it is not tested."""
    rule, D = state.rule, state.counting.D
    v0, v1 = state.variance[parent, pair], state.variance[window, pair]
    n1, n0, largest = in_order(state.Y[window, :, pair]), 0.0, 0.0
    for d in range(D):
        n0 += kept(state, parent, d, pair)
    if n0 <= 0.0 or n1 <= 0.0 or n1 < rule.power * math.sqrt(v1):
        return -1.0
    for d in range(D):
        p = kept(state, parent, d, pair) / n0
        apart = abs(state.Y[window, d, pair] - n1 * p) - rule.tolerance * n1
        spread, noise = p * (1.0 - p), (1.0 - p) ** 2 + (D - 1) * p**2  # of Y_d - n₁ p_d: n₁ is noisy too
        variance = rule.heavy * v1 * noise + n1 * spread + 1.0 + n1 * n1 * (v0 + n0 * spread) / (n0 * n0)
        if apart > 0.0:
            largest = max(largest, apart / math.sqrt(variance))
    return largest


def kept(state: WindowCounts, window: int, d: int, pair: int) -> float:
    """A cell, or 0 if it is small for its noise."""
    y = state.Y[window, d, pair]
    return y if y >= state.rule.zero * math.sqrt(state.variance[window, pair]) else 0.0


def hand_on(state: WindowCounts, split: Ints, noisy: Noisy) -> None:
    """Every row (h,s,a) gets the counts of the largest window around h that is not split."""
    H, pairs, D = state.counting.G, state.counting.pairs, state.counting.D
    for h in range(H):
        for pair in range(pairs):
            chosen = -1
            for window in range(state.tree.first.size):
                inside = state.tree.first[window] <= h < state.tree.last[window]
                if chosen < 0 and inside and split[window, pair] == 0:
                    chosen = window
            row = h * pairs + pair
            for d in range(D):
                noisy.counts[(1 + d) * H * pairs + row] = state.Y[chosen, d, pair]
            noisy.sd[row] = math.sqrt(state.variance[chosen, pair])


# --- the privatizer -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Windows(Arrays):
    """Counts per step or pooled, as private tests find them; pure ε (`delta` = 0) or (ε, δ).

    Parameters
    ----------
    epsilon, delta, sensitivity
        The budget, as of `dp.Batches`.
    first, growth
        A batch has at least ⌈first/ε⌉ users, and all users so far are `growth` times those before it.
    pooled
        The counts of the first ⌈pooled/ε⌉ users are released for all steps together; 0: of nobody.
    zero, power, z, tolerance, theta
        The rule by which windows are split, above.
    confidence_scale
        Multiplies E.
    """

    epsilon: float
    delta: float = 0.0
    sensitivity: str = "replace_one"
    first: int = 100
    growth: float = 1.3
    pooled: int = 2500
    zero: float = 3.0
    power: float = 5.0
    z: float = 5.0
    tolerance: float = 0.15
    theta: float = 0.1
    confidence_scale: float = 1.0

    take = staticmethod(take)
    model = "JDP"
    families = "symbols"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.sensitivity, self.families, self.confidence_scale)
        check_delta(self.delta, pure=True)
        whole("first", self.first, 1)
        check_number("growth", self.growth, lambda growth: growth >= 1.0, "a number >= 1")
        whole("pooled", self.pooled, 0)
        for key in ("zero", "power", "z", "tolerance", "theta"):
            check_number(key, getattr(self, key), lambda value: value >= 0.0, "a number >= 0")

    def ends(self, problem: Problem) -> Ints:
        """After which users a batch ends."""
        return batch_ends(problem.K - 1, math.ceil(self.first / self.epsilon), self.growth)

    def kinds(self, problem: Problem) -> tuple[int, int]:
        """How many batches are released pooled, and how many per step."""
        ends = self.ends(problem)
        pooled = int((ends <= math.ceil(self.pooled / self.epsilon)).sum())
        return pooled, len(ends) - pooled

    @property
    def laws(self) -> tuple[Law, Law]:
        """Of the noise of the two kinds."""
        pure = Laplace(self.epsilon)
        return pure, pure if self.delta == 0.0 else Gaussian(self.epsilon, self.delta)

    def scale(self, problem: Problem, kind: int) -> float:
        """Of the noise of a cell."""
        return self.laws[kind].scales(self._reach(problem, kind), ONCE).M

    def _reach(self, problem: Problem, kind: int) -> Any:
        return reach(self.families, self.sensitivity, problem, (1, problem.H)[kind])

    def certificate(self, problem: Problem, G: int) -> Certificate:
        """The worst of the kinds that are released: a user is in one batch, and does not choose its kind."""
        check_steps(problem, G)
        found = []
        for kind, n in enumerate(self.kinds(problem)):
            if n:
                law, user = self.laws[kind], self._reach(problem, kind)
                found.append(law.certificate(self.model, user, ONCE, law.scales(user, ONCE)))
        return worst(found) if found else nothing_released(self.model)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        check_steps(problem, G)
        D, kinds = 2 * problem.S, self.kinds(problem)
        terms = kinds[0], kinds[1] * problem.H  # noises in a cell of the whole horizon
        events = 2 * counters(*shape_of(problem, G, self.families)) * max(sum(kinds), 1)
        failure, scales = problem.beta / SHARE / events, [self.scale(problem, kind) for kind in (0, 1)]
        parts = list(zip(self.laws, scales, terms, strict=True))

        def bound(cells: int) -> float:
            """On sums of so many cells, of both kinds together."""
            return sum(law.row_bound(b, cells, n, failure) if n else 0.0 for law, b, n in parts)

        E = self.confidence_scale * bound_to_E(problem.S, True, bound(2), bound(D), bound(problem.S))
        sd = math.sqrt(sum(law.variance * b * b * n for law, b, n in parts))
        factor, n = self.confidence_scale, max(sum(terms), 1)
        return Noise(scales[1], E, n, factor=factor, cell=bound(1), sd=sd, proven=False)

    def start(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> WindowCounts:
        H, S, A = problem.H, problem.S, problem.A
        pairs, D, tree = S * A, 2 * S, windows(H)
        tally = counting((H, S, A, D), H, self.families)
        sizes, laws = (pairs * D, H * pairs * D), self.laws
        sources = [
            seeded(stream, np.full(n, self.scale(problem, kind)), laws[kind].gaussian)
            for kind, (n, stream) in enumerate(zip(sizes, (seed, another(seed)), strict=True))
        ]
        gaussian = laws[1].gaussian
        rule = (self.zero, self.power, self.z, self.tolerance, self.theta)
        return WindowCounts(
            batch=np.zeros(counters(H, S, A, D)),
            shown=np.zeros(H * pairs, np.int64),
            Y=np.zeros((tree.first.size, D, pairs)),
            variance=np.zeros((tree.first.size, pairs)),
            closed=np.zeros(1, np.int64),
            ends=self.ends(problem),
            pooled=self.kinds(problem)[0],
            coarse=sources[0],
            fine=sources[1],
            coarse_noise=np.zeros(sizes[0]),
            fine_noise=np.zeros(sizes[1]),
            coarse_variance=laws[0].variance * self.scale(problem, 0) ** 2,
            fine_variance=laws[1].variance * self.scale(problem, 1) ** 2,
            counting=tally,
            tree=tree,
            rule=Rule(KEEP_SUMS[gaussian], 1.0 if gaussian else HEAVY, *rule),
        )


def check_steps(problem: Problem, G: int) -> None:
    if problem.H != G:
        raise InputError("pooled: windows find out by themselves how far to pool; it must be false here")


PRIVATIZERS.add("windows", Windows)
