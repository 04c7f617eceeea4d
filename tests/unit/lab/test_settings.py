"""Settings in canonical form say what the run reads and nothing else; bad ones are refused by key."""

from copy import deepcopy
from dataclasses import asdict
from typing import Any

import pytest

from dpucbvi.environments import ENVIRONMENTS
from dpucbvi.errors import InputError
from dpucbvi.mdp import TabularMDP
from dpucbvi.privacy.words import SystemWords
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.simulate import private_counts
from experiments.lab.assemble import assemble, environment
from experiments.lab.settings import (
    AttackSettings,
    BonusSettings,
    ConfidenceSettings,
    EngineSettings,
    PostprocessSettings,
    RunSettings,
    canonical,
    from_stored,
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


def test_the_default_is_canonical_up_to_what_it_does_not_read():
    settings = canonical(RunSettings())
    assert canonical(settings) == settings
    assert settings.env == {
        "name": "riverswim",
        "S": 6,
        "H": 20,
        "variant": "chowdhury_zhou",
        "rewards": "deterministic",
    }
    assert settings.agent == {"name": "dp_ucbvi", "pooled": False, "cap": "H", "minimum": True}
    assert settings.privatizer == {
        "name": "central",
        "epsilon": 1.0,
        "sensitivity": "paper",
        "families": "paper",
        "every": 1,
        "noise": "simulation",
    }
    assert settings.postprocess == PostprocessSettings("closed_form", 0.0, None, None)
    assert settings.confidence == ConfidenceSettings("proven", None, 1.0)
    assert settings.engine == EngineSettings("fast", 200)


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
    "the solver of the closed form": (
        RunSettings(postprocess=PostprocessSettings("closed_form", 0.0, "HIGHS", True)),
        RunSettings(postprocess=PostprocessSettings("closed_form", 0.0, "CLARABEL", False)),
    ),
    "LP checks of the reference": (
        RunSettings(engine=EngineSettings("reference", 200)),
        RunSettings(engine=EngineSettings("reference", 0)),
    ),
    "a default that is typed": (with_env(), with_env(S=6, H=20, variant="chowdhury_zhou")),
    "a default that is taken back": (with_env(), with_env(S=None, path=None)),
    "a sensitivity that is typed": (with_privatizer(), with_privatizer(sensitivity="paper")),
    "a pooling that is typed": (with_agent(), with_agent(pooled=False)),
    "a cap that is typed": (with_agent(), with_agent(cap="H")),
    "families that are typed": (with_privatizer(), with_privatizer(families="paper", every=1)),
    "an epsilon without a point": (with_privatizer(epsilon=2), with_privatizer(epsilon=2.0)),
}


@pytest.mark.parametrize(("one", "other"), SAME_RUN.values(), ids=SAME_RUN.keys())
def test_what_a_run_does_not_read_does_not_name_it(one, other):
    assert repr(one) != repr(other)
    assert canonical(one) == canonical(other)
    assert repr(to_dict(canonical(one))) == repr(to_dict(canonical(other)))  # 2 == 2.0, but not in a hash


OTHER_RUN = {
    "epsilon": with_privatizer(epsilon=2.0),
    "sensitivity": with_privatizer(sensitivity="replace_one"),
    "model": with_privatizer(name="local"),
    "E": RunSettings(confidence=ConfidenceSettings("proven", scale=0.5)),
    "constant": RunSettings(confidence=ConfidenceSettings("printed", 2.0)),
    "bonus": RunSettings(bonus=BonusSettings(0.5)),
    "pooled": with_agent(pooled=True),
    "agent": with_agent(name="private_ucb_vi"),
    "engine": RunSettings(engine=REFERENCE),
    "attack": RunSettings(attack=AttackSettings("released")),
    "K": RunSettings(K=10),
    "beta": RunSettings(beta=0.1),
    "trace": RunSettings(trace_points=10),
    "env": with_env(name="random"),
    "size": with_env(S=4),
    "cap": with_agent(cap="steps_left"),
    "families": with_privatizer(families="tuned"),
    "every": with_privatizer(every=2),
    "zero": RunSettings(postprocess=PostprocessSettings("closed_form", 2.0)),
}


