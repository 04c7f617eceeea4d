"""Privatizers that are broken on purpose: an audit that lets one of them pass is broken itself.

Each pretends to be the privatizer that it was made from, with its certificate, and does one thing wrong: its
`take` makes a mistake that has been made, or its noise is too small. None of them has a name in conf/.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.counts import add_user
from dpucbvi.errors import InputError, check_name
from dpucbvi.privacy.draws import fill
from dpucbvi.privatizers import Batches, Central, Local, Toeplitz, Windows
from dpucbvi.privatizers.arrays import Arrays, Take
from dpucbvi.privatizers.batches import ended, show
from dpucbvi.privatizers.local import SentSums
from dpucbvi.privatizers.release_mode import is_exact
from dpucbvi.privatizers.windows import add_counts, learn
from dpucbvi.protocol import Noisy, Problem, Setup, User


class Mistake(NamedTuple):
    """What is wrong in words, made of which privatizer: another `take` than its own, or smaller noise."""

    words: str
    of: type
    take: Callable[[Take], Take] = lambda take: take
    factor: Callable[[Problem], float] = lambda _: 1.0  # of the noise


@dataclass(frozen=True)
class Broken(Arrays):
    """A privatizer with a mistake; all that it says of itself is what the privatizer says."""

    inner: Any
    mistake: Mistake

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @property
    def take(self) -> Take:  # type: ignore[override]
        return self.mistake.take(self.inner.take)

    def start(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Any:
        state = self.inner.start(problem, G, seed)
        if not hasattr(state, "source"):  # windows have two
            return state
        scale = np.ascontiguousarray(state.source.scale * self.mistake.factor(problem))
        return state._replace(source=state.source._replace(scale=scale))


def fresh_noise(take: Take) -> Take:
    """The tree forgets its nodes: every release has new noise, as if nothing composed."""

    def broken(state: Any, t: int, user: User, noisy: Noisy) -> bool:
        state.mechanism.cumulative[:] = 0.0
        return take(state, t, user, noisy)

    return broken


def one_noise(_take: Take) -> Take:
    """One noise for all counters."""

    def broken(state: SentSums, t: int, user: User, noisy: Noisy) -> bool:
        first = state.counting.first
        fill(state.source, state.sent[first:])
        state.sent[first:] = state.sent[first]
        add_user(state.counting, state.sent, user)
        state.sum[:] += state.sent
        noisy.counts[first:] = state.sum[first:]
        return True

    return broken


def claimed_policy(take: Take) -> Take:
    """The cells that get noise are those of the actions that a message claims, not of the policy issued."""

    def broken(state: Any, t: int, user: User, noisy: Noisy) -> bool:
        H, S = user.pi.shape
        claimed = np.zeros((H, S, state.counting.A))
        for h in range(user.a.size):
            claimed[h, user.s[h], user.a[h]] = 1.0
        return take(state, t, User(user.s, user.a, user.r, claimed, user.place), noisy)

    return broken


def count_her(state: Any, user: User) -> None:
    """The user goes into the batch that fills."""
    add_user(state.counting, state.batch, user)
    show(user.pi, state.counting.G, state.counting.A, state.shown)


def two_batches(take: Take) -> Take:
    """The last user of a batch is counted in the next one too."""

    def broken(state: Any, t: int, user: User, noisy: Noisy) -> bool:
        new = take(state, t, user, noisy)
        if new:
            count_her(state, user)
        return new

    return broken


def released_again(take: Take) -> Take:
    """A backup from before the first release is restored: its batch is released again, with fresh noise."""

    def broken(state: Any, t: int, user: User, noisy: Noisy) -> bool:
        batch, total = state.batch.copy(), state.total.copy()
        new = take(state, t, user, noisy)
        if new and state.closed[0] == 1:
            state.batch[:], state.total[:] = batch, total
            count_her(state, user)
        return new

    return broken


def retried(take: Take) -> Take:
    """A planner fails on a negative count, and the release is tried again until it does not."""

    def broken(state: Any, t: int, user: User, noisy: Noisy) -> bool:
        batch, total, shown = state.batch.copy(), state.total.copy(), state.shown.copy()
        closed, cell = state.closed[0], state.counting.first
        new = take(state, t, user, noisy)
        while new and state.total[cell] - total[cell] < 0.0:
            state.batch[:], state.total[:], state.shown[:], state.closed[0] = batch, total, shown, closed
            new = take(state, t, user, noisy)
        return new

    return broken


def chosen_by_its_data(take: Take) -> Take:
    """A batch is released for all steps together if there are many visits of the first pair in it."""

    def broken(state: Any, t: int, user: User, noisy: Noisy) -> bool:
        visits, rows = 0.0, state.counting.G * state.counting.pairs
        for d in range(state.counting.D):
            visits += state.batch[(1 + d) * rows]
        return take(state._replace(pooled=state.ends.size if visits > 0.0 else 0), t, user, noisy)

    return broken


def noise_of_a_pair(_take: Take) -> Take:
    """Counts per step with the noise of pooled counts: one for all steps of a pair."""

    def broken(state: Any, t: int, user: User, noisy: Noisy) -> bool:
        D, H, pairs = state.counting.D, state.counting.G, state.counting.pairs
        count_her(state, user)
        if not ended(t, state.ends, state.closed):
            return False
        fill(state.coarse, state.coarse_noise)
        of_pair, of_step = state.coarse_noise.reshape((D, pairs)), state.fine_noise.reshape((D, H, pairs))
        for h in range(H):
            of_step[:, h] = of_pair
        learn(state, add_counts(state, state.levels.tree.level[-1], state.fine_noise), noisy)
        return True

    return broken


BROKEN = {
    "ten_percent": Mistake("noise 10% too small", Central, factor=lambda _: 0.9),
    "three_percent": Mistake("noise 3% too small", Batches, factor=lambda _: 0.97),
    "pooled_as_per_step": Mistake(
        "ℓ2 sensitivity √H too small (pooled)", Toeplitz, factor=lambda problem: 1.0 / math.sqrt(problem.H)
    ),
    "fresh_noise": Mistake("fresh noise in every release", Central, fresh_noise),
    "one_noise": Mistake("one noise for all counters", Local, one_noise),
    "claimed_policy": Mistake("cells of the claimed policy", Batches, claimed_policy),
    "two_batches": Mistake("a user in two batches", Batches, two_batches),
    "released_again": Mistake("a batch released again after a restore", Batches, released_again),
    "retried": Mistake("a release tried again when planning fails", Batches, retried),
    "two_windows": Mistake("a user in two batches of windows", Windows, two_batches),
    "chosen_by_its_data": Mistake("a level that a batch's own data choose", Windows, chosen_by_its_data),
    "noise_of_a_pair": Mistake("pooled noise on counts per step", Windows, noise_of_a_pair),
}


def broken(name: str, setup: Setup) -> Setup:
    """The setup with this mistake in its privatizer; InputError if there is none of it."""
    check_name("broken", name, BROKEN)
    mistake = BROKEN[name]
    if type(setup.privatizer) is not mistake.of or is_exact(setup.privatizer):
        raise InputError(f"broken: {name} needs {mistake.of.__name__} with simulated noise")
    if name == "pooled_as_per_step" and (setup.G > 1 or setup.problem.H == 1):
        raise InputError("broken: pooled_as_per_step needs pooled counts and H >= 2")
    return setup._replace(privatizer=Broken(setup.privatizer, mistake))
