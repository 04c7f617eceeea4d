"""A config in canonical form says what the run reads and nothing else; a bad one is refused by key."""

from dataclasses import asdict, replace

import pytest

from dpucbvi import factory
from dpucbvi.config import (
    AgentConfig,
    BonusConfig,
    ConfidenceConfig,
    EngineConfig,
    EnvConfig,
    PostprocessConfig,
    PrivatizerConfig,
    RunConfig,
    canonical,
    to_dict,
)
from dpucbvi.errors import InputError

NON_PRIVATE = PrivatizerConfig("non_private", 1.0, "paper")
REFERENCE = EngineConfig("reference")


def test_the_default_is_canonical_up_to_what_it_does_not_read():
    config = canonical(RunConfig())
    assert canonical(config) == config
    assert config.postprocess == PostprocessConfig("closed_form", None, None)
    assert config.confidence == ConfidenceConfig("proven", None, 1.0)
    assert config.privatizer == PrivatizerConfig("central", 1.0, "paper")
    assert config.engine == EngineConfig("fast", 200)


SAME_RUN = {
    "epsilon without privacy": (
        RunConfig(privatizer=PrivatizerConfig("non_private", 1.0, "paper")),
        RunConfig(privatizer=PrivatizerConfig("non_private", 7.0, "replace_one")),
    ),
    "E without privacy": (
        RunConfig(privatizer=NON_PRIVATE, confidence=ConfidenceConfig("proven", 1.0, 1.0)),
        RunConfig(privatizer=NON_PRIVATE, confidence=ConfidenceConfig("printed", 3.0, 0.5)),
    ),
    "the constant of a proven E": (
        RunConfig(confidence=ConfidenceConfig("proven", 1.0, 0.5)),
        RunConfig(confidence=ConfidenceConfig("proven", 4.0, 0.5)),
    ),
    "the solver of the closed form": (
        RunConfig(postprocess=PostprocessConfig("closed_form", "HIGHS", True)),
        RunConfig(postprocess=PostprocessConfig("closed_form", "CLARABEL", False)),
    ),
    "LP checks of the reference": (
        RunConfig(engine=EngineConfig("reference", 200)),
        RunConfig(engine=EngineConfig("reference", 0)),
    ),
}


@pytest.mark.parametrize(("one", "other"), SAME_RUN.values(), ids=SAME_RUN.keys())
def test_what_a_run_does_not_read_does_not_name_it(one, other):
    assert one != other
    assert canonical(one) == canonical(other)
    assert to_dict(canonical(one)) == to_dict(canonical(other))


OTHER_RUN = {
    "epsilon": replace(RunConfig(), privatizer=PrivatizerConfig("central", 2.0)),
    "sensitivity": replace(RunConfig(), privatizer=PrivatizerConfig("central", 1.0, "replace_one")),
    "model": replace(RunConfig(), privatizer=PrivatizerConfig("local")),
    "E": replace(RunConfig(), confidence=ConfidenceConfig("proven", scale=0.5)),
    "constant": replace(RunConfig(), confidence=ConfidenceConfig("printed", 2.0)),
    "bonus": replace(RunConfig(), bonus=BonusConfig(0.5)),
    "pooled": replace(RunConfig(), agent=AgentConfig(pooled=True)),
    "agent": replace(RunConfig(), agent=AgentConfig("private_ucb_vi")),
    "engine": replace(RunConfig(), engine=REFERENCE),
    "K": replace(RunConfig(), K=10),
    "beta": replace(RunConfig(), beta=0.1),
    "trace": replace(RunConfig(), trace_points=10),
    "env": replace(RunConfig(), env=EnvConfig("random")),
    "size": replace(RunConfig(), env=EnvConfig(S=4)),
}


@pytest.mark.parametrize("other", OTHER_RUN.values(), ids=OTHER_RUN.keys())
def test_what_a_run_reads_names_it(other):
    assert to_dict(canonical(other)) != to_dict(canonical(RunConfig()))


def test_cvxpy_reads_its_solver():
    one = canonical(RunConfig(postprocess=PostprocessConfig("cvxpy", "HIGHS", True)))
    assert to_dict(one)["postprocess"] == {"name": "cvxpy", "solver": "HIGHS", "canonical": True}
    for solver, nearest in (("CLARABEL", True), ("HIGHS", False)):
        assert canonical(RunConfig(postprocess=PostprocessConfig("cvxpy", solver, nearest))) != one


def test_to_dict_leaves_out_what_is_not_given():
    tree = to_dict(canonical(RunConfig(privatizer=NON_PRIVATE)))
    assert tree["privatizer"] == {"name": "non_private"}
    assert tree["postprocess"] == {"name": "closed_form"}
    assert tree["env"] == {"name": "riverswim"}
    assert tree["agent"] == {"name": "dp_ucbvi", "pooled": False}  # false is a value