@pytest.mark.parametrize("other", OTHER_RUN.values(), ids=OTHER_RUN.keys())
def test_what_a_run_reads_names_it(other):
    assert to_dict(canonical(other)) != to_dict(canonical(RunSettings()))


def test_cvxpy_reads_its_solver():
    one = canonical(RunSettings(postprocess=PostprocessSettings("cvxpy", 0.0, "HIGHS", True)))
    assert to_dict(one)["postprocess"] == {
        "name": "cvxpy",
        "zero": 0.0,
        "solver": "HIGHS",
        "canonical": True,
        "known_rewards": False,
        "known_support": False,
    }
    for solver, nearest in (("CLARABEL", True), ("HIGHS", False)):
        assert canonical(RunSettings(postprocess=PostprocessSettings("cvxpy", 0.0, solver, nearest))) != one


def test_to_dict_leaves_out_what_is_not_read():
    tree = to_dict(canonical(RunSettings(privatizer=NON_PRIVATE)))
    assert tree["privatizer"] == {"name": "non_private"}
    assert tree["postprocess"] == {
        "name": "closed_form",
        "zero": 0.0,
        "known_rewards": False,
        "known_support": False,
    }
    assert set(tree["env"]) == {"name", "S", "H", "variant", "rewards"}
    assert tree["agent"] == {
        "name": "dp_ucbvi",
        "pooled": False,
        "cap": "H",
        "minimum": True,
    }  # false is a value
    assert tree["confidence"] == {"name": "proven", "scale": 1.0}


STORED = {
    "a run": RunSettings(K=9),
    "a reference": RunSettings(engine=REFERENCE),
    "an audit": RunSettings(attack=AttackSettings("released", 500, "half_scale", "add_remove")),
}


@pytest.mark.parametrize("settings", STORED.values(), ids=STORED)
def test_what_is_stored_is_read_as_the_same_run(settings):
    stored = to_dict(canonical(settings))
    assert canonical(from_stored(stored)) == canonical(settings)
    assert (stored["engine"]["name"] == "audit") == settings.audits and "attack" not in stored


def test_an_audit_has_no_other_engine():
    with pytest.raises(InputError, match=r"^engine\.name: an audit is of the compiled engine"):
        canonical(RunSettings(engine=REFERENCE, attack=AttackSettings("released")))


def test_canonical_does_not_change_what_it_is_given():
    settings = RunSettings(env={"name": "riverswim", "S": None}, privatizer=NON_PRIVATE, engine=REFERENCE)
    before = deepcopy(asdict(settings))
    canonical(settings)
    assert asdict(settings) == before


NAN, INF = float("nan"), float("inf")

