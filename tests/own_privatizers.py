"""Privatizers that somebody else might bring: CONTRIBUTING's, as it is and with a mistake, and any answers."""

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import dpucbvi as dp
from dpucbvi.counts import add_user, counters, counting

TEXT = (Path(__file__).resolve().parents[1] / "CONTRIBUTING.md").read_text()


def contributing():
    """The class of CONTRIBUTING.md, without the line that gives it a name in conf/."""
    snippet = re.search(r"# dpucbvi/privatizers/fresh\.py\n(.*?)\nPRIVATIZERS\.add", TEXT, re.DOTALL)[1]
    names = {"__name__": "fresh"}
    exec(compile(snippet, "fresh.py", "exec"), names)
    return names["Fresh"]


Fresh = contributing()


class TenthOfTheNoise(Fresh):
    """Its noise divided by ten; it certifies what Fresh does."""

    def start(self, problem, G, seed):
        state = super().start(problem, G, seed)
        return state._replace(source=state.source._replace(scale=state.source.scale / 10.0))


@cache
def scale_of(privatizer, problem, G):
    return privatizer.noise_of(problem, G).scale


class OwnRelease(Fresh):
    """A release of its own, with numpy's noise, which no tape records."""

    times = 1.0

    def release(self, problem, G, seed):
        rng, sums = np.random.default_rng(seed), np.zeros(counters(*problem.shape(G)))
        scale = self.times * scale_of(self, problem, G)
        tally = counting(problem.shape(G), problem.H, self.families)

        def release(user):
            add_user(tally, sums, user)
            return sums + rng.laplace(scale=scale, size=sums.size)

        return SimpleNamespace(release=release)


class OwnTenth(OwnRelease):
    times = 0.1


class WhenPaid(OwnRelease):
    """Releases only after users who earn something: when is what she did."""

    def release(self, problem, G, seed):
        inner = super(OwnRelease, self).release(problem, G, seed)
        return SimpleNamespace(release=lambda user: inner.release(user) if user.r.sum() > 0.0 else None)


class MoreNoiseIfPaid(Fresh):
    """Draws once more for users who earn something."""

    @staticmethod
    def take(state, t, user, noisy):
        if user.r.sum() > 0.0:
            state.source.draw(state.noise.size)
        return Fresh.take(state, t, user, noisy)


class Mine:
    """A privatizer any part of whose answers can be replaced."""

    model, families = "JDP", "paper"

    def __init__(self, noise=dp.Noise(1.0, 3.0), certificate=dp.Certificate("JDP", 1.0, 2.0), released=None):  # noqa: B008
        self._noise, self._certificate, self._released = noise, certificate, released

    def noise_of(self, problem, G):
        return self._noise

    def certificate(self, problem, G):
        return self._certificate

    def release(self, *given):
        return self if len(given) == 3 else self._released
