"""How an attacker weighs what she sees: a number for every trial, large if it speaks for the first user.

    LikelihoodRatio   from the claimed law of the noise: the best there is, if the claim is true
    Learned           a linear rule (Fisher's) learned from trials, without a word about the mechanism: it finds
                      noise that is drawn anew, shared or missing, which no claimed law mentions
    Frequencies       for answers out of a few: how often each was seen of either user

What is seen is rounded to 1e-6 and scores to 1e-9. An attack on unrounded numbers reads the low-order bits of
floating-point noise, which simulated releases are known to give away [D15], and would say nothing about ε.
"""

from typing import NamedTuple, Protocol

import numpy as np

from dpucbvi.audit.laws import Law
from dpucbvi.protocol import Floats

SEEN_DIGITS, SCORE_DIGITS = 6, 9
RIDGE = 1e-6  # of the learned rule, relative to the mean variance


class Score(Protocol):
    @property
    def name(self) -> str: ...

    def __call__(self, seen: Floats) -> Floats:
        """From [trial, release, counter] to a score for every trial."""
        ...


def rounded(seen: Floats) -> Floats:
    return np.round(seen, SEEN_DIGITS)


class LikelihoodRatio(NamedTuple):
    """ln of the density under the first user less that under the second; a row that is exactly 0 says nothing.

    `one` and `other` are M A x, the rows without noise.
    """

    law: Law
    one: Floats  # [T, counter]
    other: Floats
    scale: Floats
    gaussian: bool
    name: str = "likelihood ratio"

    def __call__(self, seen: Floats) -> Floats:
        total = np.zeros(len(seen))
        for row, weights in enumerate(self.law.weights):
            for c in np.flatnonzero(self.one[row] != self.other[row]):
                u = np.round(seen[:, :, c] @ self.law.undo[row], SEEN_DIGITS)
                log_ratio = self._log_density(u - self.one[row, c], weights, self.scale[c])
                log_ratio -= self._log_density(u - self.other[row, c], weights, self.scale[c])
                total += np.where(u == 0.0, 0.0, log_ratio)
        return np.round(total, SCORE_DIGITS)

    def _log_density(self, x: Floats, weights: tuple[float, ...], scale: float) -> Floats:
        """But for a constant."""
        if self.gaussian:
            return -(x**2) / (2.0 * scale**2 * sum(a * a for a in weights))
        if len(weights) == 1:
            return -np.abs(x) / (scale * weights[0])
        b, c = (scale * a for a in weights)  # the density of Lap(b) + Lap(c), b > c
        return -np.abs(x) / b + np.log(b - c * np.exp(-np.abs(x) * (1.0 / c - 1.0 / b)))


class Learned(NamedTuple):
    """w·x with w = (Σ + ridge)⁻¹ (mean of the first user - mean of the second), of length 1.

    x has all that is seen, and for every number whether it stayed as it was, which shows missing noise.
    """

    w: Floats
    name: str = "learned rule"

    def __call__(self, seen: Floats) -> Floats:
        return np.round(inputs(seen) @ self.w, SCORE_DIGITS)


def inputs(seen: Floats) -> Floats:
    steps = np.diff(seen, axis=1, prepend=0.0)
    return np.concatenate([seen, np.abs(steps) < 0.5 * 10.0**-SEEN_DIGITS], axis=1).reshape(len(seen), -1)


def learn(one: Floats, other: Floats) -> Learned:
    """From trials of either user."""
    x, y = inputs(one), inputs(other)
    difference = x.mean(axis=0) - y.mean(axis=0)
    covariance = np.atleast_2d((np.cov(x, rowvar=False) + np.cov(y, rowvar=False)) / 2.0)
    ridge = RIDGE * max(float(np.trace(covariance)) / len(difference), 1e-12)
    w = np.linalg.solve(covariance + ridge * np.eye(len(difference)), difference)
    size = float(np.linalg.norm(w))
    return Learned(w / size if size > 0.0 else w)


class Frequencies(NamedTuple):
    """ln of how often an outcome was seen of the first user, less that of the second; 0 for one never seen."""

    outcomes: Floats  # codes, sorted
    log_ratio: Floats
    releases: slice  # which are looked at
    name: str = "frequencies of answers"

    def __call__(self, seen: Floats) -> Floats:
        codes = code(seen[:, self.releases])
        at = np.minimum(np.searchsorted(self.outcomes, codes), len(self.outcomes) - 1)
        scores: Floats = np.where(self.outcomes[at] == codes, self.log_ratio[at], 0.0)
        return np.round(scores, SCORE_DIGITS)


def code(seen: Floats) -> Floats:
    """One number for each outcome of small integers."""
    flat = seen.reshape(len(seen), -1)
    weights = np.random.default_rng(0).random(flat.shape[1])  # outcomes that collide are taken for one
    codes: Floats = np.round(flat @ weights, SCORE_DIGITS)
    return codes


def count(one: Floats, other: Floats, releases: slice) -> Frequencies:
    """From trials of either user."""
    codes = [code(seen[:, releases]) for seen in (one, other)]
    outcomes = np.unique(np.concatenate(codes))
    seen = [np.bincount(np.searchsorted(outcomes, c), minlength=len(outcomes)) for c in codes]
    return Frequencies(outcomes, np.log(seen[0] + 0.5) - np.log(seen[1] + 0.5), releases)
