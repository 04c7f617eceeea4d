"""From settings to the parts of a run: the only place that maps names to code."""

from dataclasses import asdict, replace
from inspect import signature
from typing import NamedTuple

from dpucbvi.agents import AGENTS, REFUSALS, Constants, Noise
from dpucbvi.algorithm1 import Algorithm
from dpucbvi.binary_mechanism import levels
from dpucbvi.confidence import (
    Problem,
    counters,
    order_central,
    order_local,
    proven_central,
    proven_local,
)
from dpucbvi.config import EnvConfig, PostprocessConfig, RunConfig, canonical
from dpucbvi.environments import ENVIRONMENTS
from dpucbvi.errors import InputError
from dpucbvi.mdp import TabularMDP
from dpucbvi.noise import LaplaceStream, seed_stream
from dpucbvi.privacy.accountant import (
    Certificate,
    certify_central,
    certify_local,
    certify_non_private,
    sensitivity,
)
from dpucbvi.privatizers import (
    Local,
    LocalRandomizer,
    NonPrivate,
    Privatizer,
    Release,
    central,
    central_scale,
    local_scale,
)
from dpucbvi.projection import CvxpyPostprocess, Postprocess, closed_form, no_postprocess


class Setup(NamedTuple):
    """All that a run is made of, but for its randomness; both engines start from it."""

    config: RunConfig
    mdp: TabularMDP
    problem: Problem
    G: int  # steps counted apart: H, or 1 if pooled
    noise_scale: float  # of one Laplace draw; 0 without privacy
    E: float
    constants: Constants
    certificate: Certificate


def set_up(config: RunConfig) -> Setup:
    """Check the settings and work out every number that does not depend on the seed."""
    config = replace(canonical(config), env=complete_env(config.env))
    mdp = environment(config.env)
    problem = Problem(mdp.H, mdp.S, mdp.A, config.K, config.beta)
    _check_combination(config, mdp)
    G = 1 if config.agent.pooled else mdp.H
    scale, certificate = _noise(config, problem)
    E = _confidence(config, problem, G, scale)
    terms = levels(config.K) if config.privatizer.name == "central" else config.K
    constants = AGENTS[config.agent.name].constants(config, problem, Noise(scale, terms, E))
    return Setup(config, mdp, problem, G, scale, E, constants, certificate)


def complete_env(config: EnvConfig) -> EnvConfig:
    """The same environment with every parameter it takes filled in."""
    if config.name not in ENVIRONMENTS:
        raise InputError(f"env.name: {config.name!r} is not one of {', '.join(ENVIRONMENTS)}")
    accepted = signature(ENVIRONMENTS[config.name]).parameters
    given = {key: value for key, value in asdict(config).items() if value is not None and key != "name"}
    for key, value in given.items():
        if key not in accepted:
            raise InputError(f"env.{key}: {config.name} does not take it; it takes {', '.join(accepted)}")
        if key in ("S", "A", "H") and value < 1:
            raise InputError(f"env.{key}: {value} is not accepted; it must be an integer >= 1")
        if key == "seed" and value < 0:
            raise InputError(f"env.seed: {value} is not accepted; it must be an integer >= 0")
    defaults = {key: parameter.default for key, parameter in accepted.items()}
    return EnvConfig(name=config.name, **{**defaults, **given})


def environment(config: EnvConfig) -> TabularMDP:
    """The named environment with the given parameters."""
    parameters = {key: value for key, value in asdict(config).items() if value is not None}
    return ENVIRONMENTS[parameters.pop("name")](**parameters)


def algorithm(setup: Setup, privatizer: Privatizer) -> Algorithm:
    """The reference algorithm, ready to yield its first policy."""
    return AGENTS[setup.config.agent.name].algorithm(setup.problem, privatizer, setup.constants)


def privatizer(setup: Setup, seed: int) -> Privatizer:
    """The reference privatizer on the run's privacy stream."""
    S, A, G = setup.problem.S, setup.problem.A, setup.G
    size = counters(G, S, A)
    stream = LaplaceStream(seed_stream(seed, "privacy"))
    releases: dict[str, Release] = {
        "non_private": NonPrivate(size),
        "central": central(size, setup.problem.K, setup.noise_scale, stream),
        "local": Local(size, LocalRandomizer(setup.noise_scale, stream)),
    }
    release = releases[setup.config.privatizer.name]
    return Privatizer(release, postprocess(setup.config.postprocess), setup.E, G, S, A)


def postprocess(config: PostprocessConfig) -> Postprocess:
    if config.name == "cvxpy":
        assert config.solver is not None and config.canonical is not None
        return CvxpyPostprocess(config.solver, config.canonical)
    return {"closed_form": closed_form, "none": no_postprocess}[config.name]


def _check_combination(config: RunConfig, mdp: TabularMDP) -> None:
    name, private = config.agent.name, config.privatizer.name != "non_private"
    if name not in AGENTS:
        raise InputError(f"agent.name: {name!r} is not one of {', '.join(AGENTS)}")
    agent = AGENTS[name]
    if config.privatizer.name not in agent.privatizers:
        raise InputError(f"privatizer.name: {name} {REFUSALS[agent.privatizers]}")
    if agent.raw and config.postprocess.name != "none":
        raise InputError(f"postprocess.name: {name} uses the noisy counts; it takes none")
    if not agent.raw and private and config.postprocess.name == "none":
        raise InputError(f"postprocess.name: {name} takes closed_form or cvxpy when counts are noisy")
    if config.engine.name == "fast" and config.postprocess.name == "cvxpy":
        raise InputError("postprocess.name: engine fast takes closed_form (it checks itself by cvxpy)")
    if config.agent.pooled and not mdp.stationary:
        raise InputError("agent.pooled: true needs an environment whose P and r do not depend on h")


def _noise(config: RunConfig, problem: Problem) -> tuple[float, Certificate]:
    """The scale of one Laplace draw and what it certifies."""
    p = config.privatizer
    if p.epsilon is None or p.sensitivity is None:
        return 0.0, certify_non_private()
    Delta = sensitivity(p.sensitivity, problem.H)
    if p.name == "central":
        scale = central_scale(p.epsilon, Delta, problem.K)
        return scale, certify_central(scale, problem.H, problem.K)
    scale = local_scale(p.epsilon, Delta)
    return scale, certify_local(scale, problem.H)


def _confidence(config: RunConfig, problem: Problem, G: int, scale: float) -> float:
    """E_{ε,β} of Assumption 3.1, times confidence.scale; 0 without privacy."""
    p, c = config.privatizer, config.confidence
    if p.epsilon is None:
        return 0.0
    if c.constant is None:
        proven = proven_central if p.name == "central" else proven_local
        return c.scale * proven(problem, G, scale)
    order = order_central if p.name == "central" else order_local
    return c.scale * order(problem, p.epsilon, c.constant)