REFUSED = {
    "K": (RunSettings(K=0), "K: 0 is not accepted; it must be an integer from 1 to 10"),
    "K large": (RunSettings(K=10**20), f"K: {10**20} is not accepted; it must be an integer from 1 to"),
    "trace": (RunSettings(trace_points=1), "trace_points: 1 is not accepted; it must be an integer >= 2"),
    "beta 0": (RunSettings(beta=0.0), "beta: 0.0 is not accepted; it must be a number in (0, 1)"),
    "beta 1": (RunSettings(beta=1.0), "beta: 1.0 is not accepted"),
    "beta NaN": (RunSettings(beta=NAN), "beta: nan is not accepted"),
    "epsilon 0": (
        with_privatizer(epsilon=0.0),
        "privatizer.epsilon: 0.0 is not accepted; it must be a number > 0",
    ),
    "epsilon negative": (with_privatizer(name="local", epsilon=-1.0), "privatizer.epsilon: -1.0 is not"),
    "epsilon infinite": (with_privatizer(epsilon=INF), "privatizer.epsilon: inf is not"),
    "epsilon NaN": (with_privatizer(epsilon=NAN), "privatizer.epsilon: nan is not"),
    "epsilon missing": (with_privatizer(epsilon=None), "privatizer.epsilon: a value is needed"),
    "epsilon not given": (RunSettings(privatizer={"name": "local"}), "privatizer.epsilon: a value is needed"),
    "epsilon tiny": (with_privatizer(epsilon=1e-320), "privatizer.epsilon: the noise of Central is not finite"),
    "epsilon a text": (with_privatizer(epsilon="one"), "privatizer.epsilon: 'one' is not accepted"),
    "sensitivity": (
        with_privatizer(sensitivity="half"),
        "privatizer.sensitivity: half is not accepted; it must be one of paper, replace_one",
    ),
    "privatizer": (
        with_privatizer(name="shuffle"),
        f"privatizer.name: 'shuffle' is not one of {', '.join(PRIVATIZERS)}",
    ),
    "privatizer key": (with_privatizer(epsilom=1.0), "privatizer.epsilom: no such key; did you mean epsilon?"),
    "privatizer factor": (with_privatizer(confidence_scale=1.0), "privatizer.confidence_scale: no such key"),
    "privatizer name": (RunSettings(privatizer={"epsilon": 1.0}), "privatizer.name: a value is needed"),
    "agent key": (with_agent(pool=True), "agent.pool: no such key; did you mean pooled?"),
    "agent factor": (with_agent(bonus_scale=1.0), "agent.bonus_scale: no such key"),
    "agent pooled": (with_agent(pooled=1), "agent.pooled: 1 is not accepted; it must be true or false"),
    "postprocess": (
        RunSettings(postprocess=PostprocessSettings("clp")),
        "postprocess.name: clp is not accepted; it must be one of none, closed_form, clip, cvxpy",
    ),
    "postprocess canonical": (
        RunSettings(postprocess=PostprocessSettings("cvxpy", canonical=None), engine=REFERENCE),
        "postprocess.canonical: null is not accepted; it must be true or false",
    ),
    "confidence": (
        RunSettings(confidence=ConfidenceSettings("guess")),
        "confidence.name: guess is not accepted; it must be one of proven, printed",
    ),
    "constant": (
        RunSettings(confidence=ConfidenceSettings("printed", 0.0)),
        "confidence.constant: 0.0 is not accepted; it must be a number > 0",
    ),
    "constant missing": (
        RunSettings(confidence=ConfidenceSettings("printed", None)),
        "confidence.constant: null is not accepted; it must be a number > 0",
    ),
    "confidence scale": (
        RunSettings(confidence=ConfidenceSettings(scale=-1.0)),
        "confidence.scale: -1.0 is not accepted; it must be a number >= 0",
    ),
    "confidence scale NaN": (
        RunSettings(confidence=ConfidenceSettings(scale=NAN)),
        "confidence.scale: nan is not",
    ),
    "bonus scale": (
        RunSettings(bonus=BonusSettings(0.0)),
        "bonus.scale: 0.0 is not accepted; it must be a number > 0",
    ),
    "engine": (
        RunSettings(engine=EngineSettings("gpu")),
        "engine.name: gpu is not accepted; it must be one of reference, fast",
    ),
    "lp_checks": (RunSettings(engine=EngineSettings("fast", -1)), "engine.lp_checks: -1 is not accepted"),
    "lp_checks missing": (
        RunSettings(engine=EngineSettings("fast", None)),
        "engine.lp_checks: null is not accepted; it must be an integer >= 0",
    ),
}


