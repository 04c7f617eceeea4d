"""Killed at any moment, in any way, again and again: the job ends with the results of one left alone."""

import random
import signal
import time
from collections import Counter

import pytest
from jobs import content, ends_within, kill, leftovers, shared_memory, start, workers_of

KILLS = 50
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP)
CODES = {0, 1, *(-s for s in SIGNALS), *(128 + s for s in SIGNALS)}
# Long enough for checkpoints, which a run of ten seconds has; two workers, two runs each.
SETTINGS = ("K=200000", "runs=4", "bonus.scale=0.001", "engine.lp_checks=5")
STARTING = 3.0  # seconds: a third of the kills come so early


@pytest.mark.slow  # some 50 starts of a job of half a minute
def test_random_kills_change_no_result(tmp_path, faults):
    """Seeded moments, signals and victims; a moment may fall into the start of the job or of its workers."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    rng, began = random.Random(0), time.monotonic()
    alone = start(tmp_path / "alone", *SETTINGS)
    assert alone.wait(1800) == 0
    seconds, expected = time.monotonic() - began, content(tmp_path / "alone")
    assert len(expected) == 8
    results, number, sessions, hit = tmp_path / "killed-0", 0, set(), Counter()
    while hit.total() < KILLS:
        job = start(results, *SETTINGS, TMPDIR=str(temporary))
        sessions.add(job.pid)
        time.sleep(rng.uniform(0.0, STARTING if rng.random() < 1 / 3 else seconds))
        workers, how = workers_of(job.pid), rng.choice(SIGNALS)
        victim = rng.choice(workers) if workers and rng.random() < 0.5 else job.pid
        if job.poll() is None and kill(victim, how):
            hit["parent" if victim == job.pid else "worker", how.name] += 1
        _, err = job.communicate(timeout=900)
        assert job.returncode in CODES
        assert "run.py" not in err or "Traceback" not in err, err  # Python itself may answer, before run.py
        assert ends_within(job.pid, 15), "workers live on"
        if job.returncode == 0:  # done, perhaps before it was killed: begin anew
            assert content(results) == expected
            assert leftovers(results) == []
            number += 1
            results = tmp_path / f"killed-{number}"
    job = start(results, *SETTINGS, TMPDIR=str(temporary))
    assert job.wait(1800) == 0
    assert content(results) == expected
    assert leftovers(results) == []
    assert [path.name for path in temporary.iterdir()] == []
    assert shared_memory(sessions) == []
    faults(hit.total())
    assert {who for who, _ in hit} == {"parent", "worker"} and {how for _, how in hit} == {
        s.name for s in SIGNALS
    }, hit
