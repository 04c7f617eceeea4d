"""Compute one seed of every shipped arm afresh and compare it, bit for bit, with what ships.

    python experiments/verify.py [name ...] [--minutes 10] [--workers 2]

All runs together take about the minutes given, so a long run is computed to a part of its episodes. It is
compared at the stored episodes up to there; the table says which was the last of them. How far that is follows
from the seconds that ship with a run: the same episodes are compared everywhere. An audit and a run of the
reference engine have no parts: they are computed if they took at most a hundredth of the time. The LPs that
check a compiled run are not solved again, because no number of the trace depends on them. What cannot be read
or computed counts as different, and the rest is compared.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import argparse
import signal
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C during the imports ends without a traceback

import numpy as np
from joblib import Parallel, delayed

from dpucbvi.archive import PER_EPISODE
from dpucbvi.errors import InputError, check_number, whole
from dpucbvi.protocol import Floats, Setup
from dpucbvi.simulate import run_setup
from dpucbvi.trace import Trace
from experiments.lab.assemble import assemble
from experiments.lab.command import parser, told
from experiments.lab.compose import any_line, named
from experiments.lab.process import few
from experiments.lab.runner import audit_run, compile_first
from experiments.lab.shipped import Shipped
from experiments.lab.store import StoredRun, run_id, settings_of

NUMBERS = tuple(key for key in PER_EPISODE if key != "episodes")
POINTS = 2  # stored episodes after the first: a run of which fewer are compared counts as not compared
# Seconds of one core.
WORKER = 10.0  # a worker takes to import the package and to load what is compiled
RUN = 0.02  # a run takes besides its episodes: it is assembled, started, handed over
WHOLE = 0.01  # of all the time may go to a run that has no parts


class Task(NamedTuple):
    """An arm's first run, and the last stored episode that it is compared at; 0: it is not computed."""

    arms: str
    run: StoredRun
    episodes: int


class Answer(NamedTuple):
    arms: str
    episodes: int  # the last one compared
    K: int
    numbers: int  # how many were compared
    compared: bool  # at enough episodes to say something
    wrong: str  # what differs, or why it cannot be computed


def tasks(shipped: Shipped, names: list[str], minutes: float, workers: int) -> tuple[list[Task], list[Answer]]:
    """The first run of every arm, each once, and an answer for every experiment that cannot be read."""
    first: dict[str, tuple[list[str], StoredRun]] = {}
    unread = []
    for name in names:
        try:
            arms = shipped.load_experiment(name).arms
        except Exception as error:  # one that is wrong must not cost the others
            unread.append(Answer(name, 0, 0, 0, False, named(name, error)))
            continue
        for arm in arms:
            first.setdefault(run_id(arm.runs[0].config), ([], arm.runs[0]))[0].append(f"{name}/{arm.key}")
    runs = [run for _, run in first.values()]
    also = [f" (and {len(arms) - 1} more)" if len(arms) > 1 else "" for arms, _ in first.values()]
    ends = reaches(runs, seconds_for_episodes(minutes, workers, len(runs)))
    found = zip(first.values(), also, ends, strict=True)
    return [Task(arms[0] + more, run, end) for (arms, run), more, end in found], unread


def seconds_for_episodes(minutes: float, workers: int, runs: int) -> float:
    """What is left of the cores' time for the episodes themselves."""
    return max(60.0 * minutes * workers - WORKER * workers - RUN * runs, 0.0)


def reaches(runs: Sequence[StoredRun], seconds: float) -> list[int]:
    """The last stored episode that each run is computed to; all take about so many seconds of one core."""
    took = np.array([max(run.provenance["seconds"], 1e-9) for run in runs])
    parts = np.array([run.config["engine"]["name"] == "fast" for run in runs], dtype=bool)
    most = np.where(parts | (took <= WHOLE * seconds), took, 0.0)
    given = np.where(parts, np.minimum(most, share(most, seconds)), most)
    ends = [run.config["K"] * part for run, part in zip(runs, given / took, strict=True)]
    stored = [run.trace.episodes for run in runs]
    return [int(max(at[at <= end + 0.5], default=0)) for at, end in zip(stored, ends, strict=True)]


def share(most: Floats, seconds: float) -> float:
    """The time of a run for all to take `seconds`, none more than its most."""
    low, high = 0.0, float(most.max(initial=0.0))
    if most.sum() <= seconds:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(middle, most).sum() <= seconds else (low, middle)
    return low


def compare(task: Task) -> Answer:
    """Run it again as far as the task says."""
    try:
        return _compare(task)
    except Exception as error:  # one that cannot be run must not cost the others
        return Answer(task.arms, 0, task.run.config["K"], 0, False, any_line(error))


