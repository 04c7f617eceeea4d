"""From settings to the parts of a run: names become objects here and nowhere else."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from dpucbvi.errors import InputError
from dpucbvi.mdp import TabularMDP
from dpucbvi.projection import CvxpyPostprocess
from dpucbvi.protocol import Setup
from dpucbvi.simulate import check_engine, set_up
from experiments.lab.settings import RunSettings, canonical, imports, part, takes

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
    mdp, p = environment(c.env), c.postprocess
    agent = _part("agent", c.agent, {"bonus_scale": c.bonus.scale, "bonus_without": c.bonus.without})
    factors = {"confidence_scale": c.confidence.scale, "printed_constant": c.confidence.constant}
    privatizer = _part("privatizer", c.privatizer, factors)
    options: dict[str, Any] = {key: getattr(p, key) for key in ("zero", "known_rewards", "known_support")}
    options["postprocess"] = p.name
    if p.solver is not None and p.canonical is not None:
        options["postprocess"] = CvxpyPostprocess(p.solver, p.canonical)
    options |= {} if c.engine.lp_checks is None else {"lp_checks": c.engine.lp_checks}
    with _named_as_set():
        setup = set_up(mdp, agent, privatizer, c.K, beta=c.beta, trace_points=c.trace_points, **options)
        if c.attack.name is not None and c.attack.trials is not None:
            from experiments.lab.audit import check  # brings the engine, which is slow to import

            check(setup, c.attack.name, c.attack.broken, c.attack.trials)
        else:
            check_engine(c.engine.name, setup)
    return setup


def environment(env: dict[str, Any]) -> TabularMDP:
    """The named environment with the given parameters."""
    made: TabularMDP = _part("env", env, {})
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


def _part(group: str, given: dict[str, Any], factors: dict[str, Any]) -> Any:
    """What the group names, made with its parameters and those of the factors that it takes.

    An algorithm of your own may be a function of the problem and the private counts: that is taken as it is.
    """
    make = part(group, given["name"])
    if group != "env" and not isinstance(make, type):
        return make
    parameters = {key: value for key, value in given.items() if key not in ("name", "source")}
    parameters |= {key: value for key, value in factors.items() if takes(group, given["name"], key)}
    with _named_as_set(group, parameters):
        return make(**parameters)


@contextmanager
def _named_as_set(group: str = "", parameters: Collection[str] = ()) -> Iterator[None]:
    """A value that is refused inside is named as the setting that it is."""
    try:
        yield
    except InputError as error:
        key, colon, rest = str(error).partition(":")
        if key in SETTINGS and group != "env":  # an environment may call a parameter of its own epsilon
            key = SETTINGS[key]
        elif key in parameters:
            key = f"{group}.{key}"
        raise InputError(f"{key}{colon}{rest}") from None
