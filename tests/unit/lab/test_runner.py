"""Arms × seeds: nothing twice, nothing half, and the same files whoever computes them."""

import errno
import fcntl
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

from dpucbvi.archive import encode, read_run
from dpucbvi.errors import InputError
from dpucbvi.files import HERE, own_name
from experiments.lab import progress, runner
from experiments.lab.assemble import assemble
from experiments.lab.claims import claim, is_claimed
from experiments.lab.experiment import Arm, Experiment, FigureSettings, RuntimeSettings
from experiments.lab.progress import counter, progress_board
from experiments.lab.settings import EngineSettings, PostprocessSettings, RunSettings, canonical
from experiments.lab.store import Store
from experiments.lab.workers import WorkerKilled

ENV = {"name": "random", "S": 3, "A": 2, "H": 3}
BASE = RunSettings(env=ENV, engine=EngineSettings("reference"), K=20)
NONE = PostprocessSettings("none")
PUBLIC = replace(BASE, agent={"name": "ucbvi_ch"}, privatizer={"name": "non_private"}, postprocess=NONE)


def experiment(folder, workers=1, seeds=(0, 1), **arms) -> Experiment:
    made = [
        Arm(key, {}, key, None, None, canonical(settings), assemble(settings))
        for key, settings in (arms or {"dp": BASE, "public": PUBLIC}).items()
    ]
    figure, figures, runtime = FigureSettings(), folder / "figures", RuntimeSettings(workers=workers)
    return Experiment("small", "regret", made, list(seeds), figure, folder, figures, runtime)


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


def test_a_complete_run_is_loaded_not_run_again(tmp_path, monkeypatch):
    runner.run_experiment(experiment(tmp_path))
    before = files(tmp_path)

    def forbidden(*_, **__):
        raise AssertionError("run again")

    monkeypatch.setattr(runner, "run_setup", forbidden)
    assert runner.run_experiment(experiment(tmp_path)) == (0, 4, 0)
    assert files(tmp_path) == before
    with pytest.raises(AssertionError, match="run again"):
        runner.run_experiment(experiment(tmp_path, seeds=(0, 1, 2)))


def test_runs_made_by_other_code_are_loaded_and_counted(tmp_path, monkeypatch):
    runner.run_experiment(experiment(tmp_path))
    monkeypatch.setattr(runner, "code", lambda: "other")
    tally = runner.run_experiment(experiment(tmp_path))
    assert tally == (0, 4, 4)
    assert str(tally) == "0 runs computed, 4 loaded (4 made by other code)"


def without_counts(folder, **named) -> Experiment:
    return replace(experiment(folder, **named), runtime=RuntimeSettings(workers=1, true_counts=False))


def test_true_counts_that_are_no_longer_wanted_go_and_nothing_is_computed(tmp_path, monkeypatch):
    """Stored with them and again without is the same, but for seconds, as stored without them at once."""
    runner.run_experiment(without_counts(tmp_path / "never"))
    runner.run_experiment(experiment(tmp_path / "no longer"))
    seconds = [run.provenance["seconds"] for run in runs_in(tmp_path / "no longer")]
    monkeypatch.setattr(runner, "run_setup", None)
    assert runner.run_experiment(without_counts(tmp_path / "no longer")) == (0, 4, 0)
    assert files(tmp_path / "no longer") == files(tmp_path / "never")
    assert [run.provenance["seconds"] for run in runs_in(tmp_path / "no longer")] == seconds
    assert len(list((tmp_path / "no longer" / "runs").iterdir())) == 4  # nothing of the old ones beside them


def test_true_counts_that_are_wanted_again_are_computed_again(tmp_path, capsys):
    runner.run_experiment(experiment(tmp_path / "always"))
    runner.run_experiment(without_counts(tmp_path / "again", seeds=(0,)))
    assert runner.plan(experiment(tmp_path / "again")).rows[:2] == [
        ("runs stored", "0"),
        ("runs to compute", "4"),
    ]
    assert runner.plan(without_counts(tmp_path / "again")).rows[0] == ("runs stored", "2")
    assert runner.run_experiment(experiment(tmp_path / "again")) == (4, 0, 0)
    assert files(tmp_path / "again") == files(tmp_path / "always")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(": stored without true counts; computed again (not so with --no-true-counts)")


