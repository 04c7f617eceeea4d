"""From settings to the parts of a run: the only place that maps names to code."""

from dataclasses import asdict, replace
from inspect import signature
from typing import NamedTuple

from dpucbvi.algorithm1 import Algorithm, dp_ucbvi
from dpucbvi.baselines.private_ucb_vi import (
    PrivateUcbViConstants,
    printed_widths,
    private_ucb_vi,
    private_ucb_vi_constants,
)
from dpucbvi.baselines.ucbvi import (
    UcbviConstants,
    hoeffding_constants,
    ucbvi,
    ucbvi_bernstein_constants,
)
from dpucbvi.binary_mechanism import levels
from dpucbvi.bonus import BernsteinConstants, bernstein_constants
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

AGENTS = ("dp_ucbvi", "ucbvi_ch", "ucbvi_bf", "private_ucb_vi")
RAW_COUNT_AGENTS = ("private_ucb_vi",)  # read the noisy counts as they are
NON_PRIVATE_AGENTS = ("ucbvi_ch", "ucbvi_bf")

Constants = BernsteinConstants | UcbviConstants | PrivateUcbViConstants


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
    constants = _constants(config, problem, E, scale)
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
    defaults = {key: parameter.default for key, parameter in accepted.items()}
    return EnvConfig(name=config.name, **{**defaults, **given})


def environment(config: EnvConfig) -> TabularMDP:
    """The named environment with the given parameters."""
    parameters = {key: value for key, value in asdict(config).items() if value is not None}
    return ENVIRONMENTS[parameters.pop("name")](**parameters)


def algorithm(setup: Setup, privatizer: Privatizer) -> Algorithm:
    """The reference algorithm, ready to yield its first policy."""
    name, c = setup.config.agent.name, setup.constants
    if isinstance(c, BernsteinConstants):
        return dp_ucbvi(setup.problem, privatizer, c.scale)
    if isinstance(c, PrivateUcbViConstants):
        return private_ucb_vi(setup.problem, privatizer, c)
    assert name in NON_PRIVATE_AGENTS
    return ucbvi(setup.problem, privatizer, c)


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
    agent, private = config.agent.name, config.privatizer.name != "non_private"
    if agent not in AGENTS:
        raise InputError(f"agent.name: {agent!r} is not one of {', '.join(AGENTS)}")
    if agent in NON_PRIVATE_AGENTS and private:
        raise InputError(f"privatizer.name: {agent} is not private; it takes non_private")
    if agent in RAW_COUNT_AGENTS and config.postprocess.name != "none":
        raise InputError(f"postprocess.name: {agent} uses the noisy counts; it takes none")
    if agent not in RAW_COUNT_AGENTS and private and config.postprocess.name == "none":
        raise InputError(f"postprocess.name: {agent} takes closed_form or cvxpy when counts are noisy")
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


def _constants(config: RunConfig, problem: Problem, E: float, scale: float) -> Constants:
    factor = config.bonus.scale
    match config.agent.name:
        case "ucbvi_ch":
            return hoeffding_constants(problem, factor)
        case "ucbvi_bf":
            return ucbvi_bernstein_constants(problem, factor)
        case "private_ucb_vi":
            E1, E2 = _widths(config, problem, E, scale)
            return private_ucb_vi_constants(problem, E1, E2, factor)
        case _:
            return bernstein_constants(problem, E, factor)


def _widths(config: RunConfig, problem: Problem, E: float, scale: float) -> tuple[float, float]:
    """Private-UCB-VI's E1 and E2: its own printed widths, or the proven bound on the raw noise, E/4."""
    c = config.confidence
    if c.constant is None:
        return E / 4.0, E / 4.0
    terms = levels(problem.K) if config.privatizer.name == "central" else problem.K
    E1, E2 = printed_widths(problem, scale, terms)
    return c.scale * c.constant * E1, c.scale * c.constant * E2
