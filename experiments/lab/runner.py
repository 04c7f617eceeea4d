"""Arms × seeds: what is stored is kept, the rest is computed, here or by worker processes.

A run's result depends on its settings and seed alone: never on who computes it, nor on how many do. (With
privatizer.noise=exact the noise is nobody's to repeat; such a run is computed once and kept.) Any number of
processes may work on one results folder: a run is claimed before it is computed, and what another process has
claimed is waited for.

Kernels are compiled before any run, in processes of their own, two at a time: workers would all compile the
same, and wait for it. Where code was compiled a function can also be slower than from the cache: there its
first translation stays in use, from the cache comes the one that LLVM made of it once more inside its caller.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from dpucbvi.archive import Missing, Unreadable
from dpucbvi.errors import InputError
from dpucbvi.protocol import Setup
from dpucbvi.simulate import run_setup
from dpucbvi.sources import code
from dpucbvi.trace import NOTHING_LEARNT, Trace, none_learnt
from experiments.lab.assemble import assemble
from experiments.lab.experiment import Arm, Experiment
from experiments.lab.process import Stopped, few, note
from experiments.lab.settings import RunSettings, RuntimeSettings
from experiments.lab.store import Store, StoredExperiment, claim, identity, is_claimed, provenance, run_id
from experiments.lab.workers import Job, WorkerKilled, dask, processes, progress

# What came of a task; the last two are the work of others.
COMPUTED, STORED, CLAIMED = "computed", "stored", "claimed"
WAIT_SECONDS = 0.5
COMPILERS = 2
Outcome = tuple[str, str]  # the id of a run, and what came of it
TIMED_EPISODES = {"fast": 1_000, "reference": 20}  # by which task=plan knows how long a run takes


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


# --- all runs of an experiment ------------------------------------------------------------------------------


def run_experiment(experiment: Experiment) -> Tally:
    """Compute the runs that are not stored, then write the experiment's index."""
    store, tasks = Store(experiment.results), _tasks(experiment)
    made_by = _stored(store, tasks)
    _make_folders(experiment)
    todo = {id: task for id, task in tasks.items() if id not in made_by}
    computed = _compute(experiment, todo)
    for id in tasks:
        is_claimed(store.claim(id))  # removes the claim of a killed process
    store.save_experiment(experiment.name, experiment.study, index(experiment), experiment.changed)
    return Tally(computed, len(tasks) - computed, sum(by != code() for by in made_by.values()))


def run_ids(experiment: Experiment) -> list[str]:
    """Its runs, each once."""
    return list(_tasks(experiment))


def index(experiment: Experiment) -> dict[str, dict[str, Any]]:
    """Every arm by its key: what it is, and the ids of its runs."""
    return {
        arm.key: {
            **{key: getattr(arm, key) for key in ("of", "point", "label", "printed", "panel")},
            "runs": [_id(arm, seed) for seed in experiment.seeds_of(arm)],
        }
        for arm in experiment.arms
    }


def planned(experiment: Experiment) -> list[tuple[str, str]]:
    """What is stored and how long the rest would take, as rows of a table; nothing is written.

    The first run of every arm that is not stored is timed, shortened: a run that learns later than that takes
    up to twice as long. An audit is not timed: it compiles for every arm, which takes longer than most of them.
    """
    store, tasks = Store(experiment.results), _tasks(experiment)
    missing = [task for id, task in tasks.items() if not store.has(id)]
    rows = [("runs stored", f"{len(tasks) - len(missing):,}"), ("runs to compute", f"{len(missing):,}")]
    if any(task.settings.audits for task in missing):
        return rows
    of = {id(arm.settings): arm.of for arm in experiment.arms}
    firsts = {of[id(task.settings)]: task.settings for task in reversed(missing)}
    seconds = {arm: _seconds_per_episode(settings) for arm, settings in firsts.items()}
    total = sum(seconds[of[id(task.settings)]] * task.settings.K for task in missing)
    workers = min(experiment.runtime.workers, max(1, len(missing)))
    minutes = (f"minutes, {workers} workers", f"{total / workers / 60:,.1f}")
    return [*rows, minutes, ("core hours", f"{total / 3600:,.2f}")]


def learnt_nothing(experiment: StoredExperiment) -> list[str]:
    """A line that names the arms no run of which learnt anything, and what to do; none if there are none.

    With noise too large or factors too careful, no Q leaves its start.
    """
    arms = [arm for arm in experiment.arms if none_learnt([run.trace for run in arm.runs])]
    if not arms:
        return []
    choosing = any("bonus.scale" in arm.point for arm in experiment.arms)  # a grid of factors
    advice = "" if choosing else "; +exp=calibrate chooses them"
    return [
        f"{few([arm.key for arm in arms])}: {NOTHING_LEARNT}; try a larger K or privatizer.epsilon, or factors "
        f"below 1 (bonus.scale, confidence.scale{advice})"
    ]


def _make_folders(experiment: Experiment) -> None:
    """Before hours of work, see that its results can be written."""
    for folder in (experiment.results, experiment.figures):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=folder).close()
        except OSError as error:
            raise InputError(f"runtime.results: cannot write in {folder} ({error.strerror})") from None


def _id(arm: Arm, seed: int) -> str:
    return run_id(identity(arm.settings, arm.setup.mdp, seed))


