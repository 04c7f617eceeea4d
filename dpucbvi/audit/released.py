"""The attack on what is released: which of two users was among the others, from all counts or answers seen.

Under replace_one the second user is another one, under add_remove she is not there.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.audit import neighbours
from dpucbvi.audit.attack import Verdict, verdict
from dpucbvi.audit.broken import Broken
from dpucbvi.audit.drive import NO_FAULTS, Faults, Tape, begin, on_tape, releases, sends_answers
from dpucbvi.audit.laws import Law, each_alone, law
from dpucbvi.audit.neighbours import Users
from dpucbvi.audit.scores import LikelihoodRatio, Score, count, learn, rounded
from dpucbvi.engine.fast import FastRun
from dpucbvi.errors import InputError
from dpucbvi.privatizers import Batches
from dpucbvi.privatizers.release_mode import is_exact
from dpucbvi.privatizers.toeplitz import BLT
from dpucbvi.protocol import Floats, Ints, Setup

REPLACED = "replace_one"
MOST_USERS = 40  # an attack on more than so many has no power


class Case(NamedTuple):
    """Two worlds that differ in one user, each with the release it goes through."""

    run: FastRun
    worlds: tuple[Users, Users]
    tapes: tuple[Tape, Tape]
    faults: tuple[Faults, Faults]
    sigma: tuple[Floats, Floats]  # the users' statistics [user, counter]; empty if answers are sent
    scale: Floats  # as claimed; empty if answers are sent
    place: int  # of the user
    seen_after: Ints  # the users after whom something new is seen


def is_gaussian(setup: Setup) -> bool:
    return setup.certificate.mu_replace_one is not None


def only_drawn_on_the_way(setup: Setup, attack: str) -> None:
    """Raise InputError for noise that a trial of the compiled engine cannot draw anew."""
    if is_exact(setup.privatizer) or getattr(setup.privatizer, "factorisation", BLT) != BLT:
        raise InputError(
            f"attack: {attack} takes simulated noise that is drawn on the way; it must be released"
        )


def check_certifies(setup: Setup) -> None:
    if math.isinf(setup.certificate.replace_one):
        raise InputError("privatizer: an audit needs one that certifies something")


def check(setup: Setup, relation: str = REPLACED) -> None:
    """Raise InputError for a problem that is too large to attack, or has nothing to attack."""
    H, S, _, K, *_ = setup.problem
    answers = not hasattr(setup.privatizer, "scales")
    if relation != REPLACED and (answers or is_exact(setup.privatizer)):
        raise InputError("relation: add_remove takes simulated noise on sums; it must be replace_one here")
    check_certifies(setup)
    if neighbours.how_many(H, S) > neighbours.TINY:
        raise InputError(f"env: an audit tries all users, and H = {H}, S = {S} has too many of them")
    if not 2 <= K <= MOST_USERS:
        raise InputError(f"K: {K} is not accepted; an audit of releases takes 2 to {MOST_USERS}")
    if setup.certificate.replace_one == 0.0:
        raise InputError("K: nothing is released before the last user; an audit needs a release")


def prepare(setup: Setup, broken: Broken | None, relation: str = REPLACED) -> Case:
    """The worst pair of users in the worst place; all others are like the first, so none hides the second."""
    check(setup, relation)
    run = begin(setup)
    candidates = neighbours.all_users(setup.problem.H, setup.problem.S, run.memory.pi)
    n, seen_after, place = setup.problem.K - 1, when_seen(setup), 0
    if sends_answers(run.state):
        pair, scale, sigma = neighbours.apart(candidates), np.zeros(0), np.zeros((len(candidates.s), 0))
    else:
        scale = run.state.source.scale.copy()
        sigma = neighbours.features(setup, candidates, broken is None or not broken.unclipped)
        pair = neighbours.worst_pair(sigma, scale, setup.certificate.delta > 0.0)
        if relation != REPLACED:
            pair = (neighbours.largest(sigma, scale, setup.certificate.delta > 0.0),) * 2
        item = law(setup.privatizer, len(seen_after)).worst_item()
        place = int(seen_after[item - 1]) + 1 if item else 0
    half = n // 2 if broken is not None and broken.twice else n
    rows = [np.resize(np.where(np.arange(half) == place, who, pair[0]), n) for who in pair]
    states = [broken_state(setup, run.state, broken, sigma[r]) for r in rows]
    tapes = tuple(on_tape(state) for state in states)
    faults = [faults_of(broken, tape) for tape in tapes]
    one, other = sigma[rows[0]], sigma[rows[1]]
    if relation != REPLACED:
        faults[1] = faults[1]._replace(absent=place)
        other[place] = 0.0
    return Case(
        run,
        (candidates.pick(rows[0]), candidates.pick(rows[1])),
        (tapes[0], tapes[1]),
        (faults[0], faults[1]),
        (one, other),
        scale,
        place,
        seen_after,
    )


def when_seen(setup: Setup) -> Ints:
    """After which users (counted from 0) there is something new; answers are seen at once."""
    privatizer, n = setup.privatizer, setup.problem.K - 1
    if isinstance(privatizer, Batches):
        return privatizer.ends(setup.problem) - 1
    every = getattr(privatizer, "every", 1)
    return np.arange(every - 1, n, every)


def broken_state(setup: Setup, state: Any, broken: Broken | None, sigma: Floats) -> Any:
    return state if broken is None else broken.change(setup, state, sigma)


def faults_of(broken: Broken | None, tape: Tape) -> Faults:
    if broken is None:
        return NO_FAULTS
    forget = getattr(tape.state.mechanism, broken.forget) if broken.forget else NO_FAULTS.forget
    return Faults(broken.rewind, forget)


def draw(case: Case, which: int, trials: int, rng: np.random.Generator) -> Floats:
    """What is seen in so many trials of one world: [trial, release, value]."""
    seen = releases(case.run, case.tapes[which], case.worlds[which], trials, rng, case.faults[which])
    if case.scale.size == 0:  # her own answer: what she adds to the tallies
        before = seen[:, case.place - 1] if case.place else 0.0
        return np.round(seen[:, case.place] - before)[:, None]
    return rounded(seen[:, case.seen_after])


def likelihood_ratios(setup: Setup, case: Case) -> list[Score]:
    """The scores of who believes the claimed law, and of who suspects fresh noise in every release."""
    T = len(case.seen_after)
    released = [np.cumsum(sigma, axis=0)[case.seen_after] for sigma in case.sigma]

    def believing(law: Law, name: str) -> LikelihoodRatio:
        one, other = (law.undo @ sums for sums in released)
        return LikelihoodRatio(law, one, other, case.scale, setup.certificate.delta > 0.0, name)

    return [
        believing(law(setup.privatizer, T), "likelihood ratio"),
        believing(each_alone(T), "likelihood ratio, every release alone"),
    ]


def attack(
    setup: Setup, broken: Broken | None, trials: int, rng: np.random.Generator, relation: str = REPLACED
) -> Verdict:
    """The lower bound on ε, and on μ where the noise is Gaussian, under the relation."""
    case = prepare(setup, broken, relation)

    def scores(one: Floats, other: Floats) -> list[Score]:
        if case.scale.size == 0:
            return [count(one, other, slice(None))]
        return [*likelihood_ratios(setup, case), learn(one, other)]

    return verdict(
        lambda which, n: draw(case, which, n, rng), scores, trials, setup.certificate.delta, is_gaussian(setup)
    )