@pytest.mark.parametrize(("settings", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_value_that_is_not_accepted_is_named(settings, message):
    with pytest.raises(InputError) as error:
        assemble(settings)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_edges_that_are_accepted():
    assemble(
        RunSettings(
            K=1, trace_points=2, confidence=ConfidenceSettings(scale=0.0), engine=EngineSettings("fast", 0)
        )
    )


# --- what makes no run ----------------------------------------------------------------------------------

COMBINATIONS = {
    "agent": (with_agent(name="q_learning"), "agent.name: 'q_learning' is not one of dp_nash_vi, dp_ucbvi"),
    "private UCBVI": (with_agent(name="ucbvi_bf"), "privatizer.name: UCBVI takes none and Central is JDP"),
    "PUCB under LDP": (
        RunSettings(
            agent={"name": "pucb"},
            privatizer={"name": "local", "epsilon": 1.0},
            postprocess=PostprocessSettings("none"),
        ),
        "privatizer.name: PUCB takes none or JDP and Local is LDP",
    ),
    "LDP-OBI under JDP": (
        RunSettings(agent={"name": "ldp_obi"}, postprocess=PostprocessSettings("none")),
        "privatizer.name: LDPOBI takes none or LDP and Central is JDP",
    ),
    "projected Private-UCB-VI": (
        with_agent(name="private_ucb_vi"),
        "postprocess.name: PrivateUCBVI uses the noisy counts; it takes none",
    ),
    "raw DP-UCBVI": (
        RunSettings(postprocess=PostprocessSettings("none")),
        "postprocess.name: DPUCBVI takes closed_form, clip or cvxpy when counts are noisy",
    ),
    "fast cvxpy": (
        RunSettings(postprocess=PostprocessSettings("cvxpy")),
        "engine.name: fast has no compiled twin of the post-processing by cvxpy; it takes engine=reference",
    ),
    "pooled random MDP": (
        RunSettings(env={"name": "random"}, agent={"name": "dp_ucbvi", "pooled": True}),
        "agent.pooled: true needs an environment whose P and r do not depend on h",
    ),
    "env": (with_env(name="maze"), "env.name: 'maze' is not one of riverswim, chain"),
    "env name": (RunSettings(env={"S": 6}), "env.name: a value is needed"),
    "env key": (with_env(SS=3), "env.SS: no such key"),
    "env size": (with_env(S=0), "env.S: 0 is not accepted; it must be an integer >= 2"),
    "env horizon": (with_env(name="random", H=0), "env.H: 0 is not accepted; it must be an integer >= 1"),
    "env seed": (with_env(name="random", seed=-1), "env.seed: -1 is not accepted; it must be an integer >= 0"),
    "env type": (with_env(S="six"), "env.S: 'six' is not accepted; it must be an integer"),
    "env variant": (with_env(variant="wide"), "env.variant: 'wide' is not one of chowdhury_zhou"),
    "env rewards": (with_env(rewards="gauss"), "env.rewards: 'gauss' is not one of deterministic, bernoulli"),
    "env gap": (with_env(name="hard_tree", gap=0.0), "env.gap: 0.0 is not accepted"),
    "env file": (with_env(name="file", path="no.npz"), "env.path: no file 'no.npz'"),
    "env too large": (with_env(S=10**7), "env: riverswim of this size takes 9.6e+07 GB, this machine has "),
    "env beyond any size": (with_env(S=10**400), "env: riverswim cannot be made ("),
}


@pytest.mark.parametrize(("settings", "message"), COMBINATIONS.values(), ids=COMBINATIONS.keys())
def test_a_combination_that_makes_no_run_is_refused(settings, message):
    with pytest.raises(InputError) as error:
        assemble(settings)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_an_unknown_solver_is_refused():
    settings = RunSettings(postprocess=PostprocessSettings("cvxpy", 0.0, "OSQP"), engine=REFERENCE, K=2)
    with pytest.raises(
        InputError, match=r"^postprocess\.solver: OSQP is not accepted; it must be one of HIGHS"
    ):
        assemble(settings)


NO_SETTINGS = {
    "a key": ({"Kay": 5}, "Kay: no such key"),
    "a key of a group": ({"bonus": {"sale": 1.0}}, "bonus.sale: no such key; did you mean scale?"),
    "a value for a group": ({"agent": "dp_ucbvi"}, "agent: 'dp_ucbvi' is not accepted; it must be a group"),
    "a missing value": ({"beta": "???"}, "beta: a value is needed"),
    "a text": ({"K": "many"}, "K: 'many' is not accepted; it must be an integer"),
    "a fraction": ({"K": 2.5}, "K: 2.5 is not accepted; it must be an integer"),
}


@pytest.mark.parametrize(("tree", "message"), NO_SETTINGS.values(), ids=NO_SETTINGS.keys())
def test_plain_data_that_are_no_settings_are_refused(tree, message):
    with pytest.raises(InputError) as error:
        run_settings(tree)
    assert str(error.value).startswith(message)


# --- what makes one -------------------------------------------------------------------------------------

NONE = PostprocessSettings("none")
ACCEPTED = {
    "dp_ucbvi central": RunSettings(K=9),
    "dp_ucbvi local": RunSettings(privatizer={"name": "local", "epsilon": 1.0}, K=9),
    "dp_ucbvi cvxpy": RunSettings(postprocess=PostprocessSettings("cvxpy"), engine=REFERENCE, K=9),
    "dp_ucbvi pooled": RunSettings(agent={"name": "dp_ucbvi", "pooled": True}, K=9),
    "dp_ucbvi": RunSettings(privatizer=NON_PRIVATE, postprocess=NONE, K=9),
    "dp_ucbvi printed": RunSettings(confidence=ConfidenceSettings("printed", 2.0), K=9),
    "ucbvi_ch": RunSettings(agent={"name": "ucbvi_ch"}, privatizer=NON_PRIVATE, K=9),
    "ucbvi_refined": RunSettings(agent={"name": "ucbvi_refined"}, privatizer=NON_PRIVATE, K=9),
    "ucbvi_bf": RunSettings(agent={"name": "ucbvi_bf"}, privatizer=NON_PRIVATE, K=9),
    "private_ucb_vi": RunSettings(agent={"name": "private_ucb_vi"}, postprocess=NONE, K=9),
}


@pytest.mark.parametrize("settings", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_a_run_is_built_from_every_arm(settings):
    """Its parts fit together: a first plan of the right shape, and an update that takes a trajectory."""
    setup = assemble(settings)
    private = private_counts(setup, seed=0)
    plan = next(setup.agent.algorithm(setup.problem, private, setup.constants))
    assert plan.Q.shape == (20, 6, 2) and plan.pi.shape == (20, 6)
    assert private.E == setup.noise.E
    assert private.G == setup.G == (1 if settings.agent.get("pooled") else 20)
    noisy = settings.privatizer["name"] != "non_private"
    assert (setup.noise.E > 0) == (setup.noise.scale > 0) == noisy


def test_an_environment_by_its_name_alone():
    mdp = environment({"name": "random", "S": 2, "A": 3, "H": 4, "seed": 1})
    assert (mdp.H, mdp.S, mdp.A, mdp.rewards) == (4, 2, 3, "bernoulli")


def test_a_parameter_of_an_environment_is_named_as_its_own(monkeypatch):
    """Also if it has the name of a parameter of something else."""

    def slippery(epsilon: float = 0.1) -> TabularMDP:
        raise InputError(f"epsilon: {epsilon} is not accepted")

    monkeypatch.setattr(ENVIRONMENTS, "_things", {**ENVIRONMENTS._things, "slippery": slippery})
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


def test_factors_multiply():
    full = assemble(RunSettings(K=100))
    half = assemble(RunSettings(K=100, confidence=ConfidenceSettings("proven", scale=0.5)))
    assert half.noise.E == pytest.approx(full.noise.E / 2) and half.noise.scale == full.noise.scale
    printed = assemble(RunSettings(K=100, confidence=ConfidenceSettings("printed", 1.0)))
    triple = assemble(RunSettings(K=100, confidence=ConfidenceSettings("printed", 3.0)))
    assert triple.noise.E == pytest.approx(3 * printed.noise.E)
    assert assemble(RunSettings(K=100, bonus=BonusSettings(0.25))).constants.scale == 0.25
