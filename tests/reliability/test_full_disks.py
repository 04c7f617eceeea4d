"""A disk that is full, a folder that nobody can write in, a path that is too long: one line that names it.

Under a limit on the size of files a write fails as on a full disk. Nothing is half-written, what was finished
is stored, and the same command goes on where there is room again.
"""

import resource
from functools import partial
from pathlib import Path
from subprocess import PIPE

import pytest
from jobs import leftovers, run

TINY = ("engine=reference", "env.H=2", "env.S=2", "K=60", "runtime.workers=1", "runtime.progress=false")
GO_ON = "; finished runs are stored, run again to go on"


FULL = {  # what cannot be written, how many runs and bytes a file may have; which are stored
    "trace": ("runs/*", 1, 1_000, []),
    "figure": ("figures/single.png", 1, 20_000, ["runs", "single.npz"]),
    "CSV": ("single.csv", 100, 250_000, ["figures", "runs", "single.npz"]),
}


@pytest.mark.slow  # two processes that draw
@pytest.mark.parametrize(("file", "runs", "limit", "stored"), FULL.values(), ids=FULL)
def test_a_full_disk_is_one_line_and_leaves_nothing_half_written(file, runs, limit, stored, tmp_path):
    command = (*TINY, f"runs={runs}", f"runtime.results={tmp_path}")
    limited = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
    full = run(*command, stdout=PIPE, preexec_fn=limited)
    assert full.returncode == 1
    named, _, said = full.stderr.removeprefix("error: ").partition(": ")
    assert Path(named).match(str(tmp_path / file))
    assert said == f"cannot be read or written (File too large){GO_ON}\n"
    assert leftovers(tmp_path) == [] and not Path(named).exists()
    assert sorted({path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*.*")}) == stored
    again = run(*command, stdout=PIPE)
    assert (again.returncode, again.stderr) == (0, "")
    computed = 0 if stored else runs
    assert f"{computed} runs computed, {runs - computed} loaded".replace("1 runs", "1 run") in again.stdout
    assert (tmp_path / file).exists() or not stored


@pytest.mark.slow  # a process that draws
def test_an_output_that_is_full_is_one_line(tmp_path):
    with open("/dev/full", "w") as full:
        done = run(*TINY, "runs=1", f"runtime.results={tmp_path}", stdout=full)
    said = "error: a file, or the output: cannot be read or written (No space left on device)"
    assert (done.returncode, done.stderr) == (1, f"{said}{GO_ON}\n")


PLACES = {  # nothing is computed for results that cannot be written; root can write in any folder
    "a file for a folder": ("taken", "File exists"),
    "a file above the folder": ("taken/x", "Not a directory"),
    "a folder of the kernel": ("/proc/x", "No such file or directory"),
    "a long name": ("x" * 300, "File name too long"),
    "a long path": ("x/" * 3000, "File name too long"),
}


@pytest.mark.parametrize(("place", "why"), PLACES.values(), ids=PLACES)
def test_a_place_that_cannot_be_written_is_refused_first(place, why, cli, monkeypatch, tmp_path):
    monkeypatch.setattr("experiments.lab.runner.run_one", None)  # never reached
    (tmp_path / "taken").write_text("a file")
    code, _, err = cli(f"runtime.results={tmp_path / place}")
    assert (code, err) == (2, f"error: runtime.results: cannot write in {tmp_path / place} ({why})\n")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "taken"]
