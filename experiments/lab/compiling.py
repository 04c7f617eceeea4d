"""Compilation, once and before any run: workers would all compile the same, and wait for it.

It happens in processes of its own, two at a time. Where code was compiled a function can also be slower than
from the cache: there its first translation stays in use, from the cache comes the one that LLVM made of it
once more inside its caller (engine/compiled.py).
"""

from contextlib import suppress
from pathlib import Path

from experiments.lab.assemble import assemble
from experiments.lab.settings import RunSettings
from experiments.lab.workers import Job, WorkerKilled, processes

WORKERS = 2


def compile_first(todo: list[RunSettings]) -> None:
    """Compile what these runs need and the cache does not have."""
    missing = {_mark(settings): settings for settings in todo if settings.engine.name == "fast"}
    jobs = [Job(compile_one, (settings,)) for mark, settings in missing.items() if not mark.exists()]
    with suppress(WorkerKilled):  # then each worker compiles for itself
        for _ in processes(jobs, WORKERS, "compiling") if jobs else ():
            pass


def compile_one(settings: RunSettings) -> None:
    """One episode: numba then writes its cache."""
    from dpucbvi.engine.fast import run_chunks, start  # slow to import

    next(run_chunks(start(assemble(settings), 0), 0, most=1))
    with suppress(OSError):  # a cache that cannot be written
        _mark(settings).touch()


def _mark(settings: RunSettings) -> Path:
    """A file in the cache: an agent with a privatizer is what is compiled."""
    from dpucbvi.engine.compiled import cache_folder

    return cache_folder() / f"{settings.agent['name']}-{settings.privatizer['name']}"
