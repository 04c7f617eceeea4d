"""A real Dask scheduler with real workers on the loopback: killed, stopped, or not there at all.

Both are started from another folder, with the commands of docs/SCALING.md.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from jobs import ROOT, content, start

from dpucbvi.errors import InputError
from experiments.lab.process import GO_ON
from experiments.lab.settings import is_guarded
from experiments.lab.workers import dask

SETTINGS = ("engine=reference", "env.H=3", "env.S=3", "K=2000", "runs=4")
FILES = {"ca-file": "pem", "cert": "pem", "key": "key"}  # options of dask, and which file each is
VARIABLES = [f"DASK_DISTRIBUTED__COMM__TLS__{name}" for name in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY")]


def launch(folder: Path, command: str, *options: str) -> subprocess.Popen:
    """`dask scheduler` or `dask worker`."""
    return subprocess.Popen(
        [Path(sys.executable).with_name("dask"), command, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


GUARDED = ("tls://host:8786", "tls://10.0.0.1:1", "tcp://127.0.0.1:8786", "tcp://localhost:1", "tcp://[::1]:1")
OPEN = (
    "",
    "host",
    "tcp://host:8786",
    "tcp://0.0.0.0:1",
    "tcp://127.0.0.1",
    "tcp://127.a.b:1",
    "ws://127.0.0.1:1",
)


@pytest.mark.parametrize("address", [*GUARDED, *OPEN])
def test_an_address_that_lets_strangers_in_is_not_accepted(address):
    assert is_guarded(address) == (address in GUARDED)


WORKER = ("--nthreads=1", "--no-dashboard", "--no-nanny")


@contextmanager
def started(folder: Path, workers: int, *options: str):
    """(address, workers, scheduler); the options are for all of them."""
    file = folder / "scheduler.json"
    local = ("--host=127.0.0.1", "--port=0", "--no-dashboard", f"--scheduler-file={file}")
    processes = [launch(folder, "scheduler", *local, *options)]
    try:
        deadline = time.monotonic() + 300
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.2)
        address = json.loads(file.read_text())["address"]
        processes += [launch(folder, "worker", address, *WORKER, *options) for _ in range(workers)]
        yield address, processes[1:], processes[0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    with started(tmp_path, 2) as all_of_them:
        yield all_of_them


@pytest.mark.slow  # a scheduler, two workers and two jobs
def test_a_cluster_gives_the_same_results_and_a_killed_worker_costs_none(cluster, tmp_path, faults):
    faults({"a killed worker": 1})
    address, workers, _ = cluster
    alone = start(tmp_path / "alone", *SETTINGS)
    assert alone.wait(900) == 0
    results = tmp_path / "cluster"
    job = start(results, *SETTINGS, "runtime=dask", f"runtime.address={address}")
    deadline = time.monotonic() + 600
    while not list(results.glob("claims/*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    workers[0].kill()
    out, err = job.communicate(timeout=900)
    assert (job.returncode, err) == (0, "")
    assert re.search(r"4 runs computed", out)
    assert content(results) == content(tmp_path / "alone")


@pytest.mark.slow  # a scheduler, a worker and a job
def test_a_cluster_with_certificates_works_as_documented_and_without_is_one_line(tmp_path, faults):
    """Made for one name, and signed by themselves."""
    faults({"no certificate": 1})
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=me -keyout me.key -out me.pem"
    subprocess.run(made.split(), cwd=tmp_path, check=True, capture_output=True)
    tls = [f"--tls-{key}={tmp_path}/me.{end}" for key, end in FILES.items()]
    with started(tmp_path, 1, "--protocol=tls", *tls) as (address, _, _):
        job = (*SETTINGS[:-2], "K=8", "runs=2", "runtime=dask", f"runtime.address={address}")
        assert address.startswith("tls://127.0.0.1:")
        shown = {key: str(tmp_path / f"me.{end}") for key, end in zip(VARIABLES, FILES.values(), strict=True)}
        out, err = start(tmp_path / "results", *job, **shown).communicate(timeout=300)
        assert ("2 runs computed" in out, err) == (True, "")
        stranger = start(tmp_path / "none", *job)
        _, err = stranger.communicate(timeout=300)
        why = "tls:// needs certificates: docs/SCALING.md"
        assert err == f"error: runtime.address: no Dask scheduler at {address} ({why})\n"


SLEEPS = """
import functools, time
from experiments.lab import workers
workers.SILENT_SECONDS = 2
for _ in workers.dask([functools.partial(time.sleep, {seconds})] * 2, {address!r}):
    pass
"""


def said_of(address: str, seconds: float, *disturb) -> str:
    """What a job says whose two tasks sleep so long, if this is done to the cluster, some seconds apart."""
    code, environment = SLEEPS.format(seconds=seconds, address=address), {**os.environ, "PYTHONPATH": str(ROOT)}
    job = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)
    for step in disturb:
        time.sleep(10)
        step()
    return job.communicate(timeout=300)[1]


@pytest.mark.slow  # a scheduler and two workers
def test_a_scheduler_that_dies_is_one_line(cluster, faults):
    faults({"a killed scheduler": 1, "no scheduler": 1})
    address, _, scheduler = cluster
    told = said_of(address, 600, scheduler.kill)
    assert told.endswith(f"the Dask scheduler at {address} is gone; {GO_ON}\n") and told.count("Error") == 0
    with pytest.raises(InputError, match=f"^runtime.address: no Dask scheduler at {address} "):
        next(dask([os.getpid], address))


@pytest.mark.slow  # a scheduler and two workers
def test_workers_that_are_stopped_or_missing_are_named_and_waited_for(cluster, tmp_path, faults):
    faults({"a stopped worker": 1, "no workers": 1})
    address, (one, other), _ = cluster
    told = said_of(
        address, 20, lambda: one.send_signal(signal.SIGSTOP), lambda: one.send_signal(signal.SIGCONT)
    )
    silent = told.splitlines()[-1]  # on a busy machine the workers may come late, which is said before
    assert re.fullmatch(r"note: the worker tcp://\S+ is silent; stopped\? its runs wait for it", silent)
    for worker in (one, other):
        worker.kill()
    late: list[subprocess.Popen] = []
    told = said_of(address, 1, lambda: late.append(launch(tmp_path, "worker", address, *WORKER)))
    assert told == "note: the Dask scheduler has had no workers for 2 s; the runs wait for them\n"
    late[0].kill()
