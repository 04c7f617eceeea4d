"""Arms × seeds: nothing twice, nothing half, and the same files whoever computes them."""

import os
import re
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from dpucbvi.archive import encode, read_run
from dpucbvi.errors import InputError
from experiments.lab import runner
from experiments.lab.experiment import Arm, Experiment
from experiments.lab.process import Stopped
from experiments.lab.runner import Tally
from experiments.lab.settings import (
    EngineSettings,
    PostprocessSettings,
    RunSettings,
    RuntimeSettings,
    canonical,
)
from experiments.lab.store import Store, claim, is_claimed
from experiments.lab.workers import WorkerKilled

ENV = {"name": "random", "S": 3, "A": 2, "H": 3}
BASE = RunSettings(env=ENV, engine=EngineSettings("reference"), K=20)
NONE = PostprocessSettings("none")
PUBLIC = replace(BASE, agent={"name": "ucbvi_ch"}, privatizer={"name": "non_private"}, postprocess=NONE)


def experiment(folder, workers=1, seeds=(0, 1), **arms) -> Experiment:
    made = [
        Arm(key, {}, key, None, None, canonical(settings))
        for key, settings in (arms or {"dp": BASE, "public": PUBLIC}).items()
    ]
    runtime = RuntimeSettings(workers=workers)
    return Experiment("run", "small", "regret", made, list(seeds), folder, runtime)


def files(folder):
    """Every stored run by name, as the bytes it has without what the clock says."""
    contents = {}
    for path in sorted((folder / "runs").iterdir()):
        trace = read_run(path)
        assert trace.about["provenance"].pop("seconds") > 0
        contents[path.name] = encode({}, [trace])
    return contents


def test_one_and_two_workers_write_equal_files(tmp_path):
    tallies = [runner.run_experiment(experiment(tmp_path / str(n), workers=n)) for n in (1, 2)]
    assert tallies == [(4, 0, 0), (4, 0, 0)]
    assert files(tmp_path / "1") == files(tmp_path / "2")
    assert len(files(tmp_path / "1")) == 4
    index = [(tmp_path / str(n) / "small.npz").read_bytes() for n in (1, 2)]
    assert index[0] == index[1]


def task_of(made: Experiment) -> runner.Task:
    """Its only run."""
    (id,), (arm,), (seed,) = runner.run_ids(made), made.arms, made.seeds
    return runner.Task(id, arm.settings, seed)


def test_a_run_that_nobody_can_repeat_is_never_replaced(tmp_path):
    exact = replace(BASE, privatizer={"name": "central", "epsilon": 1.0, "noise": "exact"})
    runner.run_experiment(experiment(tmp_path, seeds=[0], a=exact))
    (file,) = (tmp_path / "runs").iterdir()
    file.write_bytes(damaged := file.read_bytes()[:-1])
    alone = experiment(tmp_path, seeds=[0], a=exact)
    beside = experiment(tmp_path, seeds=[0], b=BASE, a=exact)
    by_a_worker = partial(runner.run_one, task_of(alone), tmp_path, {})  # where it was damaged since
    for begin in (partial(runner.run_experiment, beside), by_a_worker):
        with pytest.raises(InputError, match="is not replaced: nobody can repeat exact noise"):
            begin()
    assert list((tmp_path / "runs").iterdir()) == [file] and file.read_bytes() == damaged


def test_a_worker_with_other_code_computes_nothing(tmp_path):
    with pytest.raises(InputError, match="its workers have other code than this process"):
        runner.run_one(task_of(experiment(tmp_path, seeds=[0], a=BASE)), tmp_path, {"code": "another hash"})
    assert list(tmp_path.iterdir()) == []


# --- several people -------------------------------------------------------------------------------------------

PEOPLE = (65533, 65534)


