"""An attack from start to end: trials of either user, a region chosen on some, the bound on others.

The trials on which a score and its threshold are chosen are never those from which the bound is taken: any
number of scores may compete, and the bound is wrong with probability at most ALPHA all the same.

An attacker calls "this one" in a region F of the outcomes. With X and X' two neighbouring data sets,

    P(F | X) ≤ e^ε P(F | X') + δ      so      ε ≥ ln((P(F | X) - δ) / P(F | X')),

and, if the mechanism is μ-GDP, P(F | X) ≤ Φ(Φ⁻¹(P(F | X')) + μ), so μ ≥ Φ⁻¹(P(F | X)) - Φ⁻¹(P(F | X')). Both
probabilities are bounded by Clopper and Pearson from independent trials, each with probability α/2 of error: a
bound is too large with probability at most ALPHA, whatever the mechanism, if F was chosen without a look at
these trials. Sources: Ding et al. 2018 (arXiv 1805.10559); Nasr et al. 2023 (arXiv 2302.07956) for μ.

An attack is a lower bound and no more: what it does not find may still be there.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from dpucbvi.audit import replay, scores
from dpucbvi.audit.replay import Played, Replay
from dpucbvi.audit.scores import Score
from dpucbvi.audit.trials import Trials
from dpucbvi.audit.worlds import World
from dpucbvi.protocol import Floats, Setup
from dpucbvi.stats import at_least, at_most

CANDIDATES = 400  # thresholds that are tried
CHUNK = 50_000  # trials that are in memory at once
LEARNING = 20_000  # trials that scores are learned from
Bound = Callable[[Floats, Floats, int], Floats]  # hits of the right user, of the wrong one, trials
Draw = Callable[[int, int], Floats]  # which user (0 or 1), how many trials
Pair = tuple[Floats, Floats]  # of the first user and of the second
ALPHA = 1e-9  # the probability that one bound is wrong
OTHERS = 24  # numbers that she does not move, and an attack looks at all the same


def epsilon_bound(true: Floats, false: Floats, trials: int, delta: float) -> Floats:
    """ln((P(F|X) - δ)/P(F|X')) from the hits of F in so many trials of X and of X'; at least 0."""
    surplus = at_least(true, trials, ALPHA / 2.0) - delta
    return np.log(np.maximum(surplus / at_most(false, trials, ALPHA / 2.0), 1.0))


def mu_bound(true: Floats, false: Floats, trials: int) -> Floats:
    """Φ⁻¹(P(F|X)) - Φ⁻¹(P(F|X')) from the same; at least 0."""
    high, low = at_least(true, trials, ALPHA / 2.0), at_most(false, trials, ALPHA / 2.0)
    return np.where(high > low, ndtri(np.maximum(high, 1e-300)) - ndtri(np.maximum(low, 1e-300)), 0.0)


class Region(NamedTuple):
    """F: a score from a threshold on, which speaks for the first user, or up to it, for the second."""

    score: Score
    threshold: float
    above: bool

    def hits(self, scores: Pair) -> tuple[int, int]:
        """How many trials of the right user, and of the wrong one, fall into it."""
        inside = [int(np.sum(s >= self.threshold if self.above else s <= self.threshold)) for s in scores]
        return (inside[0], inside[1]) if self.above else (inside[1], inside[0])


class Bounded(NamedTuple):
    """A lower bound and the counts behind it."""

    bound: float
    score: str
    hits: int  # of the right user
    false: int  # of the wrong one
    trials: int  # of each


def bounds_of(
    draw: Draw,
    learn: Callable[[Floats, Floats], list[list[Score]]],
    trials: int,
    delta: float,
    gaussian: bool,
) -> list[Bounded]:
    """Bounds on ε from so many trials of either user, one for each group of scores that compete.

    If the noise is Gaussian, a bound on μ from the first group is added. Half as many trials choose the region,
    still others teach the scores.
    """
    few, half = max(min(LEARNING, trials // 2), 2), max(trials // 2, 1)
    groups = learn(draw(0, few), draw(1, few))

    def of_epsilon(true: Floats, false: Floats, n: int) -> Floats:
        return epsilon_bound(true, false, n, delta)

    wanted: list[tuple[list[Score], Bound]] = [(group, of_epsilon) for group in groups]
    wanted += [(groups[0], mu_bound)] * gaussian
    seen = scored(draw, [score for group in groups for score in group], half)
    regions = [choose({score: seen[score] for score in group}, bound) for group, bound in wanted]
    seen = scored(draw, [region.score for region in regions], trials)
    found = []
    for region, (_, bound) in zip(regions, wanted, strict=True):
        true, false = region.hits(seen[region.score])
        value = float(bound(np.array(true), np.array(false), trials))
        found.append(Bounded(value, region.score.name, true, false, trials))
    return found


def scored(draw: Draw, scores: list[Score], trials: int) -> dict[Score, Pair]:
    """Every score of so many new trials of either user."""
    of_user = []
    for which in (0, 1):
        made = []
        for done in range(0, trials, CHUNK):
            seen = draw(which, min(CHUNK, trials - done))
            made.append([score(seen) for score in scores])
        of_user.append([np.concatenate(parts) for parts in zip(*made, strict=True)])
    return dict(zip(scores, zip(*of_user, strict=True), strict=True))


def choose(seen: dict[Score, Pair], bound: Bound) -> Region:
    """The region with the best bound on these trials."""
    best, found = -1.0, Region(next(iter(seen)), 0.0, True)
    for score, pair in seen.items():
        one, other = np.sort(pair[0]), np.sort(pair[1])
        n, tau = len(one), thresholds(np.concatenate([one, other]))
        up = n - np.searchsorted(one, tau, "left"), n - np.searchsorted(other, tau, "left")
        down = np.searchsorted(other, tau, "right"), np.searchsorted(one, tau, "right")
        for above, (true, false) in ((True, up), (False, down)):
            values = bound(true.astype(np.float64), false.astype(np.float64), n)
            i = int(np.argmax(values))
            if values[i] > best:
                best, found = float(values[i]), Region(score, float(tau[i]), above)
    return found


def thresholds(scores: Floats) -> Floats:
    """Quantiles, closer to each other towards both ends, all of them scores that occur."""
    tail = np.geomspace(1.0 / len(scores), 0.5, CANDIDATES // 2)
    return np.unique(np.quantile(scores, np.concatenate([tail, 1.0 - tail]), method="nearest"))


# --- on releases ----------------------------------------------------------------------------------------------


def on_releases(
    setup: Setup, world: World, found: Replay, relation: str, trials: int, rng: np.random.Generator
) -> list[Bounded]:
    """The attack on all that is released, as it leaves: two worlds differ in the worst pair of users.

    Bounds on ε, by the size of what is released and by the lowest bits of what she moves; then on μ, if any.
    """
    pair, delta = found.worst[relation], setup.certificate.delta
    both = [world.with_user(pair.place, user) for user in (pair.one, pair.other)]
    played = [replay.play(setup, one, found.responses.noise) for one in both]
    columns, moved = looked_at(*played)
    of_world = [Trials(setup, one, columns) for one in both]

    def draw(which: int, n: int) -> Floats:
        return of_world[which].draw(n, rng)

    def learn(one: Floats, other: Floats) -> list[list[Score]]:
        sizes = [scores.learn(one, other)]
        if pair.shift.any():
            sizes.append(scores.likelihood_ratio(found, pair, played[0].values, columns))
        elif scores.few_outcomes(one, other):
            sizes.append(scores.count(one, other))
        return [sizes, [scores.low_bits(one[:, :moved], other[:, :moved])]]

    return bounds_of(draw, learn, trials, delta, delta > 0.0)


def looked_at(one: Played, other: Played) -> tuple[np.ndarray, int]:
    """Which released numbers an attack looks at: those that she moves, their number, and some others."""
    n = min(one.values.size, other.values.size)
    moved = np.flatnonzero(one.values[:n] != other.values[:n])
    others = np.setdiff1d(np.arange(n), moved)[:OTHERS]
    return np.concatenate([moved, others]), max(moved.size, 1)
