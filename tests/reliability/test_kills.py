"""Killed at any moment, in any way, again and again: the job ends with the results of one left alone."""

import random
import signal
import time

import pytest
from jobs import content, ends_within, kill, leftovers, members, start

KILLS = 50
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP)
# Long enough for checkpoints, which a run of ten seconds has; two workers, two runs each.
SETTINGS = ("K=200000", "runs=4", "bonus.scale=0.001", "engine.lp_checks=5")


@pytest.mark.slow  # some 50 starts of a job of a minute
def test_random_kills_change_no_result(tmp_path, faults):
    """Seeded moments, signals and victims; a moment may fall into the start of the job or of its workers."""
    faults(KILLS)
    rng, began = random.Random(0), time.monotonic()
    alone = start(tmp_path / "alone", *SETTINGS)
    assert alone.wait(1800) == 0
    seconds, expected = time.monotonic() - began, content(tmp_path / "alone")
    results, job, number = tmp_path / "killed-0", None, 0
    for _ in range(KILLS):
        job = start(results, *SETTINGS)
        time.sleep(rng.uniform(0.0, seconds))
        workers = [process for process in members(job.pid) if process != job.pid]
        worker = bool(workers) and rng.random() < 0.5
        how = signal.SIGKILL if worker else rng.choice(SIGNALS)
        kill(rng.choice(workers) if worker else job.pid, how)
        _, err = job.communicate(timeout=600)
        assert "Traceback" not in err or how == signal.SIGINT, (
            err
        )  # Python itself answers before main() is reached
        assert ends_within(job.pid, 15), "workers live on"
        if job.returncode == 0:  # done, and perhaps before it was killed: begin anew
            assert content(results) == expected
            number += 1
            results = tmp_path / f"killed-{number}"
    job = start(results, *SETTINGS)
    assert job.wait(1800) == 0
    assert content(results) == expected
    assert leftovers(results) == []
