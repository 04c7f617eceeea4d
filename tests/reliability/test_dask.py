"""A real Dask scheduler with real workers on the loopback, one of which is killed: the same results.

Both are started from another folder, as docs/SCALING.md says.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jobs import content, start

SETTINGS = ("engine=reference", "env.H=3", "env.S=3", "K=2000", "runs=4")


ROOT = Path(__file__).resolve().parents[2]


def launch(folder: Path, command: str, *options: str) -> subprocess.Popen:
    """`dask scheduler` or `dask worker`."""
    return subprocess.Popen(
        [Path(sys.executable).with_name("dask"), command, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_the_document_says_how_they_find_the_code():
    text = (ROOT / "docs" / "SCALING.md").read_text()
    assert re.search(r"^export PYTHONPATH=\$PWD .*\ndask scheduler .*\ndask worker ", text, re.MULTILINE)


@pytest.fixture
def cluster(tmp_path):
    """(address, workers)"""
    file = tmp_path / "scheduler.json"
    scheduler = launch(tmp_path, "scheduler", "--port=0", "--no-dashboard", f"--scheduler-file={file}")
    options = (f"--scheduler-file={file}", "--nthreads=1", "--no-dashboard", "--no-nanny")
    workers = [launch(tmp_path, "worker", *options) for _ in range(2)]
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
