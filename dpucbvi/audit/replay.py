"""Replay: one user is another, the releases stay what they were, and it is seen how far the noise had to move.

As in Re:cord-play (arXiv 2602.17454, version 1), a run is recorded and played again with the released values
frozen. All noise that a privatizer draws through privacy.draws.seeded, or through exact samplers, is on a tape.
What is released, y, is affine in that noise, and the matrix is read off the code, one noise at a time:

    y(x, z) = y(x, 0) + B z

With u' in the place of u the noise that gives the same releases is z + d, with B d = y(u, z) - y(u', z).
The density of the noise changes by at most e^ε on the way, and for Gaussian noise its mean moves by μ:

    Laplace   ε = Σ |d_i|/b_i         Gaussian   μ² = Σ d_i²/σ_i²         over all noises that were drawn

So an item that lies in more noisy sums than were accounted for, or noise that is smaller than it should be,
is found without a trial, to the last digit. Then both runs are played: with u' and z + d the releases must be
those of u and z, and so must release times, number and kind of all draws, for several z. What can be made the
same by no d has no noise that hides it.

What is made of releases may jump, as where a test decides how far to pool, and is not affine then. If a
privatizer says what it publishes (draws.published), y is that. What it goes on with is frozen at the y of one
run, and what it makes of that must stay the same to the bit.

A replay does not see the law of the noise, its lowest bits, or noise that is drawn elsewhere; attack.py does.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.audit import worlds
from dpucbvi.audit.worlds import World
from dpucbvi.counts import NO_STEPS, shape_of
from dpucbvi.errors import InputError
from dpucbvi.mdp import Trajectory
from dpucbvi.privacy.accounting import gaussian_mu, gdp_of_pure, zcdp_of_pure
from dpucbvi.privacy.certificate import Certificate
from dpucbvi.privacy.draws import Tape
from dpucbvi.privatizers.arrays import AddedNoise, ArrayRelease, has_take, is_exact
from dpucbvi.protocol import Floats, Release, Setup

RELATIONS = ("replace_one", "add_remove")
MOST_PLACES, NOISES = 8, 3
MOST_NOISES = 4000
FAR = 40.0  # so many scales above 0 no release is dropped or drawn again
ELSEWHERE = "it draws noise that is not from privacy.draws.seeded"
SELECTED = "how many noises it draws depends on them"
HIDDEN = "which of its noises can be seen depends on them"
CLOSE = 1e-7  # relative, for floating point
LARGE = 2.0**29  # beside a move of the noise by so much the rounding of draws.snapped is nothing
DIGITS = 8  # to which losses are compared with each other
EXACTLY = 1e-9  # by which a loss may exceed its certificate, relatively


class Unlike(Exception):
    """What the noise cannot hide: says what has moved."""


class NotReplayed(Exception):
    """The noise cannot be followed: says why."""


class Played(NamedTuple):
    """What is seen of a run: the released values, one after the other, and when; and which noises it drew."""

    values: Floats
    when: tuple[int, ...]
    drawn: list[tuple[Floats, bool]]  # scales and law (True: Gaussian), vector by vector
    left: list[np.ndarray]  # what was published (draws.published), of which all else is made
    made: Floats  # what was made of it, if it was frozen

    @property
    def sizes(self) -> list[int]:
        return [scale.size for scale, _ in self.drawn]

    @property
    def scale(self) -> Floats:
        """Of all noises."""
        return joined([scale for scale, _ in self.drawn])

    @property
    def gaussian(self) -> np.ndarray:
        return np.repeat([kind for _, kind in self.drawn], self.sizes).astype(bool)

    def check_like(self, other: "Played") -> None:
        if self.when != other.when or self.values.size != other.values.size:
            raise Unlike("when something is released depends on her data")
        same = self.sizes == other.sizes and np.array_equal(self.gaussian, other.gaussian)
        if not (same and np.array_equal(self.scale, other.scale)):
            raise Unlike("which noise is drawn depends on her data")
        if not np.array_equal(self.made, other.made):
            raise Unlike("what is made of the releases depends on her data besides")


def joined(parts: list[Any]) -> Floats:
    return np.concatenate([np.zeros(0), *(part.ravel() for part in parts)])


def release_of(
    privatizer: Any, setup: Setup, seed: np.random.SeedSequence, exact: Callable[..., Any]
) -> Release:
    """The release at work; of one made of arrays, the function of both engines. `exact` draws exact noise."""
    if isinstance(privatizer, AddedNoise) and privatizer.exact:
        return privatizer.release(setup.problem, setup.G, seed, exact)
    if has_take(privatizer):
        state = privatizer.start(setup.problem, setup.G, seed)
        return ArrayRelease(privatizer, state, shape_of(setup.problem, setup.G, privatizer.families))
    return privatizer.release(setup.problem, setup.G, seed)


class Integers(NamedTuple):
    """Exact noise on tape, in the place of law.ExactDraws."""

    tape: Tape
    scale: Floats
    gaussian: bool

    def draw(self, n: int) -> np.ndarray:
        return np.rint(self.tape.draw(self.scale[:n], self.gaussian)).astype(np.int64)


def on_tape(tape: Tape) -> Callable[..., Integers]:
    """The kind of exact source whose noise is the tape's."""

    def source(_words: Any, scale: Any, sizes: Any, gaussian: bool) -> Integers:
        each = np.repeat(scale[:, 0].astype(np.float64) / scale[:, 1], sizes)
        return Integers(tape, np.sqrt(each) if gaussian else each, gaussian)

    return source


