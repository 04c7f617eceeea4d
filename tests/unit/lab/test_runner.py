"""Arms × seeds: nothing twice, nothing half, and the same files whoever computes them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dpucbvi.errors import InputError
from dpucbvi.lab import runner
from dpucbvi.lab.assemble import assemble
from dpucbvi.lab.experiment import Arm, Experiment, FigureSettings
from dpucbvi.lab.progress import counter, progress_board
from dpucbvi.lab.settings import EngineSettings, PostprocessSettings, RunSettings, canonical
from dpucbvi.lab.store import Store

ENV = {"name": "random", "S": 3, "A": 2, "H": 3}
BASE = RunSettings(env=ENV, engine=EngineSettings("reference"), K=20)
NONE = PostprocessSettings("none")
PUBLIC = replace(BASE, agent={"name": "ucbvi_ch"}, privatizer={"name": "non_private"}, postprocess=NONE)


def experiment(folder, workers=1, seeds=(0, 1), **arms) -> Experiment:
    made = [
        Arm(key, {}, key, None, None, canonical(settings), assemble(settings))
        for key, settings in (arms or {"dp": BASE, "public": PUBLIC}).items()
    ]
    figure, figures = FigureSettings(), folder / "figures"
    return Experiment("small", "regret", made, list(seeds), figure, folder, figures, workers, True)


def files(folder):
    """Every stored file by name; provenance without what the clock says."""
    contents = {}
    for path in sorted((folder / "runs").rglob("*.*")):
        if path.is_file():
            contents[str(path.relative_to(folder))] = path.read_bytes()
        if path.name == "provenance.json":
            provenance = json.loads(path.read_text())
            assert provenance.pop("seconds") > 0
            contents[str(path.relative_to(folder))] = provenance
    return contents


def test_one_and_two_workers_write_equal_files(tmp_path):
    tallies = [runner.run_experiment(experiment(tmp_path / str(n), workers=n)) for n in (1, 2)]
    assert tallies == [(4, 0, 0), (4, 0, 0)]
    assert files(tmp_path / "1") == files(tmp_path / "2")
    assert len(files(tmp_path / "1")) == 4 * 3
    index = [(tmp_path / str(n) / "experiments" / "small.json").read_text() for n in (1, 2)]
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


def test_a_half_written_run_is_redone_and_only_that(tmp_path):
    runner.run_experiment(experiment(tmp_path))
    before = files(tmp_path)
    victim = next((tmp_path / "runs").iterdir()) / "trace.npz"
    victim.write_bytes(victim.read_bytes()[:100])
    assert runner.run_experiment(experiment(tmp_path)) == (1, 3, 0)
    assert files(tmp_path) == before


def test_arms_with_equal_settings_share_their_runs(tmp_path):
    assert runner.run_experiment(experiment(tmp_path, a=BASE, b=replace(BASE))) == (2, 0, 0)
    a, b = Store(tmp_path).load_experiment("small").arms
    assert [run.config for run in a.runs] == [run.config for run in b.runs]


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


def test_the_board_counts_every_run(tmp_path):
    with progress_board("title", [5, 7], shown=False) as board:
        for slot, episodes in ((0, 2), (1, 7), (0, 3)):
            counter(board, slot)(episodes)
        assert np.fromfile(board, dtype=np.int64).tolist() == [5, 7]
    assert not board.exists()


@pytest.mark.parametrize(
    ("terminal", "shown", "bar"), [("1", True, True), ("1", False, False), ("0", True, False)]
)
def test_the_bar_shows_on_a_terminal_only(monkeypatch, capsys, terminal, shown, bar):
    monkeypatch.setenv("TTY_COMPATIBLE", terminal)
    with progress_board("title", [5], shown):
        pass
    assert ("episodes" in capsys.readouterr().out) == bar
