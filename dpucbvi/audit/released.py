"""The attack on what is released: which of two users was among the others, from all counts or answers seen."""

from typing import Any, NamedTuple

import numpy as np

from dpucbvi.audit import neighbours
from dpucbvi.audit.attack import Verdict, verdict
from dpucbvi.audit.broken import Broken
from dpucbvi.audit.drive import NO_FAULTS, Faults, Tape, begin, on_tape, releases
from dpucbvi.audit.laws import Law, each_alone, law
from dpucbvi.audit.neighbours import Users
from dpucbvi.audit.scores import LikelihoodRatio, Score, count, learn, rounded
from dpucbvi.engine.fast import FastRun
from dpucbvi.errors import InputError
from dpucbvi.privatizers import Batches
from dpucbvi.protocol import Floats, Ints, Setup

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


def sends_answers(state: Any) -> bool:
    return not hasattr(state, "scale")


def check(setup: Setup) -> None:
    """Raise InputError for a problem that is too large to attack, or has nothing to attack."""
    H, S, _, K, *_ = setup.problem
    if setup.certificate.model == "none":
        raise InputError("privatizer: an audit needs one that certifies something")
    if neighbours.how_many(H, S) > neighbours.TINY:
        raise InputError(f"env: an audit tries all users, and H = {H}, S = {S} has too many of them")
    if not 2 <= K <= MOST_USERS:
        raise InputError(f"K: {K} is not accepted; an audit of releases takes 2 to {MOST_USERS}")
    if setup.certificate.replace_one == 0.0:
        raise InputError("K: nothing is released before the last user; an audit needs a release")


def prepare(setup: Setup, broken: Broken | None) -> Case:
    """The worst pair of users in the worst place; all others are like the first, so none hides the second."""
    check(setup)
    run = begin(setup)
    candidates = neighbours.all_users(setup.problem.H, setup.problem.S, run.memory.pi)
    n, seen_after, place = setup.problem.K - 1, when_seen(setup), 0
    if sends_answers(run.state):
        pair, scale, sigma = neighbours.apart(candidates), np.zeros(0), np.zeros((len(candidates.s), 0))
    else:
        scale, sigma = run.state.scale.copy(), neighbours.features(setup, candidates)
        pair = neighbours.worst_pair(sigma, scale, is_gaussian(setup))
        item = law(setup.privatizer, len(seen_after)).worst_item()
        place = int(seen_after[item - 1]) + 1 if item else 0
    half = n // 2 if broken is not None and broken.twice else n
    rows = [np.resize(np.where(np.arange(half) == place, who, pair[0]), n) for who in pair]
    states = [broken_state(setup, run.state, broken, sigma[r]) for r in rows]
    tapes = tuple(on_tape(state) for state in states)
    return Case(
        run,
        (candidates.pick(rows[0]), candidates.pick(rows[1])),
        (tapes[0], tapes[1]),
        (faults_of(broken, tapes[0]), faults_of(broken, tapes[1])),
        (sigma[rows[0]], sigma[rows[1]]),
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
    forget = getattr(tape.state, broken.forget) if broken.forget else NO_FAULTS.forget
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
        return LikelihoodRatio(law, one, other, case.scale, is_gaussian(setup), name)

    return [
        believing(law(setup.privatizer, T), "likelihood ratio"),
        believing(each_alone(T), "likelihood ratio, every release alone"),
    ]


def attack(setup: Setup, broken: Broken | None, trials: int, rng: np.random.Generator) -> Verdict:
    """The lower bound on ε, and on μ where the noise is Gaussian, if a user is replaced."""
    case = prepare(setup, broken)

    def scores(one: Floats, other: Floats) -> list[Score]:
        if case.scale.size == 0:
            return [count(one, other, slice(None))]
        return [*likelihood_ratios(setup, case), learn(one, other)]

    return verdict(
        lambda which, n: draw(case, which, n, rng), scores, trials, setup.certificate.delta, is_gaussian(setup)
    )