def play(
    setup: Setup, world: World, noise: Floats | float, entropy: int = 0, frozen: Played | None = None
) -> Played:
    """The run with this noise, all that is drawn in one vector; or so many scales of it everywhere.

    With `frozen`, the values are what leaves, and what left of that run goes on in its place.
    """
    at = [0]

    def given(_i: int, scale: Floats) -> Floats:
        at[0] += scale.size
        if isinstance(noise, float) or at[0] > noise.size:  # more than were recorded is seen by check_like
            return FAR * scale
        return noise[at[0] - scale.size : at[0]]

    tape = Tape(given, entropy, () if frozen is None else frozen.left)
    at_work, seen, when = release_of(setup.privatizer, setup, tape, on_tape(tape)), [], []
    for t, user in enumerate(world.people()):
        released = at_work.release(user)
        if released is not None:
            seen.append(released.astype(np.float64))
            when.append(t)
    values, made = (seen, []) if frozen is None else (tape.left, seen)
    return Played(joined(values), tuple(when), tape.drawn, tape.left, joined(made))


class Responses(NamedTuple):
    """B for the noises that are released at all, its inverse, and the noise around which it was read off."""

    B: Floats  # [value, noise]
    undo: Floats  # [noise, value]
    used: np.ndarray  # which noises these are
    noise: Floats  # all of them
    unique: bool  # whether what is released determines the noise


def responses(
    setup: Setup, world: World, base: Played, noise: Floats, frozen: Played | None = None
) -> Responses:
    """B around this noise, read off the code: the releases with one noise larger, less those without.

    A weight that is no integer was rounded with its release. It is read off a larger move, if that agrees.
    """
    exact = is_exact(setup.privatizer)
    step = np.maximum(np.rint(base.scale), 1.0) * (base.scale > 0.0) if exact else base.scale
    if noise.size > MOST_NOISES:
        raise InputError(f"K: {noise.size:,} noises are too many to replay; a smaller H, S, A or K is needed")
    B, at = np.zeros((base.values.size, noise.size)), play(setup, world, noise, frozen=frozen).values

    def column(j: int, move: float) -> Floats:
        moved = noise.copy()
        moved[j] += move
        return (play(setup, world, moved, frozen=frozen).values - at) / move

    for j in np.flatnonzero(step).tolist():
        B[:, j] = near = column(j, step[j])
        if not (exact or np.allclose(near, np.rint(near), rtol=0.0, atol=1e-12)):
            far = column(j, LARGE)
            B[:, j] = far if np.abs(far - near).max() * step[j] < 2.0**-19 else near
    B[np.abs(B) < CLOSE] = 0.0
    used = np.flatnonzero(B.any(axis=0))
    inverse = np.linalg.pinv(B[:, used] * base.scale[used]) * base.scale[used][:, None]
    return Responses(B[:, used], inverse, used, noise, np.linalg.matrix_rank(B[:, used]) == used.size)


