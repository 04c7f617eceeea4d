"""Arms × seeds: what is stored is kept, the rest is computed, here or by worker processes.

A run's result depends on its settings and seed alone: never on who computes it, nor on how many do. (With
privatizer.noise=exact the noise is nobody's to repeat; such a run is computed once and kept.) Any number of
processes may work on one results folder: a run is claimed before it is computed, and what another process has
claimed is waited for.
"""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from dpucbvi.archive import Missing, Unreadable
from dpucbvi.errors import InputError
from dpucbvi.protocol import Setup
from dpucbvi.simulate import run_setup
from dpucbvi.sources import code
from dpucbvi.trace import Trace
from experiments.lab.assemble import assemble
from experiments.lab.claims import claim, is_claimed
from experiments.lab.compiling import compile_first
from experiments.lab.experiment import Arm, Experiment
from experiments.lab.predict import Prediction, check_job, episodes, of_job, of_run
from experiments.lab.progress import counter, progress_board
from experiments.lab.provenance import provenance
from experiments.lab.settings import EngineSettings, RunSettings
from experiments.lab.store import Store, identity, run_id, serves
from experiments.lab.tell import few, tell
from experiments.lab.workers import Job, WorkerKilled, dask, here, processes

COMPUTED, STORED, CLAIMED = (
    "computed",
    "stored",
    "claimed",
)  # what came of a task; the last two are others' work
TRIES = 2  # of a run whose worker is killed
WAIT_SECONDS = 0.5


class WorkerDied(RuntimeError):
    """A worker process was killed, and again when its run was retried; the message says what is stored."""


class Task(NamedTuple):
    """One run to compute."""

    id: str
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


class Planned(NamedTuple):
    """What a job would take, as rows of a table, and why it would be refused, if it would be."""

    rows: list[tuple[str, str]]
    refused: InputError | None


def run_experiment(experiment: Experiment) -> Tally:
    """Compute the runs that are not stored, then write the experiment's index."""
    store, tasks, true_counts = Store(experiment.results), _tasks(experiment), experiment.runtime.true_counts
    made_by = _stored(store, tasks, true_counts)
    missing = [task for id, task in tasks.items() if id not in made_by]
    predicted = _predicted(experiment, missing)
    _check(experiment, predicted)
    _make_folders(experiment)
    computed = _compute(experiment, missing, [run.seconds for run in predicted])
    for id in tasks:
        if not true_counts:
            _drop_true_counts(store, id)
        store.tidy(id)
    figure = asdict(experiment.figure)
    store.save_experiment(experiment.name, experiment.study, figure, index(experiment), experiment.changed)
    here = code()
    return Tally(computed, len(tasks) - computed, sum(by != here for by in made_by.values()))


def run_ids(experiment: Experiment) -> list[str]:
    """Its runs, each once."""
    return list(_tasks(experiment))


def plan(experiment: Experiment) -> Planned:
    """What is stored and what the rest is predicted to take; nothing is written."""
    store, tasks = Store(experiment.results), _tasks(experiment)
    true_counts = experiment.runtime.true_counts
    missing = [task for id, task in tasks.items() if not store.has(id, true_counts)]
    predicted, workers = _predicted(experiment, missing), max(1, _workers(experiment, len(missing)))
    job = of_job(predicted)
    rows = [
        ("runs stored", f"{len(tasks) - len(missing):,}"),
        ("runs to compute", f"{len(missing):,}"),
        (f"minutes, {workers} workers", f"{job.seconds / workers / 60:,.1f}"),
        ("core hours", f"{job.seconds / 3600:,.2f}"),
        ("memory, GB, all workers", f"{workers * job.memory / 1e9:,.1f}"),
        ("disk, MB", f"{job.disk / 1e6:,.1f}"),
    ]
    try:
        _check(experiment, predicted)
    except InputError as error:
        return Planned(rows, error)
    return Planned(rows, None)


def _check(experiment: Experiment, predicted: list[Prediction]) -> None:
    """Refuse what is predicted to be too much for this machine; a cluster is not ours to judge."""
    if predicted and experiment.runtime.name == "processes":
        check_job(of_job(predicted), _workers(experiment, len(predicted)), experiment.runtime)


def _workers(experiment: Experiment, jobs: int) -> int:
    return min(experiment.runtime.workers, jobs)


def _predicted(experiment: Experiment, tasks: list[Task]) -> list[Prediction]:
    """By id, since arms that share a run share its setup."""
    setups = {id(arm.settings): arm.setup for arm in experiment.arms}
    return [of_run(setups[id(task.settings)], task.settings) for task in tasks]


