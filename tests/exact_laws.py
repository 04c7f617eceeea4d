"""One law at a time, by the reference or compiled; what gives floats away; a user's statistics in integers."""

import math
from fractions import Fraction

import numpy as np

from dpucbvi.counts import CENTRE, as_counts, statistics
from dpucbvi.engine.compiled import compiled
from dpucbvi.engine.exact import gaussian_draws, laplace_draws
from dpucbvi.privacy import exact
from dpucbvi.privacy.gaussian import gaussian_from_words
from dpucbvi.privacy.words import Words

one_response = compiled(exact.response)


class GaussianStream:
    """Independent N(0, 1) variates from one seeded SFC64 generator."""

    def __init__(self, seed):
        self._words = np.random.SFC64(seed)

    def draw(self, n):
        return gaussian_from_words(self._words.random_raw(2 * ((n + 1) // 2)))[:n]

    def state(self):
        """The generator's four words (a, b, c, counter)."""
        return np.array(self._words.state["state"]["state"], dtype=np.uint64)


class ExactLaplace:
    """Independent discrete Laplace variates of scale t from one source of words."""

    def __init__(self, t, source):
        (self.n, self.d), self.t, self.source = exact.parts("t", t), Fraction(t), source

    def draw(self, n):
        return np.array([exact.discrete_laplace(self.t, self.source) for _ in range(n)], dtype=np.int64)


class ExactGaussian:
    """Independent discrete Gaussian variates of parameter σ²."""

    def __init__(self, sigma2, source):
        (self.n, self.d), self.sigma2, self.source = exact.parts("sigma2", sigma2), Fraction(sigma2), source

    def draw(self, n):
        return np.array([exact.discrete_gaussian(self.sigma2, self.source) for _ in range(n)], dtype=np.int64)


class CompiledLaplace(ExactLaplace):
    def draw(self, n):
        return compiled_draw(laplace_draws, (self.n, self.d), self.source, n)


class CompiledGaussian(ExactGaussian):
    def draw(self, n):
        scale = self.n, self.d, math.isqrt(self.n // self.d) + 1
        return compiled_draw(gaussian_draws, scale, self.source, n)


class ExactCoins:
    """Public coins, and answers that hide the truth by ε, from one source of words."""

    def __init__(self, epsilon, source):
        (self.n, self.d), self.source = exact.parts("epsilon", epsilon), source

    def below(self, n):
        return exact.uniform_below(n, self.source)

    def response(self, truth, d):
        return exact.response(truth, d, self.n, self.d, self.source)


class CompiledCoins(ExactCoins):
    def response(self, truth, d):
        return int(one_response(truth, d, self.n, self.d, Words._make(self.source)))


def compiled_draw(draws, scale, source, n):
    out = np.empty(n, dtype=np.int64)
    draws(tuple(np.uint64(number) for number in scale), Words._make(source), out)
    return out


def laplace_pmf(x, t):
    return np.exp(-np.abs(x) / t) * np.tanh(0.5 / t)


def gaussian_pmf(x, sigma2):
    reach = math.ceil(16 * math.sqrt(sigma2)) + 2
    total = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * sigma2)).sum()
    return np.exp(-(x**2) / (2 * sigma2)) / total


def fine_bits(y):
    return (np.abs(y) < 0.5) & (np.rint(y * 2.0**53) != y * 2.0**53)


def in_units(trajectory, G, S, A, families, clip=None, grid=1000):
    """σ in integers, rewards in units of 1/grid: all of them lie on the grid."""
    units = [round(grid * r) for r in trajectory.r]
    assert (np.array(units) / grid == trajectory.r).all()
    sigma = statistics(trajectory._replace(r=np.array(units) / grid), G, S, A, families, clip)
    counts = as_counts(sigma, G, S, A)
    counts.R[:] *= grid
    whole = np.rint(sigma).astype(np.int64)
    assert np.abs(whole - sigma).max() < 1e-6 and grid * CENTRE == grid // 2
    return whole