def test_a_run_that_nobody_can_repeat_is_kept_without_its_true_counts(tmp_path):
    exact = replace(BASE, privatizer={"name": "central", "epsilon": 1.0, "noise": "exact"})
    runner.run_experiment(without_counts(tmp_path, seeds=[0], a=exact))
    before = files(tmp_path)
    assert runner.plan(experiment(tmp_path, seeds=[0], a=exact)).rows[0] == ("runs stored", "1")
    assert runner.run_experiment(experiment(tmp_path, seeds=[0], a=exact)) == (0, 1, 0)
    assert files(tmp_path) == before


def test_true_counts_of_a_run_that_another_process_finishes_go_when_it_has_ended(tmp_path, monkeypatch):
    """It wants them and stores them while we wait for its claim."""
    made, lock = without_counts(tmp_path, seeds=[0], a=BASE), ExitStack()
    (task,) = runner._tasks(made).values()
    runner.run_experiment(made)
    assert lock.enter_context(claim(Store(tmp_path).claim(task.id)))

    def other_process_finishes(_):
        lock.close()
        assert runner.run_one(task, tmp_path, {}) == (0, "computed")

    monkeypatch.setattr(runner.time, "sleep", other_process_finishes)
    assert runner.run_experiment(made) == (0, 1, 0)
    assert not Store(tmp_path).load(task.id).true_counts


def runs_in(folder):
    return [run for arm in Store(folder).load_experiment("small").arms for run in arm.runs]


def test_a_half_written_run_is_named_and_redone_and_only_that(tmp_path, capsys):
    runner.run_experiment(experiment(tmp_path))
    before = files(tmp_path)
    victim = next((tmp_path / "runs").iterdir())
    victim.write_bytes(victim.read_bytes()[:100])
    assert runner.run_experiment(experiment(tmp_path)) == (1, 3, 0)
    assert files(tmp_path) == before
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"note: {victim}: not what was written, the checksum differs; computed again"


def test_arms_with_equal_settings_share_their_runs(tmp_path):
    assert runner.run_experiment(experiment(tmp_path, a=BASE, b=replace(BASE))) == (2, 0, 0)
    a, b = Store(tmp_path).load_experiment("small").arms
    assert [run.config for run in a.runs] == [run.config for run in b.runs]


def test_an_arm_may_have_fewer_runs(tmp_path):
    few = experiment(tmp_path, seeds=(4, 5, 6))
    few.arms[0].runs, few.arms[1].runs = 2, 9  # more than there are seeds: all of them
    assert len(runner.run_ids(few)) == 5
    assert runner.run_experiment(few) == (5, 0, 0)
    stored = Store(tmp_path).load_experiment("small")
    assert [[run.config["seed"] for run in arm.runs] for arm in stored.arms] == [[4, 5], [4, 5, 6]]


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


def test_a_failing_run_leaves_the_finished_ones_and_no_index(tmp_path, monkeypatch):
    engine = runner.run_setup

    def fail_on_seed_1(setup, seed, *rest, **named):
        if seed == 1:
            raise ArithmeticError("engine")
        return engine(setup, seed, *rest, **named)

    monkeypatch.setattr(runner, "run_setup", fail_on_seed_1)
    with pytest.raises(ArithmeticError):
        runner.run_experiment(experiment(tmp_path))
    assert len(list((tmp_path / "runs").iterdir())) == 2
    assert Store(tmp_path).experiments() == []


def test_the_seconds_before_a_checkpoint_are_stored_too(tmp_path, monkeypatch):
    engine = runner.run_setup
    monkeypatch.setattr(runner, "run_setup", lambda *a, **b: engine(*a, **b)._replace(earlier_seconds=5_000.0))
    runner.run_experiment(experiment(tmp_path, seeds=[0], a=BASE))
    (run,) = runs_in(tmp_path)
    assert 5_000.0 < run.provenance["seconds"] < 5_100.0


def test_the_engine_gets_a_checkpoint_and_it_goes_when_the_run_is_stored(tmp_path, monkeypatch):
    engine, seen = runner.run_setup, []

    def with_checkpoint(*arguments, checkpoint, **named):
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        checkpoint.write_text("")
        seen.append(checkpoint)
        return engine(*arguments, checkpoint=checkpoint, **named)

    monkeypatch.setattr(runner, "run_setup", with_checkpoint)
    runner.run_experiment(experiment(tmp_path))
    assert len(set(seen)) == 4
    assert {path.parent for path in seen} == {tmp_path / "checkpoints"}
    assert not any(path.exists() for path in seen)