def losses(shifts: Floats, scale: Floats, gaussian: np.ndarray, certificate: Certificate) -> Floats:
    """How far the noise moves: ε, where Gaussian noise has no place; else μ, to which Laplace noise adds.

    What is exact has a ρ and no μ, and √(2ρ) takes its place.
    """
    each = np.abs(shifts) / scale
    epsilon, mu = each[:, ~gaussian].sum(axis=1), np.sqrt(np.square(each[:, gaussian]).sum(axis=1))
    if certificate.delta == 0.0:
        return np.where(mu > 0.0, np.inf, epsilon)
    if not epsilon.any():
        return mu
    exact = math.isinf(certificate.mu("replace_one"))
    pure = [math.sqrt(2.0 * zcdp_of_pure(one)) if exact else gdp_of_pure(one) for one in epsilon.tolist()]
    return np.hypot(mu, pure)


def declared(certificate: Certificate, relation: str) -> float:
    """What a loss is compared with: ε, or the μ of (ε, δ)."""
    if certificate.delta == 0.0:
        return certificate.epsilon(relation)
    mu = certificate.mu(relation)
    if math.isfinite(mu):
        return mu
    rho = certificate.rho(relation)
    if math.isfinite(rho):
        return math.sqrt(2.0 * rho)
    return gaussian_mu(certificate.epsilon(relation), certificate.delta)


class Pair(NamedTuple):
    """Two users for one place, and by how much the noise must move from one to the other."""

    place: int
    one: Trajectory
    other: Trajectory
    shift: Floats  # of the noises in Responses.used
    found: float  # ε or μ


def pairs(place: int, found: float, *users: tuple[Trajectory, Trajectory]) -> dict[str, Pair]:
    """Two users under each relation where no noise says how far they are apart."""
    return {key: Pair(place, *two, np.zeros(0), found) for key, two in zip(RELATIONS, users, strict=True)}


def replay(setup: Setup, world: World, rng: np.random.Generator) -> "Replay":
    """The worst neighbours of a run, by what was published if what is handed on jumps."""
    found = Replay(setup, world, rng)
    if found.base.left and not found.hides:
        beneath = Replay(setup, world, rng.spawn(1)[0], frozen=found.base)
        if beneath.hides or found.wrong is None:
            # No score is made of these shifts: attacks see what is handed on.
            beneath.worst = {key: pair._replace(shift=np.zeros(0)) for key, pair in beneath.worst.items()}
            return beneath
    return found