def by(user: int, function) -> str:
    """What becomes of a function that another user calls: its value or its error, as a text."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setgid(user)
        os.setuid(user)
        try:
            said = repr(function())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        return pipe.read()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become two other users")
def test_two_users_of_one_folder_do_not_replace_each_others_runs(monkeypatch, faults):
    """The second is told whose they are; neither "damaged" nor computed again, and nothing is left behind."""
    faults({"a run": 1, "a folder": 1, "a claim": 1})
    monkeypatch.setattr(runner, "provenance", dict)  # it starts git, which is not everybody's
    with TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o777)
        made, (one, other) = experiment(folder), PEOPLE
        for _ in range(2):  # then everything is imported that writing and reading need
            runner.run_experiment(experiment(folder / "once"))
        assert by(one, lambda: runner.run_experiment(made)) == repr(Tally(4, 0, 0))
        before = {path: path.stat().st_mtime_ns for path in folder.glob("runs/*")}
        told = by(other, lambda: runner.run_experiment(made))
        assert re.match(r"InputError: runtime.results: \S+ is another user's, and only its owner", told)
        told = by(other, lambda: runner.run_experiment(experiment(folder, seeds=[7])))
        assert re.match(r"InputError: runtime\.\w+: cannot write in \S+ \(Permission denied\)", told)
        assert by(one, lambda: runner.run_experiment(made)).startswith("Tally(computed=0, loaded=4")
        for name in ("runs", "claims"):  # as people may have them who want to share
            (folder / name).chmod(0o777)
        task = task_of(experiment(folder, seeds=[7], a=BASE))
        assert by(one, lambda: Store(folder).claim(task.id).touch(0o600)) == "None"
        assert by(other, lambda: runner.run_one(task, folder, {})).startswith("PermissionError")
        assert {path: path.stat().st_mtime_ns for path in folder.glob("runs/*")} == before
        assert list(folder.rglob(".*")) == []


def test_a_half_written_run_is_named_and_redone_and_only_that(tmp_path, capsys):
    runner.run_experiment(experiment(tmp_path))
    before = files(tmp_path)
    victim = next((tmp_path / "runs").iterdir())
    victim.write_bytes(victim.read_bytes()[:100])
    assert runner.run_experiment(experiment(tmp_path)) == (1, 3, 0)
    assert files(tmp_path) == before
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"note: {victim}: not what was written, the checksum differs; computed again"


def test_arms_meet_the_same_environment(tmp_path):
    """With one action there is one policy: only the environment can differ, and it must not."""
    base = replace(BASE, env={**ENV, "A": 1})
    arms = {
        "public": replace(base, privatizer={"name": "non_private"}, postprocess=NONE),
        "central": base,
        "local": replace(base, privatizer={"name": "local", "epsilon": 0.1}),
    }
    runner.run_experiment(experiment(tmp_path, **arms))
    visits = [[run.trace.N_sa for run in arm.runs] for arm in Store(tmp_path).load_experiment("small").arms]
    np.testing.assert_array_equal(visits[1], visits[0])
    np.testing.assert_array_equal(visits[2], visits[0])
    assert not np.array_equal(visits[0][0], visits[0][1])  # another seed, another environment


def test_what_a_process_left_that_was_killed_after_its_last_run_goes(tmp_path):
    """Nothing is left to compute, so nothing is written anew in its place."""
    runner.run_experiment(experiment(tmp_path))
    left = Store(tmp_path).claim(runner.run_ids(experiment(tmp_path))[0])
    left.touch()
    assert runner.run_experiment(experiment(tmp_path)) == (0, 4, 0)
    assert not left.exists()


# --- several processes, and processes that end ----------------------------------------------------------------


def test_a_run_that_another_process_computes_is_waited_for(tmp_path, monkeypatch):
    """Its claim is there when we come; while we wait, it is finished."""
    made = experiment(tmp_path, seeds=[0], a=BASE)
    task = task_of(made)
    store, lock = Store(tmp_path), ExitStack()
    assert lock.enter_context(claim(store.claim(task.id)))
    assert runner.run_one(task, tmp_path, {}) == (task.id, "claimed")

    def other_process_finishes(_):
        lock.close()
        assert runner.run_one(task, tmp_path, {}) == (task.id, "computed")

    monkeypatch.setattr(runner.time, "sleep", other_process_finishes)
    assert runner.run_experiment(made) == (0, 1, 0)
    assert list((tmp_path / "claims").iterdir()) == []


def test_a_claim_whose_process_was_killed_is_taken_over(tmp_path):
    path = tmp_path / "claims" / "run"
    held = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert held.stdout.readline() == "held\n"
        assert is_claimed(path)
        with claim(path) as granted:
            assert not granted
    finally:
        held.kill()
        held.communicate()
    assert path.exists() and not is_claimed(path)
    with claim(path) as granted:
        assert granted
    assert not path.exists()


HOLD = """
import sys, time
from pathlib import Path
from experiments.lab.store import claim
with claim(Path(sys.argv[1])) as granted:
    print("held" if granted else "taken", flush=True)
    time.sleep(60)
"""


def killed_at(monkeypatch, moments):
    """As if one worker computed, and was killed before the outcome of these jobs, counted over all tries."""
    seen = []

    def jobs_here(jobs, _):
        for job in jobs:
            seen.append(job)
            if len(seen) - 1 in moments:
                raise WorkerKilled
            yield job()

    monkeypatch.setattr(runner, "_execute", jobs_here)


def test_the_run_of_a_killed_worker_is_tried_once_more(tmp_path, monkeypatch, capsys):
    killed_at(monkeypatch, {1, 3})  # a run is finished between
    assert runner.run_experiment(experiment(tmp_path)) == (4, 0, 0)
    assert (
        capsys.readouterr().err.count("note: a worker was killed (out of memory?); its run is tried once") == 2
    )


def test_a_run_whose_worker_is_killed_twice_ends_the_experiment(tmp_path, monkeypatch):
    killed_at(monkeypatch, {1, 2})
    with pytest.raises(Stopped, match=r"killed twice .*; 1 of 4 runs are stored"):
        runner.run_experiment(experiment(tmp_path))