def _compare(task: Task) -> Answer:
    settings, seed, stored = settings_of(task.run.config), task.run.config["seed"], task.run.trace
    K = task.run.config["K"]
    if task.episodes == 0:
        return Answer(task.arms, 0, K, 0, False, "")
    setup = assemble(settings)
    if task.run.config["env"].get("sha256", setup.mdp.sha256) != setup.mdp.sha256:
        return Answer(task.arms, 0, K, 0, False, "env: the MDP is not the one that was run (another SHA-256)")
    if settings.audits:
        wrong = _differing_checks(stored, audit_run(setup, seed, settings.attack))
        return Answer(task.arms, K, K, len(stored.checks), True, wrong)
    if settings.engine.name == "reference":
        fresh = run_setup(setup, seed, "reference")
    else:
        fresh = _start_of(setup._replace(lp_checks=0), seed, task.episodes)
    points = int((stored.episodes <= task.episodes).sum())
    enough = points >= min(POINTS + 1, len(stored.episodes))
    wrong = differing(stored, fresh, task.episodes)
    return Answer(task.arms, task.episodes, K, points * len(NUMBERS), enough, wrong)


def differing(stored: Trace, fresh: Trace, episodes: int) -> str:
    """The first number up to this episode that is not the same in both; nothing if all are."""
    near = stored.episodes <= episodes
    at = np.searchsorted(fresh.episodes, stored.episodes[near])
    for key in PER_EPISODE:
        ours, theirs = getattr(stored, key)[near], getattr(fresh, key)[at]
        if not np.array_equal(ours, theirs):
            i = int(np.argmax(ours != theirs))
            return f"{key} after episode {stored.episodes[i]:,}: {ours[i]!r} ships, {theirs[i]!r} computed"
    return ""


def _differing_checks(stored: Trace, fresh: Trace) -> str:
    wrong = [key for key in stored.checks if stored.checks[key] != fresh.checks.get(key)]
    return (
        f"{wrong[0]}: {stored.checks[wrong[0]]} ships, {fresh.checks.get(wrong[0])} computed" if wrong else ""
    )


def _start_of(setup: Setup, seed: int, episodes: int) -> Trace:
    """The first episodes of a compiled run, in chunks of one size so that hardly more are computed."""
    from dpucbvi.engine import fast  # compiling is slow: only who runs pays

    run, done = fast.start(setup, seed), 0
    chunks = -(-episodes // fast.CHUNK_MOST)
    for count in fast.run_chunks(run, seed, most=-(-episodes // chunks)):
        done += count
        if done >= episodes:
            break
    return fast.trace(run)


def main() -> None:
    made = parser(__doc__, "shipped experiments", paper="paper")
    made.add_argument("--minutes", type=float, default=10.0, help="about how long it may take")
    made.add_argument("--workers", type=int, default=2)
    arguments = made.parse_args()
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with told():
        different = verify(Shipped(arguments.paper / "results"), arguments)
    sys.exit(min(different, 1))


def verify(shipped: Shipped, arguments: argparse.Namespace) -> int:
    """Compare what the command line names; how many differ."""
    workers = whole("--workers", arguments.workers, 1)
    check_number("--minutes", arguments.minutes, lambda minutes: minutes >= 0, "a number >= 0")
    there = shipped.experiments()
    if not there:
        raise InputError(f"nothing has shipped: {shipped.manifest_file} is not there")
    if unknown := [name for name in arguments.names if name not in there]:
        raise InputError(f"{few(unknown)}: has not shipped; it must be one of {', '.join(there)}")
    todo, unread = tasks(shipped, arguments.names or there, arguments.minutes, workers)
    print("compiling first, if it was not done before (up to 2 minutes more)", flush=True)
    with suppress(Exception):  # what is wrong with one is told where it is compared
        compile_first([settings_of(task.run.config) for task in todo if task.episodes])
    return check(todo, unread, workers)


def check(todo: list[Task], unread: list[Answer], workers: int) -> int:
    """Print a line for every task, and for what cannot be read; how many differ."""
    width = max(map(len, [*(answer.arms for answer in unread), *(task.arms for task in todo)]))
    print(f"{'arm':{width}}  {'compared up to':>14}  {'of':>11}  {'numbers':>7}  equal", flush=True)
    deaf = {"initializer": signal.signal, "initargs": (signal.SIGINT, signal.SIG_IGN)}  # this process answers
    parallel = Parallel(workers, batch_size=1, return_as="generator", **deaf)
    answers = []
    for answer in chain(unread, parallel(delayed(compare)(task) for task in todo)):
        arms, episodes, K, numbers, compared, wrong = answer
        said = wrong or ("yes" if compared else "not compared")
        print(f"{arms:{width}}  {episodes:>14,}  {K:>11,}  {numbers:>7,}  {said}", flush=True)
        answers.append(answer)
    print(f"\n{verdict(answers)}")
    return sum(bool(answer.wrong) for answer in answers)


def verdict(answers: Sequence[Answer]) -> str:
    """The last line: how many runs are equal, how many differ, how many say nothing."""
    different = sum(bool(answer.wrong) for answer in answers)
    equal = sum(answer.compared and not answer.wrong for answer in answers)
    numbers = sum(answer.numbers for answer in answers)
    left = len(answers) - equal - different
    return (
        f"{equal:,} of {len(answers):,} runs are equal, bit for bit, up to the episode beside them; "
        f"{different:,} differ or cannot be computed; {left:,} not compared: their time ends before {POINTS} "
        f"stored episodes after the first, or before the end of what has no parts; {numbers:,} numbers in all"
    )


if __name__ == "__main__":
    main()
