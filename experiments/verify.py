"""Compute one seed of every shipped arm afresh and compare it, bit for bit, with what ships.

    python experiments/verify.py [name ...] [--minutes 10] [--workers 2]

A run that took longer than its share of the time is compared as far as its share goes: to the episode, so the
same episodes are compared everywhere.
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from dpucbvi.errors import InputError
from dpucbvi.lab.assemble import assemble
from dpucbvi.lab.run_files import PER_EPISODE
from dpucbvi.lab.runner import audit_run
from dpucbvi.lab.shipped import Shipped
from dpucbvi.lab.store import StoredRun, run_id, settings_of
from dpucbvi.protocol import Floats
from dpucbvi.simulate import run_setup
from dpucbvi.trace import Trace

ROOT = Path(__file__).resolve().parents[1]
LEAST = 100  # episodes, or all if there are fewer


class Task(NamedTuple):
    """An arm's first run, and how far it is compared."""

    arms: str
    run: StoredRun
    episodes: int


class Answer(NamedTuple):
    arms: str
    episodes: int
    K: int
    wrong: str  # what differs, if anything


def tasks(shipped: Shipped, names: list[str], seconds: float) -> list[Task]:
    """The first run of every arm, each once; together they take about so many seconds of one core."""
    first: dict[str, tuple[list[str], StoredRun]] = {}
    for name in names:
        for arm in shipped.load_experiment(name).arms:
            first.setdefault(run_id(arm.runs[0].config), ([], arm.runs[0]))[0].append(f"{name}/{arm.key}")
    took = np.array([run.provenance["seconds"] for _, run in first.values()])
    most = share(took, seconds)
    made = []
    for arms, run in first.values():
        K = run.config["K"]
        part = K * min(1.0, most / max(run.provenance["seconds"], 1e-9))
        whole = run.config["engine"]["name"] != "fast"
        also = f" (and {len(arms) - 1} more)" if len(arms) > 1 else ""
        made.append(Task(arms[0] + also, run, K if whole else min(K, max(LEAST, round(part)))))
    return made


def share(took: Floats, seconds: float) -> float:
    """The longest that a run may take for all to take `seconds`: Σ min(took, share) = seconds."""
    low, high = 0.0, float(took.max(initial=0.0))
    if took.sum() <= seconds:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(took, middle).sum() <= seconds else (low, middle)
    return low


def compare(task: Task) -> Answer:
    """Run it again as far as the task says."""
    settings, seed = settings_of(task.run.config), task.run.config["seed"]
    setup = assemble(settings)
    if settings.engine.name == "audit":
        wrong = _differing_checks(task.run.trace, audit_run(setup, seed, settings.engine))
        return Answer(task.arms, setup.problem.K, setup.problem.K, wrong)
    if settings.engine.name == "reference":
        fresh = run_setup(setup, seed, "reference")
    else:
        fresh = _start_of(setup, seed, task.episodes)
    return Answer(task.arms, task.episodes, setup.problem.K, differing(task.run.trace, fresh, task.episodes))


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


def _start_of(setup: object, seed: int, episodes: int) -> Trace:
    """The first episodes of a compiled run."""
    from dpucbvi.engine import fast  # compiling is slow: only who runs pays

    run = fast.start(setup, seed)  # type: ignore[arg-type]
    done = 0
    for count in fast.run_chunks(run, seed, most=episodes):
        done += count
        if done >= episodes:
            break
    return fast.trace(run)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="shipped experiments; all, if none is named")
    parser.add_argument("--paper", type=Path, default=Path("paper"), help="relative to the repository")
    parser.add_argument("--minutes", type=float, default=10.0, help="about how long it may take")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    shipped = Shipped(ROOT / arguments.paper / "results")
    names = arguments.names or shipped.experiments()
    try:
        if not names:
            raise InputError(f"nothing has shipped: {shipped.manifest_file} is not there")
        todo = tasks(shipped, names, 60.0 * arguments.minutes * arguments.workers)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    sys.exit(min(check(todo, arguments.workers), 1))


def check(todo: list[Task], workers: int) -> int:
    """Print a line for every task; how many differ."""
    width = max(len(task.arms) for task in todo)
    print(f"{'arm':{width}}  {'episodes':>11}  {'of':>11}  equal", flush=True)
    wrong = 0
    for answer in Parallel(workers, batch_size=1, return_as="generator")(delayed(compare)(t) for t in todo):
        arms, episodes, K, difference = answer
        print(f"{arms:{width}}  {episodes:>11,}  {K:>11,}  {difference or 'yes'}", flush=True)
        wrong += bool(difference)
    print(f"\n{len(todo) - wrong} of {len(todo)} runs are equal, bit for bit, as far as they were computed")
    return wrong


if __name__ == "__main__":
    main()
