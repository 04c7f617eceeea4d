"""Compute one seed of every stored arm afresh and compare it with the stored run: all in 10 minutes on 2 cores.

    python experiments/verify.py [name or name/arm ...] [--workers 2]

The LPs that check a compiled run are not solved again, because no number of the trace depends on them.

    equal               every number has the same bits
    equal to rounding   policy changes and infeasible LPs are the same, and regrets agree to a relative 1e-10
    different           anything else, and what cannot be read or computed; only this fails

A regret is a sum of one rounded number per episode, so another order of its sums moves it by about 1e-16 √k of
itself, 1e-12 at k = 10⁸. One policy that differs moves it by more than that, and the number of policy changes.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

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

from dpucbvi.archive import PER_EPISODE
from dpucbvi.errors import InputError, whole
from dpucbvi.trace import Trace
from experiments.lab.assemble import assemble
from experiments.lab.compose import any_line, named
from experiments.lab.process import NOTHING_STORED, few, guarded, parser
from experiments.lab.runner import compile_first, computed
from experiments.lab.shipped import Shipped
from experiments.lab.store import StoredRun, run_id, settings_of
from experiments.lab.workers import processes

EQUAL, ROUNDED, DIFFERENT = "equal", "equal to rounding", "different"
ROUNDING = 1e-10  # of a number: what another order of its sums may change
WIDTH = 100  # of the table


class Answer(NamedTuple):
    arms: str
    numbers: int  # how many were compared
    grade: str
    wrong: str = ""  # what differs, or why it cannot be computed


def tasks(shipped: Shipped, names: list[str]) -> tuple[dict[str, StoredRun], list[Answer]]:
    """The first run of every arm by who has it, the longest first; and answers for what cannot be read."""
    first: dict[str, tuple[list[str], StoredRun]] = {}
    unread = []
    for name in names:
        name, _, key = name.partition("/")
        try:
            arms = [arm for arm in shipped.load_experiment(name).arms if key in ("", arm.key)]
            if not arms:
                raise InputError(f"no arm {key!r} is stored")
        except Exception as error:  # one that is wrong must not cost the others
            unread.append(Answer(name, 0, DIFFERENT, named(name, error)))
            continue
        for arm in arms:
            first.setdefault(run_id(arm.runs[0].config), ([], arm.runs[0]))[0].append(f"{name}/{arm.key}")
    longest = sorted(first.values(), key=lambda found: -found[1].provenance["seconds"])
    return {arms[0] + f" (and {len(arms) - 1} more)" * (len(arms) > 1): run for arms, run in longest}, unread


def compare(arms: str, run: StoredRun) -> Answer:
    """Run it again. What ships of a run is thinned: fresh numbers between its episodes have no other side."""
    try:
        stored, fresh = numbers_of(run.trace), numbers_of(afresh(run))
    except Exception as error:  # one that cannot be run must not cost the others
        return Answer(arms, 0, DIFFERENT, any_line(error))
    if "findings" not in run.trace.checks:
        fresh = {key: number for key, number in fresh.items() if key in stored}
    return Answer(arms, len(stored), *grade_of(stored, fresh))


def afresh(run: StoredRun) -> Trace:
    """The run, computed once more."""
    settings = settings_of(run.config)
    setup = assemble(settings)
    if run.config["env"].get("sha256", setup.mdp.sha256) != setup.mdp.sha256:
        raise InputError("env: the MDP is not the one that was run (another SHA-256)")
    return computed(setup._replace(lp_checks=0), settings, run.config["seed"])


def numbers_of(trace: Trace) -> dict[str, Any]:
    """The numbers of a run, each with its place: those of every episode or, of an audit, what it found."""
    if "findings" in trace.checks:
        return leaves(trace.checks)
    episodes = trace.episodes.tolist()
    return {
        f"{key} after episode {episode:,}": number
        for key in PER_EPISODE[1:]
        for episode, number in zip(episodes, getattr(trace, key).tolist(), strict=True)
    }


def leaves(tree: Any, at: str = "") -> dict[str, Any]:
    """What an audit found, number by number, each with its place in it."""
    if not isinstance(tree, dict | list):
        return {at: tree}
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return {key: leaf for name, part in inside for key, leaf in leaves(part, f"{at} {name}".strip()).items()}


def grade_of(stored: dict[str, Any], fresh: dict[str, Any]) -> tuple[str, str]:
    """How alike these numbers are, and the first that differs."""
    apart = [key for key in {**stored, **fresh} if stored.get(key) != fresh.get(key)]
    for key in apart:
        ours, theirs = stored.get(key), fresh.get(key)
        if not (type(ours) is type(theirs) is float and math.isclose(ours, theirs, rel_tol=ROUNDING)):
            return DIFFERENT, f"{key}: {ours} ships, {theirs} computed"
    return (ROUNDED if apart else EQUAL), ""


def main() -> None:
    made = parser(__doc__, "shipped experiments, or arms of them", paper="paper")
    made.add_argument("--workers", type=int, default=2)
    arguments = made.parse_args()
    with guarded(NOTHING_STORED):
        workers = whole("--workers", arguments.workers, 1)
        different = verify(Shipped(arguments.paper / "results"), arguments.names, workers)
    sys.exit(min(different, 1))


def verify(shipped: Shipped, names: list[str], workers: int) -> int:
    """Compare what is named, a line for every run and for what cannot be read; how many differ."""
    there = shipped.experiments()
    if not there:
        raise InputError(f"no stored results: {shipped.manifest_file} is missing")
    if unknown := [name for name in names if name.partition("/")[0] not in there]:
        raise InputError(f"{few(unknown)}: no stored results; it must be one of {', '.join(there)}")
    todo, unread = tasks(shipped, names or there)
    print("compiling first, if it was not done before (a few minutes more)", flush=True)
    with suppress(Exception):  # what is wrong with one is told where it is compared
        compile_first([settings_of(run.config) for run in todo.values()])
    begun, left = time.monotonic(), len(unread) + len(todo)
    print(row("arm", "numbers", "grade", "left"), flush=True)
    answers = []
    jobs = [partial(compare, arms, run) for arms, run in todo.items()]
    for answer in chain(unread, processes(jobs, workers, "verifying")):
        answers.append(answer)
        print(row(answer.arms, f"{answer.numbers:,}", answer.grade, f"{left - len(answers):,}"), flush=True)
        if answer.wrong:
            print(textwrap.indent(textwrap.fill(answer.wrong, WIDTH - 4), "    "), flush=True)
    print(f"\n{verdict(answers, (time.monotonic() - begun) / 60)}")
    return sum(answer.grade == DIFFERENT for answer in answers)


def row(arms: str, *cells: str) -> str:
    """A line of the table; of a long name the middle is left out."""
    right = "{:>10}{:>20}{:>8}".format(*cells)
    room = WIDTH - len(right)
    short = arms if len(arms) <= room else f"{arms[: room - 21]}…{arms[-20:]}"
    return f"{short:{room}}{right}"


def verdict(answers: Sequence[Answer], minutes: float) -> str:
    """The closing lines: how many runs are equal, and how many differ."""
    grades = [answer.grade for answer in answers]
    counted = ", ".join(f"{grades.count(grade):,} {grade}" for grade in (EQUAL, ROUNDED, DIFFERENT))
    numbers, plural = sum(answer.numbers for answer in answers), "s" * (len(answers) != 1)
    said = "not every run agrees" if DIFFERENT in grades else "every run agrees"
    return (
        f"{len(answers):,} run{plural}, {numbers:,} numbers, {minutes:.1f} minutes: {counted}\n"
        f"{said} with the stored one"
    )


if __name__ == "__main__":
    main()
