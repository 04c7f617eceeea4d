"""Any number of processes on one results folder: nothing is done twice, lost or left over."""

import re

import pytest
from jobs import content, leftovers, start
from preloaded import Command

SETTINGS = ("engine=reference", "env.H=3", "env.S=3", "K=300", "runs=4", "runtime.workers=1")
ARMS = "+arms={one: {}, two: {privatizer: {epsilon: 2}}}"
PROCESSES, TIMES, RUNS = 4, 10, 8


@pytest.mark.slow  # 41 processes
def test_four_processes_at_once(tmp_path, faults):
    faults(PROCESSES * TIMES)
    alone = start(tmp_path / "alone", *SETTINGS, ARMS)
    assert alone.wait(600) == 0
    expected = content(tmp_path / "alone")
    assert len(expected) == RUNS
    for i in range(TIMES):
        results = tmp_path / str(i)
        places = [tmp_path / f"{i}-{j}" for j in range(PROCESSES)]
        for place in places:
            place.mkdir()
        jobs = [Command(place, *SETTINGS, ARMS, f"runtime.results={results}") for place in places]
        done = [job.wait(900) for job in jobs]
        assert [(one.returncode, one.stderr) for one in done] == [(0, "")] * PROCESSES
        computed = [int(re.search(r"(\d+) runs? computed", one.stdout)[1]) for one in done]
        assert sum(computed) == RUNS, "work was done twice"
        assert content(results) == expected
        assert leftovers(results) == []
