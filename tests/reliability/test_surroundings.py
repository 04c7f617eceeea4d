"""Jobs in odd surroundings: a terminal without ε, no compiler, a closed pipe, odd variables, other jobs."""

import io
import os
import re
import sys
from subprocess import PIPE

import pytest
from jobs import ROOT, content, leftovers, run, start

TINY = ("engine=reference", "env.H=3", "env.S=3", "K=8", "runs=1", "runtime.workers=1")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_without_epsilon_gets_a_question_mark(encoding, cli, monkeypatch, tmp_path):
    """task=certify prints ε, δ, μ, ρ and ∞."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    code, _, _ = cli("task=certify", *TINY, "privatizer=non_private", f"runtime.results={tmp_path / 'results'}")
    out.flush()
    said = out.buffer.getvalue().decode(encoding)
    assert code == 0 and "dp_ucbvi" in said
    assert ("∞" in said, "?" in said) == ((True, False) if encoding == "utf-8" else (False, True))
    assert not (tmp_path / "results").exists()


def test_without_a_compiler_the_compiled_engine_is_one_line(cli, monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    code, out, err = cli(*TINY[1:], f"runtime.results={tmp_path / 'results'}")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: engine.name: fast [^\n]+ NUMBA_DISABLE_JIT is set; it takes [^\n]+\n", err)


ODD = {  # none of them may cost a run, or say a word
    "LC_ALL": "xx_YY",
    "PYTHONIOENCODING": "ascii",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",
    "MPLBACKEND": "nope",
    "MPLCONFIGDIR": "/dev/null/x",
    "XDG_CACHE_HOME": "/dev/null/x",
    "NUMBA_CACHE_DIR": "/dev/null/y",
    "JOBLIB_TEMP_FOLDER": "/dev/null/z",
    "TMPDIR": "/nowhere",
    "COLUMNS": "many",
    "TERM": "nope",
    "HYDRA_FULL_ERROR": "perhaps",
    "OMP_NUM_THREADS": "many",
}


@pytest.mark.slow  # a process that draws
def test_odd_variables_cost_nothing(tmp_path, faults):
    faults(len(ODD))
    environment = {**os.environ, **ODD, "PYTHONPATH": str(ROOT)}
    done = run(*TINY, f"runtime.results={tmp_path}", stdout=PIPE, env=environment, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 run computed" in done.stdout and done.stdout.isascii()
    assert (tmp_path / "figures" / "single.png").exists()


@pytest.mark.slow  # two processes
def test_nobody_who_reads(faults):
    """A closed pipe is nobody's mistake: no word."""
    faults(2)
    reader, writer = os.pipe()
    os.close(reader)
    for buffered in ("", "1"):  # at the first line, or at the end
        environment = {**os.environ, "PYTHONUNBUFFERED": buffered}
        closed = run("task=certify", *TINY, stdout=writer, env=environment)
        assert (closed.returncode, closed.stderr) == (1, "")
    os.close(writer)


SMALL = ("engine=reference", "env.H=3", "env.S=3", "K=300", "runs=4", "runtime.workers=1")
ARMS = "+arms={one: {}, two: {privatizer: {epsilon: 2}}}"
PROCESSES, TIMES, RUNS = 4, 10, 8


@pytest.mark.slow  # 41 processes
def test_four_processes_on_one_folder_do_nothing_twice(tmp_path, faults):
    faults(PROCESSES * TIMES)
    alone = start(tmp_path / "alone", *SMALL, ARMS)
    assert alone.wait(600) == 0
    expected = content(tmp_path / "alone")
    assert len(expected) == RUNS
    for i in range(TIMES):
        results = tmp_path / str(i)
        jobs = [start(results, *SMALL, ARMS) for _ in range(PROCESSES)]
        told = [job.communicate(timeout=900) for job in jobs]
        assert [job.returncode for job in jobs] == [0] * PROCESSES
        assert [err for _, err in told] == [""] * PROCESSES
        assert sum(int(re.search(r"(\d+) runs? computed", out)[1]) for out, _ in told) == RUNS
        assert content(results) == expected
        assert leftovers(results) == []
