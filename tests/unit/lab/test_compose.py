"""What a setting of the command line changes: no run (refused), some arms (told), the experiment's name."""

from pathlib import Path

import pytest

from dpucbvi.errors import InputError
from experiments.lab.audit import BROKEN
from experiments.lab.compose import Job, changes, check_changes, composed, config_of, own_name, with_grids
from experiments.lab.experiment import certified, experiment_from
from experiments.studies import names


def job(*arguments: str) -> Job:
    overrides = tuple(with_grids(list(arguments)))
    return Job(config_of(overrides), overrides)


def lines(*arguments: str) -> list[str]:
    return check_changes(job(*arguments))


NO_RUN = [
    ("+arms={a: {grid: {K: [7]}}}", "K=5"),
    ("+arms={a: {grid: {K: [7]}}}", "grid.K=[5,6]"),
    ("+arms={a: {privatizer: {epsilon: 1}}}", "privatizer.epsilon=7"),
    ("privatizer=non_private", "postprocess=none", "grid.privatizer.epsilon=[1,1.5]", "confidence.scale=0.5"),
    ("+arms={a: {K: 7}, b: {K: 8}}", "runs=2", "+arms.a.runs=7"),
    ("+arms={a: {runs: 3}, b: {runs: 4}}", "runs=6"),
    ("~bonus.scale",),
    ("attack.trials=7",),
]


@pytest.mark.parametrize("command", NO_RUN, ids=map(" ".join, NO_RUN))
def test_a_setting_that_changes_no_run_is_refused(command):
    """It is the last one of each: without it there is nothing to refuse."""
    with pytest.raises(InputError, match=r"^[^\n]+: changes no run; every arm has its own value, or does not"):
        lines(*command)
    assert isinstance(lines(*command[:-1]), list) or len(command) == 1


SOME = "+arms={a: {runs: 3}, b: {K: 9}, c: {runs: 8}}"
GRIDS = "+arms={own: {grid: {K: [7]}}, without: {K: 9, grid: {K: null}}, taken: {K: 8}}"
TOLD = {
    (GRIDS, "grid.K=[5,6]"): "grid.K=[5,6] changes 1 of 3 arms; not own, without, which have their own value",
    (SOME, "runs=9"): "runs=9 changes 2 of 3 arms; not a, which",
    (SOME, "K=5"): "K=5 changes 2 of 3 arms; not b, which",
    ("+exp=riverswim", "privatizer.sensitivity=replace_one"): "privatizer.sensitivity=replace_one changes",
}


@pytest.mark.parametrize(("command", "line"), TOLD.items(), ids=map(" ".join, TOLD))
def test_a_setting_that_some_arms_take_is_told(command, line):
    (said,) = lines(*command)
    assert said.startswith(line)


SILENT = [
    ("K=50000",),  # what it is anyway
    ("+exp=riverswim", "K=200", "runs=2", "study=regret", "runtime.workers=1", "name=mine"),
    ("+exp=riverswim", "arms.jdp_eps1.privatizer.epsilon=5", "~arms.ldp_eps2", "arms.ucbvi.panel=b"),
    ("+exp=explain", "runs=2"),  # where arms have 5 runs in the file
    ("agent=ucbvi_bf", "privatizer=non_private"),  # neither is an experiment without the other
    ("+grid={K: [5, 6]}",),
]


@pytest.mark.parametrize("command", SILENT, ids=map(" ".join, SILENT))
def test_a_setting_that_every_arm_takes_needs_no_word(command):
    assert lines(*command) == []


def test_a_grid_goes_before_an_arms_value_and_its_own_grid_before_that(tmp_path):
    experiment = experiment_from(job(GRIDS, "grid.K=[5,6]").config, tmp_path, ["regret"])
    assert [arm.settings.K for arm in experiment.arms] == [7, 9, 5, 6]


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("+exp=riverswim", ""),
        ("+exp=riverswim runtime.workers=1 runtime.results=/x name=mine", ""),
        ("+exp=audit task=run", "task=run"),
        ("+exp=riverswim K=200 runs=2", "K=200 runs=2"),
        ("+exp=riverswim ~arms.ldp_eps2 study=regret", "~arms.ldp_eps2 study=regret"),
        ("K=200 privatizer=local", ""),  # no experiment of conf/exp, so nothing of it is changed
        ("privatizer=local ++exp=table1", "privatizer=local"),
    ],
)
def test_what_is_a_change(command, changed):
    assert changes(command.split()) == tuple(changed.split())


def test_the_name_is_the_experiments_own_only_if_nothing_is_changed():
    names = {own_name("riverswim", changed) for changed in ((), ("K=200",), ("K=20",), ("K=200", "runs=2"))}
    assert len(names) == 4 and "riverswim" in names
    assert own_name("a", ("x=1", "y=2")) == own_name("a", ("y=2", "x=1"))  # however it was typed


# --- task=certify: honest releases of every kind, and broken ones ---------------------------------------------


@pytest.fixture(scope="module")
def rows():
    header, *rows = certified(experiment_from(composed("audit"), Path("/nowhere"), names()))
    return {row[0]: dict(zip(header, row, strict=True)) for row in rows}


COVERED = {
    (): "proven",
    ("confidence.scale=0.5",): "not proven",
    ("postprocess=clip",): "not proven",
    ("postprocess=cvxpy", "engine=reference"): "proven",
    ("privatizer=batches",): "not proven",
    ("agent=private_ucb_vi", "postprocess=none"): "-",
}


@pytest.mark.parametrize(("overrides", "said"), COVERED.items(), ids=map(" ".join, COVERED))
def test_assumption_3_1_is_proven_for_what_the_lp_makes_and_for_nothing_else(overrides, said):
    _, row = certified(experiment_from(config_of(overrides), Path("/nowhere"), names()))
    assert row[-1] == said


def test_what_is_broken_on_purpose_certifies_nothing(rows):
    """It pretends to be the privatizer it was made from, but not here."""
    for name in BROKEN:
        row = rows[name]
        assert (row["privacy"], row["ε (replaced)"]) == ("none", "∞")
        assert row["Assumption 3.1"] == "broken on purpose"
