"""experiments/run.py in processes of their own that begin with everything imported.

A server imports it once and forks for every case, so that what is tested is the process (its signals, warnings
and exit code) and not five seconds of imports.
"""

import multiprocessing
import os
import signal
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PRELOADED = ["experiments.run", "cvxpy", "dpucbvi.engine.fast", "matplotlib.backends.backend_agg"]
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(PRELOADED)


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


class Command:
    """A command line under way; its output goes to files in `folder`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.files = [folder / "stdout", folder / "stderr"]
        self.process: BaseProcess = SERVER.Process(target=_run, args=(self.files, arguments))
        here = os.getcwd()
        os.chdir(ROOT)  # where a server that starts now finds what it imports
        self.process.start()
        os.chdir(here)

    def wait(self, seconds: float = 300) -> Done:
        self.process.join(seconds)
        if self.process.is_alive():
            self.process.kill()
            raise TimeoutError("the command does not end")
        code = self.process.exitcode
        assert code is not None
        return Done(code, *(file.read_text() for file in self.files))


def _run(files: list[Path], arguments: tuple[str, ...]) -> None:
    """In the fork: a session and output of its own, and the signals as a terminal leaves them."""
    os.setsid()
    for number, file in enumerate(files, start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    for wanted in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(wanted, signal.SIG_DFL)
    from experiments import run

    sys.argv = ["experiments/run.py", *arguments]
    run.main()
