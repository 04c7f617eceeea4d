"""Killed at any moment, in any way, again and again: the job ends with the results of one left alone.

A series of kills works on one results folder until its job is done, then on the next. It kills as often as a
job allows: one whose worker is killed goes on. With -s every kill is printed.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from jobs import ROOT, content, ends_within, kill, leftovers, shared_memory, start, workers_of

SERIES = 5
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP)
EACH = [(who, how) for who in ("parent", "worker") for how in SIGNALS]
KILLS = len(EACH) + 2  # a series
CODES = {0, 1, *(-s for s in SIGNALS), *(128 + s for s in SIGNALS)}
RUNS = 8
SETTINGS = ("K=40000", f"runs={RUNS}", "runtime.workers=2", "bonus.scale=0.001", "engine.lp_checks=2")


class Alone(NamedTuple):
    """The job that nobody disturbs: its results, and how long each of its stages takes."""

    content: dict[str, bytes]
    seconds: dict[str, float]


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Alone:
    """Run twice: the first may have to compile."""
    for _ in range(2):
        results = tmp_path_factory.mktemp("alone")
        job, began, at = start(results, *SETTINGS), time.monotonic(), {}
        for stage in ("workers", "runs"):
            assert reach(stage, job, results)
            at[stage] = time.monotonic() - began
        job.communicate(timeout=1800)
        end = time.monotonic() - began
        assert job.returncode == 0
    found = content(results)
    assert len(found) == RUNS
    stages = {"start": at["runs"], "workers": at["runs"] - at["workers"], "runs": end - at["runs"]}
    return Alone(found, stages)


def reach(stage: str, job, results: Path) -> bool:
    """Wait until the job starts, has workers, computes or has stored a run; False if it ends before."""
    there = {
        "start": lambda: True,
        "workers": lambda: workers_of(job.pid),
        "runs": lambda: workers_of(job.pid) and list(results.glob("claims/*")),
        "stored": lambda: list(results.glob("runs/*.npz")),
    }[stage]
    while job.poll() is None:
        if there():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow  # ten starts of a job of some seconds, each
@pytest.mark.parametrize("series", range(SERIES))
def test_random_kills_change_no_result(series, alone, tmp_path, faults):
    """Every signal for the job and for a worker, at seeded moments of its start or of its runs."""
    rng = random.Random(series)
    plan = [*EACH, *rng.choices(EACH, k=KILLS - len(EACH))]
    rng.shuffle(plan)
    faults(Counter(f"{how.name} to {'the job' if who == 'parent' else 'a worker'}" for who, how in plan))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    sessions, resumed, number, done = set(), 0, 0, False
    while plan or not done:
        results = tmp_path / f"killed-{number}"
        resumed += bool(list(results.glob("runs/*.npz")))
        job = start(results, *SETTINGS, TMPDIR=str(temporary))
        sessions.add(job.pid)
        while plan and strike(job, results, *plan[-1], alone.seconds, rng):
            who, how = plan.pop()
            print(f"series {series}: {KILLS - len(plan)} of {KILLS}, {how.name} to the {who}", flush=True)
            if who == "parent":
                break
        _, err = job.communicate(timeout=900)
        assert job.returncode in CODES
        assert "run.py" not in err or "Traceback" not in err, err  # Python itself may answer, before run.py
        assert ends_within(job.pid, 60), "workers live on"
        done = job.returncode == 0
        if done:  # perhaps before it was killed: begin anew
            assert content(results) == alone.content
            assert leftovers(results) == []
            number += 1
    assert resumed, "no kill left a run to go on from"
    assert [path.name for path in temporary.iterdir()] == []
    assert shared_memory(sessions) == []


def strike(job, results: Path, who: str, how: int, seconds: dict[str, float], rng: random.Random) -> bool:
    """Whether the kill hit: at a random moment of a random stage, unless the job has ended by then.

    SIGKILL to the job itself comes at once after the first run is stored, so that every series has one to go on
    from.
    """
    stage = rng.choice(["start", "workers", "runs"] if who == "parent" else ["workers", "runs"])
    if (who, how) == ("parent", signal.SIGKILL):
        stage = "stored"
    if not reach(stage, job, results):
        return False
    if stage != "stored":
        time.sleep(rng.uniform(0, seconds[stage]))
    victims = [job.pid] if who == "parent" else workers_of(job.pid)
    return job.poll() is None and bool(victims) and kill(rng.choice(victims), how)


@pytest.mark.slow  # a job that computes
def test_who_ends_reproduce_ends_its_step(tmp_path):
    arguments = ("run.py", *SETTINGS, "K=100000000", f"runtime.results={tmp_path}")
    code = f"import sys, reproduce; sys.exit(reproduce.run(*{arguments!r}))"
    path = os.pathsep.join([str(ROOT / "experiments"), str(ROOT)])
    job = subprocess.Popen(
        [sys.executable, "-c", code], start_new_session=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert reach("runs", job, tmp_path)
    job.terminate()
    assert job.wait(60) == 128 + signal.SIGTERM
    assert ends_within(job.pid, 60), "the step lives on"