class Replay:
    """The search for the worst pair, place by place; with `frozen`, by what was published.

    `worst` is the worst pair under each relation, of `tried` users. `wrong` says what has moved, if no noise
    can follow; `not_replayed`, why the loss is not that of the pairs.
    """

    def __init__(self, setup: Setup, world: World, rng: np.random.Generator, frozen: Played | None = None):
        self._setup, self._world, self._rng = setup, world, rng
        self._play = partial(play, setup, frozen=frozen)
        self.base = self._play(world, FAR)
        self._responses = partial(responses, setup, world, self.base, frozen=frozen)
        far = FAR * self.base.scale
        self.responses = self._responses(np.rint(far) if is_exact(setup.privatizer) else far)
        self._values = self._play(world, self.responses.noise).values
        self.worst, self.tried = dict[str, Pair](), 0
        self.wrong: str | None = None
        self.not_replayed: str | None = None
        if not np.array_equal(self.base.values, self._play(world, FAR, entropy=1).values):
            one, other = worlds.two_who_stay(setup.problem, world.policies[0])
            self.not_replayed, self.worst = ELSEWHERE, pairs(0, 0.0, (one, other), (one, NO_STEPS))
            return
        try:
            self._search()
        except NotReplayed as error:
            self.not_replayed = str(error)
        except Unlike as error:
            self.wrong, (place, user), there = str(error), self._last, world.users[self._last[0]]
            self.worst = pairs(place, math.inf, (there, user), (NO_STEPS, there))

    @property
    def hides(self) -> bool:
        """Whether noise can hide every user that was tried."""
        return self.wrong is None and self.not_replayed is None

    def _search(self) -> None:
        users = len(self._world.users)
        for place in np.unique(np.linspace(0, users - 1, MOST_PLACES).astype(np.int64)).tolist():
            people = worlds.candidates(self._setup.problem, self._world.policies[place], self._rng)
            moves = np.array([self._moved(place, user) for user in people])
            for i, one in enumerate(moves):
                self._note("replace_one", place, people, moves - one, i)
            self._note("add_remove", place, people, moves - moves[0], 0)
            self._check(place, people, moves)
        if not self.responses.unique:
            self.worst = {relation: self._least(pair) for relation, pair in self.worst.items()}

    def _moved(self, place: int, user: Trajectory) -> Floats:
        """How far the noise moves if she takes the place of who is there; Unlike if no noise can follow."""
        self.tried, self._last = self.tried + 1, (place, user)
        seen = self._play(self._world.with_user(place, user), self.responses.noise)
        seen.check_like(self.base)
        change = self._values - seen.values
        shift = self.responses.undo @ change
        shift[np.abs(shift) < CLOSE * self.base.scale[self.responses.used]] = 0.0
        if np.abs(self.responses.B @ shift - change).max(initial=0.0) > CLOSE * (
            1.0 + np.abs(change).max(initial=0.0)
        ):
            raise Unlike("what is released depends on her data by more than the noise can hide")
        return shift

    def _note(self, relation: str, place: int, people: list[Trajectory], shifts: Floats, i: int) -> None:
        """Keep the worst of these pairs, all with person i as the first."""
        used, moved = self.responses.used, (np.abs(shifts) > 0.0).sum(axis=1)
        found = losses(shifts, self.base.scale[used], self.base.gaussian[used], self._setup.certificate)
        j = int(np.lexsort((moved, -np.round(found, DIGITS)))[0])  # of equals, who moves fewest noises
        key, best = (round(float(found[j]), DIGITS), -int(moved[j])), self.worst.get(relation)
        if best is None or key > (round(best.found, DIGITS), -int((np.abs(best.shift) > 0.0).sum())):
            self.worst[relation] = Pair(place, people[i], people[j], shifts[j], float(found[j]))

    def _check(self, place: int, people: list[Trajectory], moves: Floats) -> None:
        """Play both worlds: with the noise moved, what is released stays what it was."""
        used, scale, exact = self.responses.used, self.base.scale, is_exact(self._setup.privatizer)
        noises = [self.responses.noise, *(scale * self._rng.laplace(size=scale.size) for _ in range(NOISES))]
        for user, shift in zip(people, moves, strict=True):
            self._last, noise = (place, user), noises[int(self._rng.integers(len(noises)))]
            noise = np.rint(noise) if exact else noise
            moved = noise.copy()
            moved[used] += shift
            before = self._play(self._world, noise)
            after = self._play(self._world.with_user(place, user), moved)
            if before.sizes != self.base.sizes:
                raise NotReplayed(SELECTED)
            after.check_like(before)
            if not np.allclose(after.values, before.values, rtol=CLOSE, atol=CLOSE):
                there = self._responses(noise)
                if not (there.unique and np.array_equal(there.used, used)):
                    raise NotReplayed(HIDDEN)
                raise Unlike("what is released depends on her data though the noise has followed it")

    def _least(self, pair: Pair) -> Pair:
        """The smallest move of Laplace noise that gives the same releases, where there are several."""
        from scipy.optimize import linprog  # slow to import, and seldom needed

        used, B = self.responses.used, self.responses.B
        if self.base.gaussian[used].any():
            return pair  # the inverse has the smallest already
        scale = self.base.scale[used]
        both = np.hstack([B * scale, -B * scale])
        solved = linprog(np.ones(2 * used.size), A_eq=both, b_eq=B @ pair.shift, bounds=(0.0, None))
        return pair._replace(found=float(solved.fun)) if solved.success else pair
