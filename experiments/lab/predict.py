"""What a job will take, before it starts: time, memory and disk.

Time is in units of numpy's Laplace draw, measured here and now: `make bench` states such ratios because they
vary less than machines do (paper/results/speed.md). Expect a factor of two: a run that learns costs more per
episode than one that does not.

    compiled episode   40, 0.14 per counter of all steps, to plan, and 0.4 per counter that gets noise
    audit              90 per user of a trial, whose problem is tiny; 100 times that if the noise is exact
    LP checks          n numbers in all LPs of a run that cvxpy solves again, at once: 2,000 n + 0.035 n²
    memory             the MDP and what is made of it, the counters, log2 K nodes for each that a tree keeps
                       (more in a k-ary tree, one per release in Toeplitz with its square root in full),
                       and 5,000 bytes for each of the n numbers that cvxpy gets
"""

import math
import os
import time
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from dpucbvi.counts import counters
from dpucbvi.engine.lp_check import most_checked
from dpucbvi.errors import InputError
from dpucbvi.privatizers import KaryTree, Toeplitz
from dpucbvi.privatizers.release_mode import is_exact
from dpucbvi.privatizers.toeplitz import SQUARE_ROOT
from dpucbvi.protocol import Setup
from dpucbvi.simulate import MOST_EPISODES
from experiments.lab.settings import RunSettings

EPISODE = 40.0  # of a numpy draw; seen only where the problem is tiny
PLANNING, NOISE = 0.14, 0.4  # of a numpy draw, per counter and episode
REFERENCE, CVXPY = 200.0, 2158.0  # times the compiled engine
AUDIT, EXACT_AUDIT = 90.0, 9_000.0  # of a numpy draw, per user and trial: exact noise is not compiled
# Of a numpy draw, per number in the LPs that are checked, and per its square.
CHECK, CHECK_MORE = 2_000.0, 0.035
CHECK_BYTES = 5_000.0
PROCESS_BYTES = 350e6  # of a worker with everything imported
GIGABYTE = 1e9
DRAWS = 200_000


class Prediction(NamedTuple):
    """Of one run, or of a whole job: seconds of one core, bytes of memory of one worker, bytes on disk."""

    seconds: float
    memory: float
    disk: float


class Limits(Protocol):
    """What is accepted of a job; None: all that the machine has."""

    hours: float
    gigabytes: float | None


@cache
def draw_seconds() -> float:
    """Seconds that numpy takes for a Laplace draw, the least of five times: what else runs here only adds."""
    rng, seconds = np.random.default_rng(0), []
    for _ in range(5):
        start = time.process_time()
        rng.laplace(size=DRAWS)
        seconds.append(time.process_time() - start)
    return min(seconds) / DRAWS


def episodes(settings: RunSettings) -> int:
    """How many a run plays. An audit has K users in every trial, and one and a half times two users' trials."""
    c = settings.engine
    if c.name != "audit" or c.trials is None:
        return settings.K
    return settings.K * (2 if c.attack == "one_run" else 3 * c.trials)


def of_run(setup: Setup, settings: RunSettings) -> Prediction:
    """One run; its certificate says whether there is noise to draw."""
    (H, S, A), K, engine = setup.mdp.r.shape, setup.problem.K, settings.engine.name
    planned, noisy = (counters(*setup.problem.shape(G)) for G in (H, setup.G))
    private = setup.certificate.model != "none"
    episode = draw_seconds() * (EPISODE + PLANNING * planned + NOISE * noisy * private)
    if engine == "audit":
        episode = draw_seconds() * (EXACT_AUDIT if is_exact(setup.privatizer) else AUDIT)
    if engine == "reference":
        episode *= REFERENCE if isinstance(setup.postprocess, str) else CVXPY
    checked = _checked(setup) if engine == "fast" else 0
    checking = draw_seconds() * (CHECK * checked + CHECK_MORE * checked**2)
    state = 8.0 * (6 * planned + (6 + _kept(setup)) * noisy) + CHECK_BYTES * checked
    points = min(K, setup.trace_points)
    memory = PROCESS_BYTES + 24.0 * H * S * A * S + state
    disk = 12_000 + 10.0 * points + 16.0 * H * S * A
    return Prediction(episode * episodes(settings) + checking, memory, disk)