def index(experiment: Experiment) -> dict[str, dict[str, Any]]:
    """Every arm by its key: what it is, and the ids of its runs."""
    return {
        arm.key: {
            "of": arm.of,
            "point": arm.point,
            "label": arm.label,
            "printed": arm.printed,
            "panel": arm.panel,
            "runs": [_id(arm, seed) for seed in experiment.seeds_of(arm)],
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
    tasks = {}
    runs = [(i, arm, seed) for arm in experiment.arms for i, seed in enumerate(experiment.seeds_of(arm))]
    for _, arm, seed in sorted(runs, key=lambda run: run[0]):
        id = _id(arm, seed)
        tasks[id] = Task(id, arm.settings, seed)
    return tasks


def _stored(store: Store, tasks: dict[str, Task], true_counts: bool) -> dict[str, str | None]:
    """The runs that are there, each with the code that made it; those that are no use are named."""
    made_by, unreadable, without = {}, [], []
    for id in tasks:
        try:
            run = store.load(id)
        except Missing:
            continue
        except Unreadable as error:
            unreadable.append(str(error))
            continue
        if serves(run, true_counts):
            made_by[id] = run.provenance.get("code")
        else:
            without.append(str(store.run_file(id)))
    if unreadable:
        tell(f"{few(unreadable)}; computed again")
    if without:
        tell(f"{few(without)}: stored without true counts; computed again (not so with --no-true-counts)")
    return made_by


def _drop_true_counts(store: Store, id: str) -> None:
    """From a run that was stored with them; if another process has claimed it, once that is done."""
    while True:
        with claim(store.claim(id)) as granted:
            if granted:
                store.drop_true_counts(id)
                return
        time.sleep(WAIT_SECONDS)


def _compute(experiment: Experiment, tasks: list[Task], seconds: list[float]) -> int:
    """Compute the tasks, predicted to take so long, or wait for who does; how many were computed here."""
    computed, killed, todo = 0, Counter[int | None](), dict(enumerate(tasks))
    origin = provenance() if tasks else {}
    runtime, name = experiment.runtime, experiment.name
    length = [episodes(task.settings) for task in tasks]
    with progress_board(name, length, seconds, runtime.progress, experiment.results) as board:
        if runtime.name == "processes":  # elsewhere the cache is another
            compile_first([task.settings for task in tasks])
        path = None if runtime.address else board.path
        while todo:
            jobs = [
                Job(run_one, (task, experiment.results, origin, path, place, runtime.true_counts))
                for place, task in todo.items()
            ]
            try:
                for place, outcome in _execute(experiment, jobs):
                    computed += outcome == COMPUTED
                    if outcome != CLAIMED:
                        board.finish(place)
                        del todo[place]
            except WorkerKilled:
                _try_again(experiment, killed, [place for place in todo if board.under_way(place)] or [None])
                continue
            _wait(Store(experiment.results), todo)
    return computed


def _execute(experiment: Experiment, jobs: list[Job]) -> Iterator[tuple[int, str]]:
    runtime, workers = experiment.runtime, _workers(experiment, len(jobs))
    if runtime.name == "dask":
        return dask(jobs, workers, runtime.address)
    return processes(jobs, workers) if workers > 1 else here(jobs)


def _try_again(experiment: Experiment, killed: Counter[int | None], under_way: list[Any]) -> None:
    """Count the runs that were under way; the one whose worker it was is not known, so all of them."""
    killed.update(under_way)
    if max(killed[place] for place in under_way) >= TRIES:
        store, tasks = Store(experiment.results), _tasks(experiment)
        stored = sum(store.has(id) for id in tasks)
        raise WorkerDied(
            f"a worker was killed twice (out of memory?); {stored} of {len(tasks)} runs are stored, "
            "run again to go on"
        )
    tell("a worker was killed (out of memory?); its run is tried once more")


def _wait(store: Store, todo: dict[int, Task]) -> None:
    """Until one of these runs, which other processes compute, is finished or given up."""
    while todo and all(is_claimed(store.claim(task.id)) for task in todo.values()):
        time.sleep(WAIT_SECONDS)


def run_one(
    task: Task,
    results: Path,
    origin: dict[str, Any],
    board: Path | None = None,
    place: int = 0,
    true_counts: bool = True,
) -> tuple[int, str]:
    """Compute and store one run, unless another process does or did: what a worker does."""
    if origin.get("code", code()) != code():
        raise InputError("runtime.address: its workers have other code than this process")
    store = Store(results)
    with claim(store.claim(task.id)) as granted:
        if not granted:
            return place, CLAIMED
        if store.has(task.id, true_counts):
            return place, STORED
        setup = assemble(task.settings)
        start = time.perf_counter()
        trace = _run(setup, task, store.checkpoint(task.id), counter(board, place))
        tree = identity(task.settings, setup.mdp, task.seed)
        seconds = trace.earlier_seconds + time.perf_counter() - start
        store.save(tree, trace, seconds, origin, true_counts)
    return place, COMPUTED


def _run(setup: Setup, task: Task, checkpoint: Path, progress: Any) -> Trace:
    engine = task.settings.engine
    if engine.name != "audit":
        return run_setup(setup, task.seed, engine.name, progress=progress, checkpoint=checkpoint)
    trace = audit_run(setup, task.seed, engine)
    progress(episodes(task.settings))
    return trace


def audit_run(setup: Setup, seed: int, c: EngineSettings) -> Trace:
    """One attack, from settings."""
    from dpucbvi.audit.run import run  # compiles code of its own: only who asks for it pays

    assert c.attack is not None and c.trials is not None
    return run(setup, seed, c.attack, c.broken, c.trials, c.relation)
