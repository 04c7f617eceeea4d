"""Compute one seed of every stored arm afresh and compare it with the stored run.

    python experiments/verify.py [name or name/arm ...] [--minutes 10] [--workers 2]

All runs together take about the minutes given, so a long run is computed to a part of its episodes. It is
compared at the stored episodes up to there; the table says which was the last of them. How far that is follows
from the seconds stored with a run: the same episodes are compared everywhere. An audit and a run of the
reference engine have no parts: the shortest are computed, none that took more than an eighth of the time and
all together at most half of it. The LPs that check a compiled run are not solved again, because no number of
the trace depends on them.

    equal               every number has the same bits
    equal to rounding   policy changes and infeasible LPs are the same, and the regret is to 1e-10 of itself
    different           anything else, and what cannot be read or computed; only this fails

A regret is a sum of one rounded number per episode, so another order of its sums moves it by about 1e-16 √k of
itself, 1e-12 at k = 10⁸. One policy that differs moves it by more than that, and the number of policy changes.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import argparse
import math
import signal
import textwrap
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C during the imports ends without a traceback

import numpy as np

from dpucbvi.archive import PER_EPISODE
from dpucbvi.errors import InputError, check_number, whole
from dpucbvi.protocol import Floats, Ints, Setup
from dpucbvi.simulate import run_setup
from dpucbvi.trace import Trace
from experiments.lab.assemble import assemble
from experiments.lab.compose import any_line, named
from experiments.lab.process import NOTHING_STORED, few, guarded, parser
from experiments.lab.runner import audit_run, compile_first
from experiments.lab.shipped import Shipped
from experiments.lab.store import StoredRun, run_id, settings_of
from experiments.lab.workers import processes

EQUAL, ROUNDED, DIFFERENT, NOT_COMPARED = "equal", "equal to rounding", "different", "not compared"
ROUNDING = 1e-10  # of a number: what another order of its sums may change
WIDTH = 100  # of the table
NUMBERS = tuple(key for key in PER_EPISODE if key != "episodes")
POINTS = 2  # stored episodes after the first: a run of which fewer are compared counts as not compared
# Seconds of one core.
WORKER = 10.0  # a worker takes to import the package and to load what is compiled
RUN = 0.02  # a run takes besides its episodes: it is assembled, started, handed over
WHOLE = 1 / 8  # of all the time may go to a run that has no parts
WHOLES = 1 / 2  # to all of them


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
    grade: str
    wrong: str = ""  # what differs, or why it cannot be computed


def tasks(shipped: Shipped, names: list[str], minutes: float, workers: int) -> tuple[list[Task], list[Answer]]:
    """The first run of every arm, each once, and an answer for every experiment that cannot be read."""
    first: dict[str, tuple[list[str], StoredRun]] = {}
    unread = []
    for name in names:
        name, _, key = name.partition("/")
        try:
            arms = [arm for arm in shipped.load_experiment(name).arms if key in ("", arm.key)]
            if not arms:
                raise InputError(f"no arm {key!r} is stored")
        except Exception as error:  # one that is wrong must not cost the others
            unread.append(Answer(name, 0, 0, 0, DIFFERENT, named(name, error)))
            continue
        for arm in arms:
            first.setdefault(run_id(arm.runs[0].config), ([], arm.runs[0]))[0].append(f"{name}/{arm.key}")
    runs = [run for _, run in first.values()]
    also = [f" (and {len(arms) - 1} more)" if len(arms) > 1 else "" for arms, _ in first.values()]
    ends = reaches(runs, max(60.0 * minutes * workers - WORKER * workers - RUN * len(runs), 0.0))
    found = zip(first.values(), also, ends, strict=True)
    return [Task(arms[0] + more, run, end) for (arms, run), more, end in found], unread


def reaches(runs: Sequence[StoredRun], seconds: float) -> list[int]:
    """The last stored episode that each run is computed to; all take about so many seconds of one core."""
    took = np.array([max(run.provenance["seconds"], 1e-9) for run in runs])
    parts = np.array([run.config["engine"]["name"] == "fast" for run in runs], dtype=bool)
    whole = np.where(parts | (took > WHOLE * seconds), 0.0, took)
    shortest = np.argsort(whole, kind="stable")
    whole[shortest[np.cumsum(whole[shortest]) > WHOLES * seconds]] = 0.0
    given = np.where(parts, np.minimum(took, share(took[parts], seconds - whole.sum())), whole)
    ends = [run.config["K"] * part for run, part in zip(runs, given / took, strict=True)]
    stored = [run.trace.episodes for run in runs]
    return [int(max(at[at <= end + 0.5], default=0)) for at, end in zip(stored, ends, strict=True)]


def share(most: Floats, seconds: float) -> float:
    """The time of a run for all to take `seconds`, none more than its most."""
    rising, left = np.sort(most), len(most) - np.arange(len(most))
    levels = (seconds - np.cumsum(rising) + rising) / left  # if only those before a run take their most
    return float(levels[rising >= levels][0]) if most.sum() > seconds else float(most.max(initial=0.0))


def compare(task: Task) -> Answer:
    """Run it again as far as the task says."""
    try:
        return _compare(task)
    except Exception as error:  # one that cannot be run must not cost the others
        return Answer(task.arms, 0, task.run.config["K"], 0, DIFFERENT, any_line(error))


def _compare(task: Task) -> Answer:
    settings, seed, stored = settings_of(task.run.config), task.run.config["seed"], task.run.trace
    answer = Answer(task.arms, 0, task.run.config["K"], 0, NOT_COMPARED)
    if task.episodes == 0:
        return answer
    setup = assemble(settings)
    if task.run.config["env"].get("sha256", setup.mdp.sha256) != setup.mdp.sha256:
        wrong = "env: the MDP is not the one that was run (another SHA-256)"
        return answer._replace(grade=DIFFERENT, wrong=wrong)
    near = stored.episodes[stored.episodes <= task.episodes]
    if settings.audits:
        fresh = audit_run(setup, seed, settings.attack)
        ours, theirs = leaves(stored.checks), leaves(fresh.checks)
    elif settings.engine.name == "reference":
        ours, theirs = along(stored, near), along(run_setup(setup, seed, "reference"), near)
    else:
        fresh = _start_of(setup._replace(lp_checks=0), seed, task.episodes)
        ours, theirs = along(stored, near), along(fresh, near)
    grade, wrong = grade_of(ours, theirs)
    if grade != DIFFERENT and len(near) < min(POINTS + 1, len(stored.episodes)):
        grade = NOT_COMPARED
    return answer._replace(episodes=task.episodes, numbers=len(ours), grade=grade, wrong=wrong)


def along(trace: Trace, episodes: Ints) -> dict[str, int | float]:
    """The numbers of a trace after these episodes, each with its place."""
    at = np.searchsorted(trace.episodes, episodes)
    return {
        f"{key} after episode {episode:,}": number
        for key in NUMBERS
        for episode, number in zip(trace.episodes[at].tolist(), getattr(trace, key)[at].tolist(), strict=True)
    }


def leaves(tree: Any, at: str = "") -> dict[str, Any]:
    """What an audit found, number by number, each with its place in it."""
    if not isinstance(tree, dict | list):
        return {at: tree}
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return {key: leaf for name, part in inside for key, leaf in leaves(part, f"{at} {name}".strip()).items()}


def grade_of(stored: dict[str, Any], fresh: dict[str, Any]) -> tuple[str, str]:
    """How alike these numbers are, and the first that differs."""
    apart = [key for key in stored if stored[key] != fresh.get(key)]
    for key in apart:
        ours, theirs = stored[key], fresh.get(key)
        if not (type(ours) is type(theirs) is float and math.isclose(ours, theirs, rel_tol=ROUNDING)):
            return DIFFERENT, f"{key}: {ours} ships, {theirs} computed"
    return (ROUNDED if apart else EQUAL), ""


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
    made = parser(__doc__, "shipped experiments, or arms of them", paper="paper")
    made.add_argument("--minutes", type=float, default=10.0, help="about how long it may take")
    made.add_argument("--workers", type=int, default=2)
    arguments = made.parse_args()
    with guarded(NOTHING_STORED):
        different = verify(Shipped(arguments.paper / "results"), arguments)
    sys.exit(min(different, 1))


def verify(shipped: Shipped, arguments: argparse.Namespace) -> int:
    """Compare what the command line names; how many differ."""
    workers = whole("--workers", arguments.workers, 1)
    check_number("--minutes", arguments.minutes, lambda minutes: minutes >= 0, "a number >= 0")
    there = shipped.experiments()
    if not there:
        raise InputError(f"no stored results: {shipped.manifest_file} is missing")
    if unknown := [name for name in arguments.names if name.partition("/")[0] not in there]:
        raise InputError(f"{few(unknown)}: no stored results; it must be one of {', '.join(there)}")
    todo, unread = tasks(shipped, arguments.names or there, arguments.minutes, workers)
    print("compiling first, if it was not done before (a few minutes more)", flush=True)
    with suppress(Exception):  # what is wrong with one is told where it is compared
        compile_first([settings_of(task.run.config) for task in todo if task.episodes])
    return check(todo, unread, workers)


def check(todo: list[Task], unread: list[Answer], workers: int) -> int:
    """Print a line for every task, and for what cannot be read; how many differ."""
    begun, left = time.monotonic(), len(unread) + len(todo)
    print(row("arm", "compared to", "of", "numbers", "grade", "left"), flush=True)
    answers = []
    for answer in chain(unread, processes([partial(compare, task) for task in todo], workers, "verifying")):
        arms, episodes, K, numbers, grade, wrong = answer
        left -= 1
        print(row(arms, f"{episodes:,}", f"{K:,}", f"{numbers:,}", grade, f"{left:,}"), flush=True)
        if wrong:
            print(textwrap.indent(textwrap.fill(wrong, WIDTH - 4), "    "), flush=True)
        answers.append(answer)
    print(f"\n{verdict(answers, (time.monotonic() - begun) / 60)}")
    return sum(answer.grade == DIFFERENT for answer in answers)


def row(arms: str, *cells: str) -> str:
    """A line of the table; of a long name the middle is left out."""
    right = "{:>12}{:>12}{:>8}{:>18}{:>6}".format(*cells)
    room = WIDTH - len(right)
    short = arms if len(arms) <= room else f"{arms[: room - 21]}…{arms[-20:]}"
    return f"{short:{room}}{right}"


def verdict(answers: Sequence[Answer], minutes: float) -> str:
    """The closing lines: how many runs are equal, how many differ, how many say nothing."""
    tally = dict.fromkeys((EQUAL, ROUNDED, DIFFERENT, NOT_COMPARED), 0)
    for answer in answers:
        tally[answer.grade] += 1
    numbers = sum(answer.numbers for answer in answers)
    counted = ", ".join(f"{number:,} {grade}" for grade, number in tally.items())
    plural = "s" * (len(answers) != 1)
    lines = [f"{len(answers):,} run{plural}, {numbers:,} numbers, {minutes:.1f} minutes: {counted}"]
    if tally[NOT_COMPARED]:
        lines.append(f"not compared: the time ends before {POINTS} stored episodes after the first, or the run")
    said = "not every run" if tally[DIFFERENT] else "every run that was compared"
    return "\n".join([*lines, f"{said} agrees with the stored one"])


if __name__ == "__main__":
    main()
