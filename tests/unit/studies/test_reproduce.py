"""`make reproduce` knows every experiment, says what is left before it starts, and goes on after a failure."""

import sys
from pathlib import Path

import pytest
from tiny_house import House

from experiments import reproduce
from experiments.lab.shipped import Shipped

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    made, wrong = reproduce.steps(tmp_path_factory.mktemp("nothing stored"))
    assert wrong == []
    return made


@pytest.mark.slow  # every arm of every experiment is made: 20 s
def test_every_experiment_is_listed_once_with_its_minutes(listed):
    assert sorted(step.name for step in listed) == sorted(
        path.stem for path in (ROOT / "conf/exp").glob("*.yaml")
    )
    for step in listed:
        command = (ROOT / "conf/exp" / f"{step.name}.yaml").read_text().splitlines()[1]
        assert f"+exp={step.name} " in command and f"(about {step.minutes} min" in command
        assert step.missing == step.runs > 0 and step.left == step.minutes


@pytest.fixture
def commands(monkeypatch):
    """main() with two experiments, each command with the exit code that `codes` has for it."""

    def call(codes, wrong=(), *arguments):
        made = []

        def run(*command):
            made.append(command[:2])
            return codes.get(command[-1 if len(command) == 1 else 1], 0)

        listed = [reproduce.Step(name, 1, 1, 1) for name in ("a", "b")], list(wrong)
        monkeypatch.setattr(reproduce, "steps", lambda _: listed)
        monkeypatch.setattr(reproduce, "run", run)
        monkeypatch.setattr(sys, "argv", ["reproduce.py", *arguments])
        with pytest.raises(SystemExit) as stopped:
            reproduce.main()
        return made, stopped.value.code

    return call


ALL = [
    *(("run.py", "+exp=a"), ("run.py", "+exp=b")),
    *(("ship.py", "--results=results"), ("paper.py",)),
]


def test_everything_is_run_and_then_the_paper_is_written(commands):
    assert commands({}) == (ALL, 0)
    assert all((ROOT / "experiments" / command[0]).is_file() for command in ALL)


def test_a_failed_step_is_named_and_does_not_cost_the_others(commands, capsys):
    assert commands({"+exp=a": 1}) == (ALL, 1)
    assert capsys.readouterr().err == "error: 1 of 4 steps failed: run.py +exp=a\n"


def test_ctrl_c_ends_it(commands):
    assert commands({"+exp=b": 130}) == (ALL[:2], 130)


def test_what_cannot_be_run_is_named_and_does_not_cost_the_others(commands, capsys):
    assert commands({}, ["c: no"]) == (ALL, 1)
    assert capsys.readouterr().err == "error: cannot be run: c: no\nerror: was not run: c: no\n"
    assert commands({}, ["c: no"], "--dry-run") == ([], 1) and commands({}, [], "--dry-run") == ([], 0)


@pytest.mark.parametrize(
    "old, new, said",
    [
        (
            "(about 1 min",
            "(1 min",
            "one: conf/exp/one.yaml must state its command, its minutes and what it asks",
        ),
        ("# Two runs", "Two runs", "one: conf/exp/one.yaml must state"),
        ("runs: 1", "rums: 1", "one: rums: no such key; "),
        ("name: one", "name: [", "one: "),
    ],
)
def test_a_file_that_is_wrong_is_told_in_a_line(tmp_path, monkeypatch, old, new, said):
    house = House(tmp_path, monkeypatch)
    house.edit("one", old, new)
    listed, (wrong,) = reproduce.steps(house.results)
    assert [step.name for step in listed] == ["two"]
    assert wrong.startswith(said) and "\n" not in wrong


@pytest.mark.slow  # all that ships is read: 10 s
def test_the_minutes_that_are_stated_are_those_that_the_runs_took(listed):
    """Within a factor of two, on the two cores of the machine that computed them."""
    shipped = Shipped(ROOT / "paper" / "results")
    for step in listed:
        arms = shipped.load_experiment(step.name).arms
        seconds = {str(run.config): run.provenance["seconds"] for arm in arms for run in arm.runs}
        ratio = (sum(seconds.values()) / 120 + 0.5) / step.minutes
        assert 1 / 2 < ratio < 2, f"{step.name}: {sum(seconds.values()) / 120:.1f} of {step.minutes} minutes"
