"""How an attacker weighs what she sees: a number for every trial, large if it speaks for the first user.

    likelihood_ratio   from the noise as the replay has found it: the best there is, if its law is what it says
    learn              a linear rule (Fisher's) learned from trials, without a word about the mechanism: it
                       finds noise that is shared or missing, or that no tape has
    count              where outcomes are few: how often each was seen of either user
    low_bits           how many binary digits each number has after the point, which floating-point noise gives
                       away (Mironov, 2012)

What is seen is not rounded. Scores are, to 1e-9, so that the first two rest on the size of numbers and never on
their lowest bits, for which there is the last.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dpucbvi.audit.replay import Pair, Replay
from dpucbvi.protocol import Floats, Ints

SCORE_DIGITS = 9
RIDGE = 1e-6  # of the learned rule, relative to the mean variance
MOST_OUTCOMES = 2_000
DIGITS, SIZES = 60, 8  # that are told apart: after the point, and powers of 2 on either side of 1


class Score(NamedTuple):
    """A number for every trial, from [trial, value]."""

    name: str
    of: Callable[[Floats], Floats]

    def __call__(self, seen: Floats) -> Floats:
        return np.round(self.of(seen), SCORE_DIGITS)


def likelihood_ratio(found: Replay, pair: Pair, one: Floats, columns: Ints) -> Score:
    """ln of the density of the noise that the first user needs, less that of the second.

    `one` is what is released of the first user with the noise of the replay.
    """
    noise, base = found.responses, found.base
    moved = np.flatnonzero(np.abs(pair.shift) > 0.0)
    silent = (one - noise.B @ noise.noise[noise.used])[columns]  # where the first user's noise is 0
    undo, which = noise.undo[moved][:, columns], noise.used[moved]
    scale, gaussian = base.scale[which], base.gaussian[which]

    def ratio(seen: Floats) -> Floats:
        z = (seen - silent) @ undo.T / scale
        other = z + pair.shift[moved] / scale
        return np.where(gaussian, (other**2 - z**2) / 2.0, np.abs(other) - np.abs(z)).sum(axis=1)

    return Score("likelihood ratio", ratio)


def inputs(seen: Floats) -> Floats:
    """All that is seen, and for every number whether it is whole, which shows missing noise."""
    return np.concatenate([seen, seen == np.rint(seen)], axis=1)


def learn(one: Floats, other: Floats) -> Score:
    """Fisher's linear discriminant, learnt from trials of the first and of the second user.

    That is w·x with w = (Σ + ridge)⁻¹ (mean of the first user - mean of the second), of length 1.
    """
    x, y = inputs(one), inputs(other)
    difference = x.mean(axis=0) - y.mean(axis=0)
    covariance = np.atleast_2d((np.cov(x, rowvar=False) + np.cov(y, rowvar=False)) / 2.0)
    ridge = RIDGE * max(float(np.trace(covariance)) / len(difference), 1e-12)
    w = np.linalg.solve(covariance + ridge * np.eye(len(difference)), difference)
    size = float(np.linalg.norm(w))
    w = w / size if size > 0.0 else w
    return Score("learned rule", lambda seen: inputs(seen) @ w)


def code(seen: Floats) -> Floats:
    """One number for each outcome; those that collide are taken for one."""
    return np.round(seen @ np.random.default_rng(0).random(seen.shape[1]), SCORE_DIGITS)


def count(one: Floats, other: Floats) -> Score:
    """ln of how often an outcome was seen of the first user, less that of the second; 0 for one never seen."""
    codes = [code(seen) for seen in (one, other)]
    outcomes = np.unique(np.concatenate(codes))
    seen = [np.bincount(np.searchsorted(outcomes, c), minlength=len(outcomes)) for c in codes]
    log_ratio = np.log(seen[0] + 0.5) - np.log(seen[1] + 0.5)

    def frequency(seen: Floats) -> Floats:
        codes = code(seen)
        at = np.minimum(np.searchsorted(outcomes, codes), len(outcomes) - 1)
        return np.where(outcomes[at] == codes, log_ratio[at], 0.0)

    return Score("frequencies", frequency)


def few_outcomes(one: Floats, other: Floats) -> bool:
    return len(np.unique(code(np.concatenate([one, other])))) <= MOST_OUTCOMES


def kinds(seen: Floats) -> Ints:
    """The digits after the point that a number has, and its power of 2."""
    mantissa, exponent = np.frexp(seen)
    whole = (mantissa * 2.0**53).astype(np.int64)
    trailing = np.where(whole == 0, 53, np.log2(np.maximum(whole & -whole, 1)).astype(np.int64))
    digits = np.clip(53 - trailing - exponent, 0, DIGITS - 1)
    return digits * 2 * SIZES + np.clip(exponent + SIZES, 0, 2 * SIZES - 1)


def low_bits(one: Floats, other: Floats) -> Score:
    """Σ over the numbers of ln of how often such low bits were seen of the first user, less of the second."""
    tables = []
    for seen in (one, other):
        found = kinds(seen)
        tables.append([np.bincount(column, minlength=2 * SIZES * DIGITS) + 0.5 for column in found.T])
    log_ratio = np.log(tables[0]) - np.log(tables[1])  # [number, kind]
    n = len(log_ratio)
    return Score("lowest bits", lambda seen: log_ratio[np.arange(n), kinds(seen[:, :n])].sum(axis=1))
