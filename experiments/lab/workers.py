"""Who computes (this process, worker processes by joblib, or a Dask cluster), and how far they are.

Each executor takes jobs and yields what each returned, as they end. Which one it is never changes a result.
"""

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky.backend.resource_tracker import ResourceTracker

from dpucbvi.errors import InputError
from experiments.lab.process import GO_ON, Stopped, note

Job = Callable[[], Any]  # that can be sent to another process
DEAF_TO = {signal.SIGINT, signal.SIGHUP}  # sent to a whole terminal: this process answers, and ends the rest
LOOK_SECONDS = 1.0
CONNECT_SECONDS = 10
SILENT_SECONDS = 30
LINE_SECONDS = 30.0  # between two lines, where there is no terminal


def _unheard(start: Callable[[Any], None]) -> Callable[[Any], None]:
    """Start a tracker of resources that prints nothing: who follows a killed one knows none of its names."""

    def unheard(tracker: Any) -> None:
        heard, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        try:
            start(tracker)
        finally:
            os.dup2(heard, 2)
            os.close(heard)
            os.close(nowhere)

    return unheard


_STARTS = "_launch" if hasattr(ResourceTracker, "_launch") else "ensure_running"  # before joblib 1.6
setattr(ResourceTracker, _STARTS, _unheard(getattr(ResourceTracker, _STARTS)))  # in the workers too


class WorkerKilled(RuntimeError):
    """A worker process ended before its job did."""


def processes(jobs: Sequence[Job], workers: int, purpose: str = "runs") -> Iterator[Any]:
    """By so many worker processes; those of another `purpose` are not used again."""
    settings: dict[str, Any] = {"initializer": _start_worker, "initargs": (os.getpid(), purpose)}
    parallel = Parallel(workers, backend="loky", batch_size=1, return_as="generator_unordered", **settings)
    try:
        with _signals_held():  # new processes inherit this; Ctrl-C is answered as soon as they are there
            ready = Parallel(workers, backend="loky", batch_size=1, **settings)
            ready(delayed(os.getpid)() for _ in range(workers))
        yield from parallel(delayed(job)() for job in jobs)
    except BrokenProcessPool:
        raise WorkerKilled from None


def dask(jobs: Sequence[Job], address: str) -> Iterator[Any]:
    """By the workers of the Dask scheduler at this address, who must have this code.

    The scheduler itself gives the job of a killed worker to another one.
    """
    from distributed import CancelledError, Client, KilledWorker, Security, as_completed
    from distributed.comm.core import CommClosedError

    logging.disable(logging.CRITICAL)  # it has loggers of its own, each with its level
    try:
        if address.startswith("tls:") and not Security().get_connection_args("client")["ssl_context"]:
            raise ValueError("tls:// needs certificates: docs/SCALING.md")
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"runtime.address: no Dask scheduler at {address} ({error})") from None
    ended = threading.Event()
    with client:
        threading.Thread(target=_watch, args=(client, ended), daemon=True).start()
        try:
            futures = [client.submit(job, pure=False) for job in jobs]
            for future in as_completed(futures, loop=client.loop):
                yield future.result()
        except KilledWorker:
            raise WorkerKilled from None
        except (CancelledError, CommClosedError):
            raise Stopped(f"the Dask scheduler at {address} is gone; {GO_ON}") from None
        finally:
            ended.set()


def _watch(client: Any, ended: threading.Event) -> None:
    """Say it once if there are no workers, or if one has not been heard of for SILENT_SECONDS."""
    said = set[str]()
    while not ended.wait(SILENT_SECONDS):
        workers = client.scheduler_info()["workers"]
        last = max((worker["last_seen"] for worker in workers.values()), default=0.0)
        silent = [name for name, worker in workers.items() if last - worker["last_seen"] > SILENT_SECONDS]
        lines = {f"the worker {name} is silent; stopped? its runs wait for it" for name in silent}
        if not workers:
            lines = {f"the Dask scheduler has had no workers for {SILENT_SECONDS} s; the runs wait for them"}
        for line in sorted(lines - said):
            note(line)
        said = lines


def progress(title: str, total: int, shown: bool) -> Callable[[], None]:
    """A function to call for every run that is finished; now and then it says how many are, and the time left.

    That goes to stderr, so that stdout has the results alone: a line in LINE_SECONDS, or every second the same
    line on a terminal.
    """
    start = last = time.monotonic()
    done, terminal = 0, sys.stderr.isatty()

    def finished() -> None:
        nonlocal done, last
        done, now = done + 1, time.monotonic()
        if shown and now - last >= (1.0 if terminal else LINE_SECONDS):
            last, minutes = now, (now - start) / done * (total - done) / 60
            line = f"{title}: {done:,}/{total:,} runs, {minutes:,.1f} min left"
            text, end = (f"\r{line}  ", "") if terminal else (line, "\n")
            print(text, end=end, file=sys.stderr, flush=True)
        if shown and terminal and done == total:
            print(file=sys.stderr)

    return finished


@contextmanager
def _signals_held() -> Iterator[None]:
    resource_tracker.ensure_running()  # Python 3.11 lets SIGINT through again when it starts this process
    before = signal.pthread_sigmask(signal.SIG_BLOCK, DEAF_TO)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(parent: int, purpose: str) -> None:
    """Import what runs need: loky takes a worker that grows much after its first task for a leaking one."""
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    import cvxpy  # noqa: F401

    import dpucbvi.engine.fast  # noqa: F401


def _end_with(parent: int) -> None:
    """A worker whose parent was killed has nobody left to work for."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)
