"""Which arms a setting of the command line reaches: told, or refused with a line that works when typed."""

import re
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from dpucbvi.errors import InputError
from experiments.lab.command_line import as_one_experiment
from experiments.lab.compose import CONF, experiments
from experiments.lab.config_store import offer_environments
from experiments.lab.effect import check_effect
from experiments.lab.experiment import Experiment, experiment_from
from experiments.lab.settings import to_dict
from experiments.studies import names
from experiments.studies.shared.printed import printed_curves


def made(*arguments: str) -> tuple[list[str], Experiment]:
    """The overrides of a command line as Hydra gets them, and the experiment that they make."""
    overrides = as_one_experiment(list(arguments))
    offer_environments(CONF)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", overrides)
    return overrides, experiment_from(config, Path("/nowhere"), names(), printed_curves())


def told(*arguments: str) -> list[str]:
    return check_effect(*made(*arguments))


def refused(*arguments: str) -> str:
    with pytest.raises(InputError) as error:
        told(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


def swept(experiment: Experiment, group: str, key: str, values: set[float]) -> tuple[int, int]:
    """How many arms of the config run with each of these values, and how many there are."""
    seen: dict[str, set[float]] = {}
    for arm in experiment.arms:
        others = arm.name(f"{group}.{key}")
        seen.setdefault(others, set()).add(to_dict(arm.settings)[group].get(key))
    return sum(found == values for found in seen.values()), len(seen)


@pytest.mark.slow  # every arm of every experiment is made twice: a minute
@pytest.mark.parametrize("name", experiments())
def test_a_list_of_values_says_which_arms_it_sweeps(name):
    """Of all experiments of the paper: what is said is what the arms' settings are."""
    overrides, experiment = made(f"+exp={name}", "privatizer.epsilon=3,4")
    n, of = swept(experiment, "privatizer", "epsilon", {3.0, 4.0})
    if n == 0:
        message = refused(f"+exp={name}", "privatizer.epsilon=3,4")
        assert message.startswith("grid.privatizer.epsilon: has no effect, ")
        advice = re.search(r"; write (\S+) instead$", message)
        assert advice and told(f"+exp={name}", advice[1]) is not None
        assert swept(made(f"+exp={name}", advice[1])[1], "privatizer", "epsilon", {3.0, 4.0})[0] > 0
    else:
        lines = check_effect(overrides, experiment)
        assert len(lines) == (n < of)
        assert n == of or f"grid.privatizer.epsilon=[3,4] changes {n} of {of} arms; not " in lines[0]


ARMS = "+arms={own: {grid: {K: [7]}}, without: {K: 9, grid: {K: null}}, taken: {K: 8}}"


def test_a_grid_goes_before_an_arms_value_and_its_own_grid_before_that():
    overrides, experiment = made(ARMS, "K=5,6")
    assert [arm.settings.K for arm in experiment.arms] == [7, 9, 5, 6]
    assert check_effect(overrides, experiment) == [
        "grid.K=[5,6] changes 1 of 3 arms; not own, without, which have their own grid or do not read it"
    ]
    assert told("+grid={K: [5, 6]}") == told("grid.K=5,6") == told("K=5,6") == []


@pytest.mark.parametrize("spelling", ["K=5,6", "grid.K=[5,6]", "+grid={K:[5,6]}"])
def test_a_grid_that_every_arm_replaces_is_refused(spelling):
    message = refused("+arms={a: {grid: {K: [7]}}}", spelling)
    assert message == (
        "grid.K: has no effect, every arm that reads it takes it from a grid; write arms.a.grid.K=[5,6] instead"
    )
    assert told("+arms={a: {grid: {K: [7]}}}", "arms.a.grid.K=[5,6]") == []


def test_a_grid_that_no_arm_reads_is_refused():
    message = refused("privatizer=non_private", "postprocess=none", "grid.privatizer.epsilon=[1,2]")
    assert message == "grid.privatizer.epsilon: has no effect, nothing that was chosen reads it"


def test_an_arm_cannot_have_more_runs_than_there_are_seeds():
    message = refused("+arms={a: {K: 7}, b: {K: 8}}", "runs=2", "+arms.a.runs=7")
    assert message == "arms.a.runs: 7 is more than the 2 runs of all arms; write runs=7 too"
    assert told("+arms={a: {K: 7}, b: {K: 8}}", "runs=7", "+arms.a.runs=7") == []
    assert told("+exp=explain", "runs=2") == []  # where arms have 5 runs in the file


ADVISED = {  # the first place that takes the very value
    ("+exp=riverswim", "privatizer=batches"): "arms.jdp_eps2.privatizer.name=batches",  # not ucbvi
    ("+exp=riverswim", "bonus=literal"): "arms.ucbvi.bonus.scale=1.0",
    ("+exp=riverswim", "engine=reference", "postprocess=cvxpy"): "arms.ucbvi.postprocess.name=cvxpy",
    ("+exp=privacy_for_free", "K=5"): "grid.K=[5]",
    ("+arms={a: {grid: {K: [7]}}}", "K=5"): "arms.a.grid.K=[5]",
    ("+arms={a: {grid: {K: [7]}}, b: {K: 3}}", "K=5"): "arms.a.grid.K=[5]",
    ("+arms={a: {privatizer: {epsilon: 1}}}", "privatizer.epsilon=7"): "arms.a.privatizer.epsilon=7",
}


@pytest.mark.parametrize(("command", "advice"), ADVISED.items(), ids=map(" ".join, ADVISED))
def test_the_advice_is_of_the_value_that_was_asked_for_and_works_when_typed(command, advice):
    assert refused(*command).endswith(f"; write {advice} instead")
    assert all(" changes " in line for line in told(*command[:-1], advice))  # not refused


def test_where_no_arm_can_take_the_value_none_is_named():
    message = refused("+exp=riverswim", "postprocess=cvxpy")
    assert message.startswith(
        "postprocess.name: has no effect, every arm that reads it sets it itself, and none"
    )
    assert (
        "of them can take it: engine.name: fast has no compiled twin of the post-processing by cvx" in message
    )
    assert "write" not in message


SOME = "+arms={a: {runs: 3}, b: {K: 9}, c: {runs: 8}}"


def test_runs_that_an_arm_does_not_have_are_told():
    assert told(SOME, "runs=5") == ["runs=5: a has 3"]
    assert told(SOME, "runs=9") == ["runs=9: a has 3, c has 8"]
    assert told(SOME, "runs=2") == told(SOME) == []
    experiment = made(SOME, "runs=5")[1]
    assert [len(experiment.seeds_of(arm)) for arm in experiment.arms] == [3, 5, 5]


def test_runs_that_no_arm_has_are_refused():
    every = "+arms={a: {runs: 3}, b: {runs: 4}}"
    assert refused(every, "runs=5") == ("runs: has no effect, every arm has fewer; write arms.a.runs=5 instead")
    assert told(every, "runs=5", "arms.a.runs=5") == ["runs=5: b has 4"]
    assert told(every, "runs=4") == ["runs=4: a has 3"]
