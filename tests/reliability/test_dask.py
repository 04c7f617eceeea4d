"""A real Dask scheduler with real workers on the loopback, one of which is killed: the same results."""

import json
import re
import subprocess
import sys
import time

import pytest
from jobs import content, start

SETTINGS = ("engine=reference", "env.H=3", "env.S=3", "K=2000", "runs=4")


def launch(*command: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@pytest.fixture
def cluster(tmp_path):
    """(address, workers)"""
    file = tmp_path / "scheduler.json"
    scheduler = launch(
        "distributed.cli.dask_scheduler", "--port=0", "--no-dashboard", f"--scheduler-file={file}"
    )
    worker = ("distributed.cli.dask_worker", f"--scheduler-file={file}", "--nthreads=1", "--no-dashboard")
    workers = [launch(*worker, "--no-nanny") for _ in range(2)]
    try:
        deadline = time.monotonic() + 300
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.2)
        yield json.loads(file.read_text())["address"], workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


@pytest.mark.slow  # a scheduler, two workers and two jobs
def test_a_cluster_gives_the_same_results_and_a_killed_worker_costs_none(cluster, tmp_path, faults):
    faults(1)
    address, workers = cluster
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