def _tasks(experiment: Experiment) -> dict[str, Task]:
    """All runs by id; arms with equal settings share theirs. Every arm's first run comes before any second."""
    tasks = {}
    runs = [(i, arm, seed) for arm in experiment.arms for i, seed in enumerate(experiment.seeds_of(arm))]
    for _, arm, seed in sorted(runs, key=lambda run: run[0]):
        id = _id(arm, seed)
        tasks[id] = Task(id, arm.settings, seed)
    return tasks


def _stored(store: Store, tasks: dict[str, Task]) -> dict[str, str | None]:
    """The runs that are there, each with the code that made it; those that are no use are named."""
    made_by, unreadable = {}, []
    for id in tasks:
        try:
            made_by[id] = store.load(id).provenance.get("code")
        except Missing:
            continue
        except Unreadable as error:
            store.check_replaceable(id, tasks[id].settings)
            unreadable.append(str(error))
            continue
        except PermissionError:
            raise InputError(
                f"runtime.results: {store.run_file(id)} is another user's, and only its owner can read it; "
                "take a folder of your own"
            ) from None
    if unreadable:
        note(f"{few(unreadable)}; computed again")
    return made_by


def _compute(experiment: Experiment, tasks: dict[str, Task]) -> int:
    """Compute the tasks, or wait for who does; how many were computed here."""
    longest_first = sorted(tasks.values(), key=lambda task: -task.settings.K)  # none is left for the end
    computed, killed, todo = 0, False, {task.id: task for task in longest_first}
    origin, runtime, store = provenance() if tasks else {}, experiment.runtime, Store(experiment.results)
    if runtime.name == "processes":  # elsewhere the cache is another
        compile_first([task.settings for task in longest_first])
    finished = progress(experiment.name, len(tasks), runtime.progress)
    while todo:
        jobs = [partial(run_one, task, experiment.results, origin) for task in todo.values()]
        try:
            for id, outcome in _execute(jobs, runtime):
                computed += outcome == COMPUTED
                if outcome != CLAIMED:
                    finished()
                    del todo[id]
                    killed = False
        except WorkerKilled:
            if killed:  # twice, and nothing was finished between
                stored = f"{len(tasks) - len(todo)} of {len(tasks)} runs are stored, run again to go on"
                raise Stopped(f"a worker was killed twice (out of memory?); {stored}") from None
            killed = True
            note("a worker was killed (out of memory?); its run is tried once more")
            continue
        while todo and all(is_claimed(store.claim(id)) for id in todo):  # which other processes compute
            time.sleep(WAIT_SECONDS)
    return computed


def _execute(jobs: Sequence[Job], runtime: RuntimeSettings) -> Iterator[Outcome]:
    workers = min(runtime.workers, len(jobs))
    if runtime.name == "dask":
        return dask(jobs, str(runtime.address))
    return processes(jobs, workers) if workers > 1 else (job() for job in jobs)


# --- one run ------------------------------------------------------------------------------------------------


def run_one(task: Task, results: Path, origin: dict[str, Any]) -> Outcome:
    """Compute and store one run, unless another process does or did: what a worker does."""
    if origin.get("code", code()) != code():
        raise InputError("runtime.address: its workers have other code than this process")
    store = Store(results)
    with claim(store.claim(task.id)) as granted:
        if not granted:
            return task.id, CLAIMED
        if store.has(task.id):
            return task.id, STORED
        store.check_replaceable(task.id, task.settings)
        setup = assemble(task.settings)
        start = time.thread_time()
        trace = computed(setup, task.settings, task.seed)
        tree = identity(task.settings, setup.mdp, task.seed)
        store.save(tree, trace, time.thread_time() - start, origin)
    return task.id, COMPUTED


def computed(setup: Setup, settings: RunSettings, seed: int) -> Trace:
    """One run, or one attack."""
    attack = settings.attack
    if attack.name is None or attack.trials is None:
        return run_setup(setup, seed, settings.engine.name)
    from experiments.lab.audit import run  # here, because it compiles code of its own

    return run(setup, seed, attack.name, attack.broken, attack.trials)


def _seconds_per_episode(settings: RunSettings) -> float:
    """From a shorter run, without the LPs that check it."""
    short = replace(settings, K=min(settings.K, TIMED_EPISODES[settings.engine.name]))
    setup = assemble(short)._replace(lp_checks=0)
    computed(setup, short, 0)  # the first may compile
    start = time.thread_time()
    computed(setup, short, 0)
    return (time.thread_time() - start) / short.K


def compile_first(todo: list[RunSettings]) -> None:
    """Compile what these runs need and the cache does not have."""
    compiled = [settings for settings in todo if settings.engine.name == "fast" and not settings.audits]
    missing = {_mark(settings): settings for settings in compiled}
    jobs = [partial(compile_one, settings) for mark, settings in missing.items() if not mark.exists()]
    if not jobs:
        return
    note(f"compiling first, once: {len(jobs)} pairs of agent and privatizer")
    with suppress(WorkerKilled):  # then each worker compiles for itself
        for _ in processes(jobs, COMPILERS, "compiling"):
            pass


def compile_one(settings: RunSettings) -> None:
    """One episode: numba then writes its cache."""
    from dpucbvi.engine.fast import run_chunks, start  # slow to import

    next(run_chunks(start(assemble(settings), 0), 0, most=1))
    mark = _mark(settings)
    with suppress(OSError):  # a cache that cannot be written
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def _mark(settings: RunSettings) -> Path:
    """A file in the cache: an agent with a privatizer is what is compiled."""
    from dpucbvi.engine.compiled import cache_folder

    return cache_folder() / f"{settings.agent['name']}-{settings.privatizer['name']}"
