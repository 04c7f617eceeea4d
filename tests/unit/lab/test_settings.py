"""Settings in canonical form say what the run reads and nothing else; bad ones are refused by key."""

from dataclasses import asdict
from typing import Any

import pytest

from dpucbvi.environments import ENVIRONMENTS
from dpucbvi.errors import InputError
from dpucbvi.mdp import TabularMDP
from dpucbvi.privacy.words import SystemWords
from dpucbvi.privatizers import PRIVATIZERS
from experiments.lab.assemble import assemble
from experiments.lab.settings import (
    AttackSettings,
    BonusSettings,
    ConfidenceSettings,
    EngineSettings,
    PostprocessSettings,
    RunSettings,
    canonical,
    run_settings,
    to_dict,
)

CENTRAL = {"name": "central", "epsilon": 1.0}
NON_PRIVATE = {"name": "non_private", "epsilon": 1.0, "sensitivity": "paper"}
REFERENCE = EngineSettings("reference")


def with_env(**env: Any) -> RunSettings:
    return RunSettings(env={"name": "riverswim", **env})


def with_agent(**agent: Any) -> RunSettings:
    return RunSettings(agent={"name": "dp_ucbvi", **agent})


def with_privatizer(**privatizer: Any) -> RunSettings:
    return RunSettings(privatizer={**CENTRAL, **privatizer})


SAME_RUN = {
    "epsilon without privacy": (
        RunSettings(privatizer=NON_PRIVATE),
        RunSettings(privatizer={"name": "non_private", "epsilon": 7.0, "sensitivity": "replace_one"}),
    ),
    "E without privacy": (
        RunSettings(privatizer=NON_PRIVATE, confidence=ConfidenceSettings("proven", 1.0, 1.0)),
        RunSettings(privatizer=NON_PRIVATE, confidence=ConfidenceSettings("printed", 3.0, 0.5)),
    ),
    "the constant of a proven E": (
        RunSettings(confidence=ConfidenceSettings("proven", 1.0, 0.5)),
        RunSettings(confidence=ConfidenceSettings("proven", 4.0, 0.5)),
    ),
    "a default that is typed": (with_env(), with_env(S=6, H=20, variant="chowdhury_zhou")),
    "a default that is taken back": (with_env(), with_env(S=None, path=None)),
    "an epsilon without a point": (with_privatizer(epsilon=2), with_privatizer(epsilon=2.0)),
}


@pytest.mark.parametrize(("one", "other"), SAME_RUN.values(), ids=SAME_RUN.keys())
def test_what_a_run_does_not_read_does_not_name_it(one, other):
    assert repr(one) != repr(other)
    assert canonical(one) == canonical(other)
    assert repr(to_dict(canonical(one))) == repr(to_dict(canonical(other)))  # 2 == 2.0, but not in a hash


STORED = {
    "a run": RunSettings(K=9),
    "a reference": RunSettings(engine=REFERENCE),
    "an audit": RunSettings(attack=AttackSettings("released", 500, "ten_percent")),
}


@pytest.mark.parametrize("settings", STORED.values(), ids=STORED)
def test_what_is_stored_is_read_as_the_same_run(settings):
    stored = to_dict(canonical(settings))
    assert canonical(run_settings(stored)) == canonical(settings)


def test_an_audit_has_no_other_engine():
    with pytest.raises(InputError, match=r"^engine\.name: an audit is of the compiled engine"):
        canonical(RunSettings(engine=REFERENCE, attack=AttackSettings("released")))


def solved_by(**named: Any) -> RunSettings:
    return RunSettings(postprocess=PostprocessSettings("cvxpy", **named), engine=REFERENCE)


# What is told, by the full name of the setting. Values of a wrong kind or size: reliability/test_bad_input.py.
REFUSED = {
    "privatizer.epsilon: a value is needed": with_privatizer(epsilon=None),
    f"privatizer.name: 'shuffle' is not one of {', '.join(PRIVATIZERS)}": with_privatizer(name="shuffle"),
    "privatizer.epsilom: no such key; did you mean epsilon?": with_privatizer(epsilom=1.0),
    "postprocess.name: PrivateUCBVI uses the noisy counts; it takes none": with_agent(name="private_ucb_vi"),
    "postprocess.solver: 'OSQP' is not one of HIGHS": solved_by(solver="OSQP"),
    "engine.name: fast has no compiled twin of the post-processing by cvxpy; it takes engine=reference": (
        RunSettings(postprocess=PostprocessSettings("cvxpy"))
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_run_is_told_by_its_full_name(message):
    with pytest.raises(InputError) as error:
        assemble(REFUSED[message])
    assert str(error.value).startswith(message) and "\n" not in str(error.value)


# --- what makes a run ----------------------------------------------------------------------------------------


def test_a_parameter_of_an_environment_is_named_as_its_own(monkeypatch):
    """Also if it has the name of a parameter of something else."""

    def slippery(epsilon: float = 0.1) -> TabularMDP:
        raise InputError(f"epsilon: {epsilon} is not accepted")

    monkeypatch.setitem(ENVIRONMENTS, "slippery", slippery)
    with pytest.raises(InputError, match=r"^env\.epsilon: 0\.1 is not accepted"):
        assemble(RunSettings(env={"name": "slippery"}))


def test_every_setting_reaches_the_run():
    setup = assemble(
        RunSettings(
            env={"name": "riverswim", "S": 3, "H": 4},
            agent={"name": "dp_ucbvi", "pooled": True, "cap": "steps_left"},
            privatizer={"name": "local", "epsilon": 2.0, "sensitivity": "replace_one", "families": "tuned"},
            postprocess=PostprocessSettings("closed_form", 2.5),
            bonus=BonusSettings(0.25),
            confidence=ConfidenceSettings("printed", 3.0, 0.5),
            engine=EngineSettings("fast", 7),
            K=100,
            beta=0.1,
            trace_points=10,
        )
    )
    assert setup.problem == (4, 3, 2, 100, 0.1, None)
    assert (setup.G, setup.postprocess, setup.trace_points, setup.lp_checks) == (1, "closed_form", 10, 7)
    assert (setup.agent.bonus_scale, setup.agent.pooled, setup.constants.scale) == (0.25, True, 0.25)
    assert (setup.agent.cap, setup.zero) == ("steps_left", 2.5)
    given = asdict(setup.privatizer)
    assert given.pop("words") is SystemWords  # never a setting
    assert given == {
        "noise": "simulation",
        "epsilon": 2.0,
        "sensitivity": "replace_one",
        "families": "tuned",
        "confidence_scale": 0.5,
        "printed_constant": 3.0,
    }
