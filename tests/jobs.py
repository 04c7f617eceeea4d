"""A small job as a process of its own, and what it leaves on disk."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from dpucbvi.archive import encode, read_run

ROOT = Path(__file__).resolve().parents[1]
RUN = ROOT / "experiments" / "run.py"
SERVER = multiprocessing.get_context("forkserver")  # forks processes that need not import anything again
SERVER.set_forkserver_preload(["experiments.run", "cvxpy", "dpucbvi.engine.fast", "dpucbvi.session"])


def start(results: Path, *settings: str, **environment: str) -> subprocess.Popen:
    command = [sys.executable, str(RUN), "runtime.progress=false", f"runtime.results={results}", *settings]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heeding,
        env={**os.environ, **environment},
    )


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    """A job from beginning to end."""
    command = [sys.executable, str(RUN), *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=600, **options)


def heeding() -> None:
    """A shell's & leaves SIGINT ignored, nohup SIGHUP."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def content(results: Path) -> dict[str, bytes]:
    """Every run by name, as the bytes it has without its provenance, which says when, and differs."""
    traces = {path.name: read_run(path) for path in sorted((results / "runs").glob("[!.]*"))}
    return {
        name: encode({}, [trace._replace(about={**trace.about, "provenance": None})])
        for name, trace in traces.items()
    }


def leftovers(results: Path) -> list[str]:
    """Temporary names and claims."""
    hidden = [str(path) for path in results.rglob(".*")]
    return hidden + [str(path) for path in (results / "claims").glob("*")]


def shared_memory(sessions: set[int]) -> list[str]:
    """What joblib and its locks left in shared memory; their names tell the process."""
    owners = {path.name: re.search(r"(?:loky-|folder_)(\d+)", path.name) for path in Path("/dev/shm").glob("*")}
    return [name for name, owner in owners.items() if owner and int(owner[1]) in sessions]


def members(session: int) -> list[int]:
    """The processes of a job that still live."""
    found = subprocess.run(["pgrep", "-s", str(session)], capture_output=True, text=True).stdout
    return [int(line) for line in found.split()]


def workers_of(session: int) -> list[int]:
    """Those that compute: not the job itself, nor the tracker that clears up after all of them."""
    return [number for number in members(session) if number != session and not _tracks(number)]


def _tracks(process: int) -> bool:
    try:
        return b"resource_tracker" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # it ended
        return True


def ends_within(session: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while members(session) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not members(session)


def kill(process: int, number: int) -> bool:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return False
    return True
