"""The local model audited in one run: a coin decides each user's data, and the attacker guesses the coins.

One run has as many canaries as users, because every user randomises her own data: user i has the data of one of
two users who are far apart, by a fair coin of her own. The attacker sees every report, scores it, guesses the
coins of the reports that speak clearly and abstains from the others. bounds.one_run_bound has the inequality.
How clearly a report must speak, and for answers out of a few also their score, is chosen on another run.
"""

import numpy as np

from dpucbvi.audit import neighbours
from dpucbvi.audit.attack import Finding, thresholds
from dpucbvi.audit.bounds import ALPHA, one_run_bound
from dpucbvi.audit.drive import Tape, begin, on_tape, releases
from dpucbvi.audit.laws import each_alone
from dpucbvi.audit.released import check_certifies, only_drawn_on_the_way, sends_answers
from dpucbvi.audit.scores import LikelihoodRatio, Score, count, rounded
from dpucbvi.engine.fast import FastRun
from dpucbvi.errors import InputError
from dpucbvi.protocol import Floats, Setup


def check(setup: Setup) -> None:
    """Raise InputError for what is not pure local privacy."""
    H, S, *_ = setup.problem
    only_drawn_on_the_way(setup, "one_run")
    check_certifies(setup)
    if setup.certificate.model != "LDP" or setup.certificate.delta > 0.0:
        raise InputError("attack: one_run is for local mechanisms of pure ε")
    if neighbours.how_many(H, S) > neighbours.TINY:
        raise InputError(f"env: an audit tries all users, and H = {H}, S = {S} has too many of them")
    if setup.certificate.replace_one == 0.0:
        raise InputError("K: nothing is released before the last user; an audit needs a release")


def attack(setup: Setup, rng: np.random.Generator, alpha: float = ALPHA) -> Finding:
    """The lower bound on ε from the K-1 users of one run."""
    check(setup)
    run = begin(setup)
    tape = on_tape(run.state)
    candidates = neighbours.all_users(setup.problem.H, setup.problem.S, run.memory.pi)
    if sends_answers(run.state):
        pair = neighbours.apart(candidates)
    else:
        sigma = neighbours.features(setup, candidates)
        pair = neighbours.worst_pair(sigma, run.state.source.scale, gaussian=False)
    training = _one_run(setup, run, tape, candidates, pair, rng)
    testing = _one_run(setup, run, tape, candidates, pair, rng)
    if sends_answers(run.state):
        coins, reports = training
        score: Score = count(reports[~coins], reports[coins], slice(None))
    else:
        one, other = sigma[pair[0]][None], sigma[pair[1]][None]
        score = LikelihoodRatio(each_alone(1), one, other, run.state.source.scale, gaussian=False)
    tau = _threshold(*_clear_and_correct(score, *training), alpha)
    clear, correct = _clear_and_correct(score, *testing)
    guesses, right = int(np.sum(clear >= tau)), int(np.sum(correct[clear >= tau]))
    bound = float(one_run_bound(np.array(right), np.array(guesses), alpha))
    return Finding(bound, f"{score.name}, one run", right, guesses - right, len(clear))


def _one_run(
    setup: Setup,
    run: FastRun,
    tape: Tape,
    candidates: neighbours.Users,
    pair: tuple[int, int],
    rng: np.random.Generator,
) -> tuple[np.ndarray, Floats]:
    """The coins, and every user's own report as [user, 1, value]."""
    coins = rng.random(setup.problem.K - 1) < 0.5
    seen = releases(run, tape, candidates.pick(np.where(coins, pair[1], pair[0])), 1, rng)[0]
    reports = np.diff(seen, axis=0, prepend=0.0)[:, None]
    return coins, np.round(reports) if sends_answers(run.state) else rounded(reports)


def _clear_and_correct(score: Score, coins: np.ndarray, reports: Floats) -> tuple[Floats, np.ndarray]:
    """How clearly every report speaks, and whether what it says is true."""
    scores = score(reports)
    return np.abs(scores), (scores < 0.0) == coins


def _threshold(clear: Floats, correct: np.ndarray, alpha: float) -> float:
    """From which clarity on to guess: the best bound on these users; never on a score of 0."""
    if not (clear > 0.0).any():
        return np.inf
    tau = thresholds(clear[clear > 0.0])
    guesses = np.array([np.sum(clear >= t) for t in tau])
    right = np.array([np.sum(correct[clear >= t]) for t in tau])
    return float(tau[int(np.argmax(one_run_bound(right, guesses, alpha)))])
