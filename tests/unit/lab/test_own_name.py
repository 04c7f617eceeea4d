"""An experiment that the command line changes has a name of its own."""

import pytest

from experiments.lab.command_line import changes, own_name


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("+exp=riverswim", ""),
        ("+exp=riverswim runtime.workers=1 runtime.results=/x name=mine", ""),
        ("+exp=riverswim K=200 runs=2", "K=200 runs=2"),
        ("+exp=riverswim ~arms.ldp_eps2 figure.x=linear", "~arms.ldp_eps2 figure.x=linear"),
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
