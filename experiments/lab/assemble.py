"""From settings to the parts of a run: names become objects here and nowhere else."""

from collections.abc import Callable
from typing import Any, TypeVar

from dpucbvi.errors import InputError
from dpucbvi.mdp import TabularMDP
from dpucbvi.projection import CvxpyPostprocess
from dpucbvi.protocol import Postprocess, Setup
from dpucbvi.simulate import check_engine, set_up
from experiments.lab.settings import PostprocessSettings, RunSettings, canonical, imports, part, takes

T = TypeVar("T")

# What the parts of a run call a value, and which setting it is.
SETTINGS = {
    "bonus_scale": "bonus.scale",
    "bonus_without": "bonus.without",
    "confidence_scale": "confidence.scale",
    "printed_constant": "confidence.constant",
    "epsilon": "privatizer.epsilon",
    "noise": "privatizer.noise",
    "privatizer": "privatizer.name",
    "postprocess": "postprocess.name",
    "zero": "postprocess.zero",
    "known_support": "postprocess.known_support",
    "pooled": "agent.pooled",
    "engine": "engine.name",
    "lp_checks": "engine.lp_checks",
    "attack": "attack.name",
    "trials": "attack.trials",
    "broken": "attack.broken",
}


def assemble(settings: RunSettings) -> Setup:
    """The run that the settings describe, ready to be run with any seed; InputError names a wrong setting."""
    c = canonical(settings)
    mdp = environment(c.env)
    factors = {"confidence_scale": c.confidence.scale, "printed_constant": c.confidence.constant}
    options = {} if c.engine.lp_checks is None else {"lp_checks": c.engine.lp_checks}
    setup: Setup = _named(
        "",
        set_up,
        mdp,
        _with_factors("agent", c.agent, bonus_scale=c.bonus.scale, bonus_without=c.bonus.without),
        _with_factors("privatizer", c.privatizer, **factors),
        c.K,
        beta=c.beta,
        postprocess=_postprocess(c.postprocess),
        zero=c.postprocess.zero,
        known_rewards=c.postprocess.known_rewards,
        known_support=c.postprocess.known_support,
        trace_points=c.trace_points,
        **options,
    )
    if c.audits:
        from experiments.lab.audit import check  # brings the engine, which is slow to import

        _named("", check, setup, c.attack.name, c.attack.broken, c.attack.trials)
    else:
        _named("", check_engine, c.engine.name, setup)
    return setup


def environment(env: dict[str, Any]) -> TabularMDP:
    """The named environment with the given parameters."""
    made: TabularMDP = _named("env", part("env", env["name"]), **_parameters(env))
    return made


def without_checksum(env: dict[str, Any]) -> dict[str, Any]:
    """The settings of a stored environment as they can be given again; nothing that it names is imported."""
    if imports({"env": env}):
        raise InputError(f"env: {env['name']}, which a stored file names, is not imported")
    return {key: value for key, value in env.items() if key != "sha256"}


def stored_environment(env: dict[str, Any]) -> TabularMDP | None:
    """The environment of a stored run; None if it cannot be made here any more, or has become another."""
    try:
        made = environment(without_checksum(env))
    except (InputError, TypeError):  # the latter for parameters that it no longer has
        return None
    return made if env.get("sha256", made.sha256) == made.sha256 else None


def _with_factors(group: str, given: dict[str, Any], **factors: Any) -> Any:
    """What the group names, made with its parameters and those of the factors that it takes.

    An algorithm of your own may be a function of the problem and the private counts: that is taken as it is.
    """
    make = part(group, given["name"])
    if not isinstance(make, type):
        return make
    own = {key: value for key, value in factors.items() if takes(group, given["name"], key)}
    return _named(group, make, **_parameters(given), **own)


def _postprocess(c: PostprocessSettings) -> str | Postprocess:
    if c.solver is None or c.canonical is None:
        return c.name
    return CvxpyPostprocess(c.solver, c.canonical)


def _parameters(group: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in group.items() if key not in ("name", "source")}


def _named(group: str, make: Callable[..., T], *values: Any, **parameters: Any) -> T:
    """make(...); a value that it refuses is named as the setting that it is."""
    try:
        return make(*values, **parameters)
    except InputError as error:
        key, colon, rest = str(error).partition(":")
        if key in SETTINGS and group != "env":  # an environment may call a parameter of its own epsilon
            key = SETTINGS[key]
        elif key in parameters and group:
            key = f"{group}.{key}"
        raise InputError(f"{key}{colon}{rest}") from None