def test_what_a_process_left_that_was_killed_after_its_last_run_goes(tmp_path):
    """Nothing is left to compute, so nothing is written anew in its place."""
    runner.run_experiment(experiment(tmp_path))
    store, ended = Store(tmp_path), subprocess.Popen(["true"])
    ended.wait()
    checkpoint = store.checkpoint(runner.run_ids(experiment(tmp_path))[0])
    progress = tmp_path / f".progress~{HERE}~{ended.pid}~0"
    left = [checkpoint, checkpoint.with_name(f".{checkpoint.name}~{HERE}~{ended.pid}~1"), progress]
    left.append(store.claim(checkpoint.stem))
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert runner.run_experiment(experiment(tmp_path)) == (0, 4, 0)
    assert [path for path in left if path.exists()] == []


@pytest.mark.parametrize("name", ["reference", "fast"])
def test_a_run_is_computed_by_the_engine_of_its_settings(tmp_path, monkeypatch, name):
    """The compiled engine checks LPs and says so; the reference has nothing to check."""
    engine, seen = runner.run_setup, []

    def told(setup, seed, engine_name, **named):
        seen.append(engine_name)
        return engine(setup, seed, engine_name, **named)

    monkeypatch.setattr(runner, "run_setup", told)
    runner.run_experiment(experiment(tmp_path, seeds=[0], a=replace(BASE, engine=EngineSettings(name, 20))))
    (arm,) = Store(tmp_path).load_experiment("small").arms
    assert seen == [name] and arm.runs[0].config["engine"]["name"] == name
    assert bool(arm.runs[0].trace.checks) == (name == "fast")


def test_results_that_cannot_be_written_are_refused_first(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "run_setup", None)  # never reached
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InputError, match=r"runtime\.results"):
        runner.run_experiment(experiment(tmp_path / "taken"))


# --- several processes, and processes that end ----------------------------------------------------------------


def test_a_run_that_another_process_computes_is_waited_for(tmp_path, monkeypatch):
    """Its claim is there when we come; while we wait, it is finished."""
    made = experiment(tmp_path, seeds=[0], a=BASE)
    (task,) = runner._tasks(made).values()
    store, lock = Store(tmp_path), ExitStack()
    assert lock.enter_context(claim(store.claim(task.id)))
    assert runner.run_one(task, tmp_path, {}) == (0, "claimed")

    def other_process_finishes(_):
        lock.close()
        assert runner.run_one(task, tmp_path, {}) == (0, "computed")

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
from experiments.lab.claims import claim
with claim(Path(sys.argv[1])) as granted:
    print("held" if granted else "taken", flush=True)
    time.sleep(60)
