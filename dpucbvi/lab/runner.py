"""Arms × seeds: what is stored is kept, the rest is computed, here or by worker processes.

A run's result depends on its settings and seed alone: never on who computes it, nor on how many do. (With
privatizer.noise=exact the noise is nobody's to repeat; such a run is computed once and kept.)
"""

import signal
import time
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from joblib import Parallel, delayed

from dpucbvi.errors import InputError
from dpucbvi.lab.assemble import assemble
from dpucbvi.lab.experiment import Arm, Experiment
from dpucbvi.lab.progress import counter, progress_board
from dpucbvi.lab.provenance import provenance
from dpucbvi.lab.settings import EngineSettings, RunSettings
from dpucbvi.lab.store import Store, identity, run_id
from dpucbvi.protocol import Setup
from dpucbvi.simulate import run_setup
from dpucbvi.sources import code
from dpucbvi.trace import Trace


class WorkerDied(RuntimeError):
    """A worker process was killed; the message says what is stored."""


class Task(NamedTuple):
    """One run to compute."""

    settings: RunSettings
    seed: int


class Tally(NamedTuple):
    """How many runs were computed, how many were already stored, how many of these by other code."""

    computed: int
    loaded: int
    by_other_code: int

    def __str__(self) -> str:
        counted = f"{self.computed} run{'s' * (self.computed != 1)} computed, {self.loaded} loaded"
        return f"{counted} ({self.by_other_code} made by other code)" if self.by_other_code else counted


def run_experiment(experiment: Experiment) -> Tally:
    """Compute the runs that are not stored, then write the experiment's index."""
    _make_folders(experiment)
    store = Store(experiment.results)
    tasks = _tasks(experiment)
    stored = {id for id in tasks if store.has(id)}
    missing = [task for id, task in tasks.items() if id not in stored]
    _compute(experiment, missing)
    figure = asdict(experiment.figure)
    store.save_experiment(experiment.name, experiment.study, figure, index(experiment), experiment.changed)
    here = code()
    return Tally(len(missing), len(stored), sum(store.code(id) != here for id in stored))


def index(experiment: Experiment) -> dict[str, dict[str, Any]]:
    """Every arm by its key: what it is, and the ids of its runs."""
    return {
        arm.key: {
            "of": arm.of,
            "point": arm.point,
            "label": arm.label,
            "printed": arm.printed,
            "panel": arm.panel,
            "runs": [_id(arm, seed) for seed in experiment.seeds],
        }
        for arm in experiment.arms
    }


def _make_folders(experiment: Experiment) -> None:
    """Before hours of work, see that its results can be written."""
    for key, folder in (("results", experiment.results), ("figures", experiment.figures)):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=folder).close()
        except OSError as error:
            raise InputError(f"runtime.{key}: cannot write in {folder} ({error.strerror})") from None


def _id(arm: Arm, seed: int) -> str:
    return run_id(identity(arm.settings, arm.setup.mdp, seed))


def _tasks(experiment: Experiment) -> dict[str, Task]:
    """All runs by id; arms with equal settings share theirs.

    Every arm's first run comes before any second one, so that the time left is estimated from all arms.
    """
    return {_id(arm, seed): Task(arm.settings, seed) for seed in experiment.seeds for arm in experiment.arms}


def _compute(experiment: Experiment, tasks: list[Task]) -> None:
    origin = provenance() if tasks else {}
    workers = min(experiment.workers, len(tasks))
    with progress_board(experiment.name, [task.settings.K for task in tasks], experiment.progress) as board:
        jobs = [(task, experiment.results, origin, board, slot) for slot, task in enumerate(tasks)]
        if workers <= 1:
            for job in jobs:
                run_one(*job)
            return
        _start_workers(workers)
        try:
            Parallel(n_jobs=workers, batch_size=1)(delayed(run_one)(*job) for job in jobs)
        except BrokenProcessPool:
            raise WorkerDied(_what_is_left(experiment)) from None


def _start_workers(workers: int) -> None:
    """Start the worker processes deaf to Ctrl-C: only this process answers it, in one line, and ends them."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which new processes inherit
    try:
        Parallel(n_jobs=workers, batch_size=1)(delayed(_load)() for _ in range(workers))
    finally:
        signal.signal(signal.SIGINT, handler)


def _load() -> None:
    """Import what runs need: loky takes a worker that grows much after its first task for a leaking one."""
    import cvxpy  # noqa: F401

    import dpucbvi.engine.fast  # noqa: F401


def _what_is_left(experiment: Experiment) -> str:
    store, tasks = Store(experiment.results), _tasks(experiment)
    stored = sum(store.has(id) for id in tasks)
    return f"a worker was killed (out of memory?); {stored} of {len(tasks)} runs are stored, run again to go on"


def run_one(task: Task, results: Path, origin: dict[str, Any], board: Path, slot: int) -> None:
    """Compute and store one run: what a worker does."""
    store, setup = Store(results), assemble(task.settings)
    tree = identity(task.settings, setup.mdp, task.seed)
    start = time.perf_counter()
    engine, progress = task.settings.engine, counter(board, slot)
    if engine.name == "audit":
        trace = audit_run(setup, task.seed, engine)
        progress(setup.problem.K)
    else:
        checkpoint = store.checkpoint(run_id(tree))
        trace = run_setup(setup, task.seed, engine.name, progress=progress, checkpoint=checkpoint)
    store.save(tree, trace, time.perf_counter() - start, origin)


def audit_run(setup: Setup, seed: int, c: EngineSettings) -> Trace:
    """One attack, from settings."""
    from dpucbvi.audit.run import run  # compiles code of its own: only who asks for it pays

    assert c.attack is not None and c.trials is not None
    return run(setup, seed, c.attack, c.broken, c.trials)
