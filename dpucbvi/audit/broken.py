"""Releases that are broken on purpose: an audit that lets one of them pass is broken itself.

Each is the compiled release of a privatizer with its state changed, or driven wrongly. None of them is a
privatizer, and none has a certificate: it pretends to be the privatizer that it was made from.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.privatizers import (
    Batches,
    Central,
    GaussianTree,
    KaryTree,
    Local,
    LocalGaussian,
    Toeplitz,
)
from dpucbvi.privatizers.release_mode import is_exact
from dpucbvi.protocol import Floats, Setup

NOISY = (Central, Local, KaryTree, GaussianTree, Toeplitz, Batches, LocalGaussian)


class Broken(NamedTuple):
    """What is wrong in words, of which privatizers, and how the state is changed."""

    words: str
    of: tuple[type, ...]
    change: Callable[[Setup, Any, Floats], Any] = lambda _setup, state, _sigma: state
    rewind: bool = False  # the same noise for every user
    forget: str | None = None  # the array of the mechanism that is emptied before every release
    twice: bool = False  # the users come again
    unclipped: bool = False  # all visits count where the first so many should


def _scaled(state: Any, factor: Any) -> Any:
    return _with_source(state, scale=np.ascontiguousarray(state.source.scale * factor))


def _with_source(state: Any, **changed: Any) -> Any:
    return state._replace(source=state.source._replace(**changed))


def _levels(setup: Setup) -> int:
    assert isinstance(setup.privatizer, Central)
    return setup.privatizer.spent(setup.privatizer.releases(setup.problem)).L


def _rewards(setup: Setup, state: Any) -> Any:
    """Which released counters are rewards."""
    n = setup.G * setup.problem.S * setup.problem.A
    return np.arange(state.source.scale.size) >= state.source.scale.size - n


def _rewards_once_more(setup: Setup, state: Any, _sigma: Floats) -> Any:
    """The counts spend all of ε between them, and rewards their share again."""
    share = 1.0 - float(_families(setup).R)
    return _scaled(state, np.where(_rewards(setup, state), 1.0, share))


def _families(setup: Setup) -> Any:
    from dpucbvi.counts import FAMILIES

    return FAMILIES[setup.privatizer.families]


def _one_word(_setup: Setup, state: Any, _sigma: Floats) -> Any:
    """All counters read the same word: its place in memory is one and the same."""
    words = np.lib.stride_tricks.as_strided(np.zeros(1, dtype=np.uint64), state.source.words.shape, (0,))
    return _with_source(state, words=words)


BROKEN = {
    "half_scale": Broken("half the noise scale", NOISY, lambda _c, state, _s: _scaled(state, 0.5)),
    "natural_log": Broken(
        "ln K for log₂ K levels",
        (Central,),
        lambda c, state, _s: _scaled(state, math.log(c.problem.K) / _levels(c)),
    ),
    "level_short": Broken(
        "one level short", (Central,), lambda c, state, _s: _scaled(state, (_levels(c) - 1) / _levels(c))
    ),
    "fresh_noise": Broken("fresh noise in every release", (Central, GaussianTree), forget="cumulative"),
    "one_stream": Broken("one noise for all counters", (Central, Local, KaryTree), _one_word),
    "rewards_without_noise": Broken(
        "rewards without noise", NOISY, lambda c, state, _s: _scaled(state, ~_rewards(c, state) * 1.0)
    ),
    "rewards_outside_budget": Broken("rewards outside the budget", NOISY, _rewards_once_more),
    "noise_reused": Broken("noise reused between users", (Local, LocalGaussian), rewind=True),
    "batch_twice": Broken("a batch released twice", (Batches,), twice=True),
    "visited_only": Broken(
        "noise on visited cells only",
        (Batches,),
        lambda _c, state, sigma: _scaled(state, (np.abs(sigma).sum(axis=0) > 0.0) * 1.0),
    ),
    "pooled_as_per_step": Broken(
        "ℓ2 sensitivity √H too small (pooled)",
        (GaussianTree, Toeplitz, Batches, LocalGaussian),
        lambda c, state, _s: _scaled(state, 1.0 / math.sqrt(c.problem.H)),
    ),
    "unclipped": Broken(
        "noise for clipped visits, none clipped",
        (GaussianTree, Toeplitz, Batches, LocalGaussian),
        lambda _c, state, _s: state._replace(counting=state.counting._replace(clip=0)),
        unclipped=True,
    ),
}


def broken(name: str | None, setup: Setup) -> Broken | None:
    """The broken release of this name; InputError if there is none of this privatizer."""
    if name is None:
        return None
    if name not in BROKEN:
        raise InputError(f"broken: {name!r} is not accepted; it must be null or one of {', '.join(BROKEN)}")
    if not isinstance(setup.privatizer, BROKEN[name].of):
        takes = ", ".join(kind.__name__ for kind in BROKEN[name].of)
        raise InputError(f"broken: {name} is made of {takes}, not of {type(setup.privatizer).__name__}")
    if name == "pooled_as_per_step" and (setup.G > 1 or setup.problem.H == 1):
        raise InputError("broken: pooled_as_per_step needs pooled counts and H >= 2")
    if name == "unclipped" and getattr(setup.privatizer, "clip", None) is None:
        raise InputError("broken: unclipped needs a privatizer with clip")
    if is_exact(setup.privatizer):
        raise InputError("broken: it is made of a release with simulated noise; it must be null")
    return BROKEN[name]