def test_canonical_does_not_change_what_it_is_given():
    config = RunConfig(privatizer=PrivatizerConfig("non_private"), engine=EngineConfig("reference"))
    before = asdict(config)
    canonical(config)
    assert asdict(config) == before


NAN, INF = float("nan"), float("inf")

REFUSED = {
    "K": (RunConfig(K=0), "K: 0 is not accepted; it must be an integer >= 1"),
    "trace": (RunConfig(trace_points=1), "trace_points: 1 is not accepted; it must be an integer >= 2"),
    "beta 0": (RunConfig(beta=0.0), "beta: 0.0 is not accepted; it must be a number in (0, 1)"),
    "beta 1": (RunConfig(beta=1.0), "beta: 1.0 is not accepted"),
    "beta NaN": (RunConfig(beta=NAN), "beta: nan is not accepted"),
    "epsilon 0": (
        RunConfig(privatizer=PrivatizerConfig("central", 0.0)),
        "privatizer.epsilon: 0.0 is not accepted; it must be a number > 0",
    ),
    "epsilon negative": (
        RunConfig(privatizer=PrivatizerConfig("local", -1.0)),
        "privatizer.epsilon: -1.0 is not",
    ),
    "epsilon infinite": (
        RunConfig(privatizer=PrivatizerConfig("central", INF)),
        "privatizer.epsilon: inf is not",
    ),
    "epsilon NaN": (RunConfig(privatizer=PrivatizerConfig("central", NAN)), "privatizer.epsilon: nan is not"),
    "epsilon missing": (
        RunConfig(privatizer=PrivatizerConfig("central", None)),
        "privatizer.epsilon: None is not",
    ),
    "sensitivity": (
        RunConfig(privatizer=PrivatizerConfig("central", 1.0, "half")),
        "privatizer.sensitivity: half is not accepted; it must be one of paper, replace_one",
    ),
    "privatizer": (
        RunConfig(privatizer=PrivatizerConfig("shuffle")),
        "privatizer.name: shuffle is not accepted; it must be one of non_private, central, local",
    ),
    "postprocess": (
        RunConfig(postprocess=PostprocessConfig("clip")),
        "postprocess.name: clip is not accepted; it must be one of none, closed_form, cvxpy",
    ),
    "confidence": (RunConfig(confidence=ConfidenceConfig("guess")), "confidence.name: guess is not accepted"),
    "constant": (
        RunConfig(confidence=ConfidenceConfig("printed", 0.0)),
        "confidence.constant: 0.0 is not accepted; it must be a number > 0",
    ),
    "confidence scale": (
        RunConfig(confidence=ConfidenceConfig(scale=-1.0)),
        "confidence.scale: -1.0 is not accepted; it must be a number >= 0",
    ),
    "confidence scale NaN": (RunConfig(confidence=ConfidenceConfig(scale=NAN)), "confidence.scale: nan is not"),
    "bonus scale": (
        RunConfig(bonus=BonusConfig(0.0)),
        "bonus.scale: 0.0 is not accepted; it must be a number > 0",
    ),
    "engine": (RunConfig(engine=EngineConfig("gpu")), "engine.name: gpu is not accepted"),
    "lp_checks": (RunConfig(engine=EngineConfig("fast", -1)), "engine.lp_checks: -1 is not accepted"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_value_that_is_not_accepted_is_named(config, message):
    with pytest.raises(InputError) as error:
        canonical(config)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_edges_that_are_accepted():
    canonical(
        RunConfig(K=1, trace_points=2, confidence=ConfidenceConfig(scale=0.0), engine=EngineConfig("fast", 0))
    )


# --- the factory ----------------------------------------------------------------------------------------

COMBINATIONS = {
    "agent": (RunConfig(agent=AgentConfig("q_learning")), "agent.name: 'q_learning' is not one of dp_ucbvi"),
    "private UCBVI": (
        RunConfig(agent=AgentConfig("ucbvi_bf")),
        "privatizer.name: ucbvi_bf is not private; it takes non_private",
    ),
    "projected Private-UCB-VI": (
        RunConfig(agent=AgentConfig("private_ucb_vi")),
        "postprocess.name: private_ucb_vi uses the noisy counts; it takes none",
    ),
    "raw DP-UCBVI": (
        RunConfig(postprocess=PostprocessConfig("none")),
        "postprocess.name: dp_ucbvi takes closed_form or cvxpy when counts are noisy",
    ),
    "fast cvxpy": (RunConfig(postprocess=PostprocessConfig("cvxpy")), "postprocess.name: engine fast takes"),
    "pooled random MDP": (
        RunConfig(env=EnvConfig("random"), agent=AgentConfig(pooled=True)),
        "agent.pooled: true needs an environment whose P and r do not depend on h",
    ),
    "env": (RunConfig(env=EnvConfig("maze")), "env.name: 'maze' is not one of riverswim, random"),
    "env key": (RunConfig(env=EnvConfig("riverswim", A=3)), "env.A: riverswim does not take it; it takes S, H"),
    "env size": (
        RunConfig(env=EnvConfig("riverswim", S=0)),
        "env.S: 0 is not accepted; it must be an integer >= 1",
    ),
    "env horizon": (RunConfig(env=EnvConfig("random", H=0)), "env.H: 0 is not accepted"),
    "env variant": (
        RunConfig(env=EnvConfig(variant="wide")),
        "env.variant: 'wide' is not one of chowdhury_zhou",
    ),
    "env file": (RunConfig(env=EnvConfig("file", path="no.npz")), "env.path: no file 'no.npz'"),
    "value": (RunConfig(K=0), "K: 0 is not accepted"),
}


@pytest.mark.parametrize(("config", "message"), COMBINATIONS.values(), ids=COMBINATIONS.keys())
def test_a_combination_that_makes_no_run_is_refused(config, message):
    with pytest.raises(InputError) as error:
        factory.set_up(config)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_an_unknown_solver_is_refused():
    config = RunConfig(postprocess=PostprocessConfig("cvxpy", "OSQP"), engine=REFERENCE, K=2)
    with pytest.raises(
        InputError, match=r"^postprocess\.solver: OSQP is not accepted; it must be one of HIGHS"
    ):
        factory.set_up(config)


ACCEPTED = {
    "dp_ucbvi central": RunConfig(K=9),
    "dp_ucbvi local": RunConfig(privatizer=PrivatizerConfig("local"), K=9),
    "dp_ucbvi cvxpy": RunConfig(postprocess=PostprocessConfig("cvxpy"), engine=REFERENCE, K=9),
    "dp_ucbvi pooled": RunConfig(agent=AgentConfig(pooled=True), K=9),
    "dp_ucbvi": RunConfig(privatizer=NON_PRIVATE, postprocess=PostprocessConfig("none"), K=9),
    "dp_ucbvi printed": RunConfig(confidence=ConfidenceConfig("printed", 2.0), K=9),
    "ucbvi_ch": RunConfig(agent=AgentConfig("ucbvi_ch"), privatizer=NON_PRIVATE, K=9),
    "ucbvi_bf": RunConfig(agent=AgentConfig("ucbvi_bf"), privatizer=NON_PRIVATE, K=9),
    "private_ucb_vi": RunConfig(
        agent=AgentConfig("private_ucb_vi"), postprocess=PostprocessConfig("none"), K=9
    ),
}


@pytest.mark.parametrize("config", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_a_run_is_built_from_every_arm(config):
    """Its parts fit together: a first plan of the right shape, and an update that takes a trajectory."""
    setup = factory.set_up(config)
    privatizer = factory.privatizer(setup, seed=0)
    plan = next(factory.algorithm(setup, privatizer))
    assert plan.Q.shape == (20, 6, 2) and plan.pi.shape == (20, 6)
    assert privatizer.E == setup.E and privatizer.G == setup.G == (1 if config.agent.pooled else 20)
    private = config.privatizer.name != "non_private"
    assert (setup.E > 0) == (setup.noise_scale > 0) == private


def test_set_up_fills_in_the_environment():
    """The name of a run does not depend on whether a default was typed."""
    short = factory.set_up(RunConfig(env=EnvConfig("riverswim"))).config
    typed = EnvConfig("riverswim", S=6, H=20, variant="chowdhury_zhou", rewards="deterministic")
    assert factory.set_up(RunConfig(env=typed)).config == short
    assert to_dict(short)["env"]["S"] == 6


def test_scales_multiply():
    full = factory.set_up(RunConfig(K=100))
    half = factory.set_up(RunConfig(K=100, confidence=ConfidenceConfig("proven", scale=0.5)))
    assert half.E == pytest.approx(full.E / 2) and half.noise_scale == full.noise_scale
    printed = factory.set_up(RunConfig(K=100, confidence=ConfidenceConfig("printed", 1.0)))
    triple = factory.set_up(RunConfig(K=100, confidence=ConfidenceConfig("printed", 3.0)))
    assert triple.E == pytest.approx(3 * printed.E)
    assert factory.set_up(RunConfig(K=100, bonus=BonusConfig(0.25))).constants.scale == 0.25