"""


def test_where_nothing_can_be_locked_every_claim_is_granted(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with claim(tmp_path / "a") as one, claim(tmp_path / "a") as other:
        assert one and other


def killed_at(monkeypatch, moments):
    """_execute as it is, but a worker is killed before the outcome of these jobs, counted over all tries."""
    seen = []

    def execute(made, jobs):
        for job in jobs:
            seen.append(job)
            if len(seen) - 1 in moments:
                counter(job.arguments[3], job.arguments[4])(5)  # it was under way
                raise WorkerKilled
            yield job()

    monkeypatch.setattr(runner, "_execute", execute)


def test_the_run_of_a_killed_worker_is_tried_once_more(tmp_path, monkeypatch, capsys):
    killed_at(monkeypatch, {1, 3})  # two runs, once each
    assert runner.run_experiment(experiment(tmp_path)) == (4, 0, 0)
    assert (
        capsys.readouterr().err.count("note: a worker was killed (out of memory?); its run is tried once") == 2
    )


def test_a_run_whose_worker_is_killed_twice_ends_the_experiment(tmp_path, monkeypatch):
    killed_at(monkeypatch, {1, 2})
    with pytest.raises(runner.WorkerDied, match=r"killed twice .*; 1 of 4 runs are stored"):
        runner.run_experiment(experiment(tmp_path))


def test_a_full_disk_costs_the_checkpoint_and_not_the_run(tmp_path, monkeypatch):
    """Nothing half-written is left either."""
    full = OSError(errno.ENOSPC, "No space left on device")

    def no_space(*_, **__):
        raise full

    monkeypatch.setattr(np, "savez", no_space)
    monkeypatch.setattr("dpucbvi.engine.fast.CHECKPOINT_SECONDS", 0.0)
    fast = replace(BASE, engine=EngineSettings("fast", 0))
    assert runner.run_experiment(experiment(tmp_path, seeds=[0], a=fast)) == (1, 0, 0)
    assert list((tmp_path / "checkpoints").iterdir()) == []
    monkeypatch.setattr("dpucbvi.archive.write_private", no_space)
    with pytest.raises(OSError, match="No space"):
        runner.run_experiment(experiment(tmp_path, seeds=[1], a=fast))
    assert len(list((tmp_path / "runs").iterdir())) == 1


# --- progress -------------------------------------------------------------------------------------------------


def test_the_board_counts_every_run(tmp_path):
    with progress_board("title", [5, 7], [1.0, 1.0], False, tmp_path) as board:
        for slot, episodes in ((0, 2), (1, 7)):
            counter(board.path, slot)(episodes)
        assert (board.done(), board.under_way(0), board.runs()) == (9, True, "0/2 runs")
        board.finish(0)
        assert (board.done(), board.under_way(0), board.runs()) == (12, False, "1/2 runs")
        counter(board.path, 1)(1)  # a run that is tried again starts from nothing
        assert board.done() == 6
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    dead = subprocess.Popen(["true"])
    dead.wait()
    names = {"dead": f".progress~{HERE}~{dead.pid}~0", "lives": f".progress~{HERE}~{os.getppid()}~9"}
    names |= {"elsewhere": f".progress~{'0' * 8}~{dead.pid}~0", "other": f".figure~{HERE}~{dead.pid}~0"}
    names["ours"] = own_name(tmp_path / "progress").name
    names["predecessor"] = f".progress~{HERE}~{os.getpid()}~987654321"  # had our number, before a restart
    for name in names.values():
        (tmp_path / name).touch()
    with progress_board("title", [5], [1.0], False, tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir()} == set(names.values()) - {
        names["dead"],
        names["predecessor"],
    }


@pytest.mark.parametrize(
    ("terminal", "shown", "bar"), [("1", True, True), ("1", False, False), ("0", True, False)]
)
def test_the_bar_shows_on_a_terminal_only(monkeypatch, capsys, tmp_path, terminal, shown, bar):
    monkeypatch.setenv("TTY_COMPATIBLE", terminal)
    with progress_board("title", [50_000], [1.0], shown, tmp_path):
        pass
    assert ("0/50,000 episodes" in capsys.readouterr().out) == bar


def test_without_a_terminal_there_is_a_line_now_and_then(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.02)
    with progress_board("title", [50_000, 50_000], [1.0, 1.0], True, tmp_path) as board:
        board.finish(0)
        time.sleep(0.2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "title: 1/2 runs, 50,000 of 100,000 episodes, time left unknown\n" in err


def test_the_time_left_does_not_rise_in_the_first_minute(monkeypatch):
    clock = iter([0.0, 1.0, 11.0, 21.0, 81.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    left = progress.TimeLeft()
    said = [left.text(done, 1000) for done in (0, 100, 200, 210, 220)]
    assert said == ["compiling or starting", "compiling or starting", "80 s left", "70 s left", "9 min left"]


def test_the_time_left_counts_work_not_episodes(monkeypatch, tmp_path):
    """Of three runs the first has nearly all the episodes and takes as long as each of the others."""
    clock = iter([0.0, 10.0, 20.0])
    with progress_board("title", [300_000, 4, 4], [5.0, 5.0, 5.0], False, tmp_path) as board:
        monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
        said = []
        for slot in (1, 0, 2):
            board.finish(slot)
            said.append(board.time_left())
    assert said == ["compiling or starting", "10 s left", "0 s left"]


def test_workers_leave_ctrl_c_and_the_end_of_a_terminal_to_who_started_them():
    """In a fresh process, whose first worker makes Python start a helper that would unblock SIGINT."""
    asked = "set(__import__('signal').pthread_sigmask(0, ()))"  # SIG_BLOCK nothing: the mask as it is
    code = (
        "from experiments.lab.workers import DEAF_TO, Job, processes\n"
        f'masks = list(processes([Job(eval, ("{asked}",))] * 2, 2))\n'
        "print(masks == [DEAF_TO] * 2, masks)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("True"), done.stdout