def _kept(setup: Setup) -> float:
    """How many vectors of noise a release keeps: the nodes of a binary tree, or what takes more than that."""
    privatizer, problem = setup.privatizer, setup.problem
    if isinstance(privatizer, Toeplitz) and privatizer.factorisation == SQUARE_ROOT:
        return privatizer.releases(problem)
    if isinstance(privatizer, KaryTree):
        return privatizer.spent(privatizer.releases(problem)).L * (privatizer.k + 1) / 2
    return math.log2(problem.K + 1)


def _checked(setup: Setup) -> int:
    """How many numbers are in the LPs of a compiled run that cvxpy solves again, at most."""
    if setup.postprocess != "closed_form":
        return 0
    return most_checked(setup.lp_checks, setup.problem.K) * setup.problem.next_states


def of_job(runs: list[Prediction]) -> Prediction:
    """All of them: times and disk add up, a worker has one run at a time."""
    return Prediction(
        sum(run.seconds for run in runs),
        max((run.memory for run in runs), default=0.0),
        sum(r.disk for r in runs),
    )


def check_environment(settings: RunSettings, limits: Limits) -> None:
    """Refuse an environment whose P alone does not fit, or whose runs take too long, before it is made."""
    env, K, entries = settings.env, settings.K, _entries(settings.env)
    noisy = settings.privatizer["name"] != "non_private" and not settings.agent.get("pooled")
    hours = draw_seconds() * (PLANNING + NOISE * noisy) * entries * K / 3600
    size = 24.0 * entries / GIGABYTE
    if size > (most := most_gigabytes(limits.gigabytes)):
        raise InputError(
            f"env: {env['name']} of this size takes {size:,.3g} GB, runtime.gigabytes accepts {most:,.3g}"
        )
    if settings.postprocess.known_support:
        return  # how many counters there are is known once it is made
    if hours > limits.hours and K <= MOST_EPISODES:  # else K itself is refused
        raise InputError(
            f"env: a run of {K:,} episodes on {env['name']} of this size takes {hours:,.3g} h or more, "
            f"runtime.hours accepts {limits.hours:g}"
        )


def check_job(job: Prediction, workers: int, limits: Limits) -> None:
    """Refuse a job that is predicted to take longer, or more memory, than is accepted."""
    predicted, most = job.seconds / workers / 3600, most_gigabytes(limits.gigabytes)
    if predicted > limits.hours:
        raise InputError(
            f"runtime.hours: this job is predicted to take {predicted:,.0f} h with {workers} workers "
            f"and {limits.hours:g} are accepted; make it smaller, or set runtime.hours"
        )
    if workers * job.memory / GIGABYTE > most:
        raise InputError(
            f"runtime.gigabytes: {workers} workers are predicted to take "
            f"{workers * job.memory / GIGABYTE:,.1f} GB and {most:,.1f} are accepted; "
            "take fewer workers, or set runtime.gigabytes"
        )


def most_gigabytes(accepted: float | None) -> float:
    """What is accepted, or else all that this machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / GIGABYTE if accepted is None else accepted


def _entries(env: dict[str, Any]) -> float:
    """H·S·A·S of an environment's settings; 0 if they do not say."""
    H, A = float(env.get("H", 1)), float(env.get("A", 2))
    if "depth" in env:  # of a tree
        levels = env["depth"] * math.log(max(A, 2.0)) / math.log(10)
        S = math.inf if levels > 100 else A ** (env["depth"] + 1) / max(A - 1, 1)
    elif "rows" in env:  # of a grid world
        S, A = float(env["rows"]) * float(env["columns"]), 4.0
    else:
        S = float(env.get("S", 0))
    return H * S * A * S
