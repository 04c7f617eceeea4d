"""The settings of one run, as typed data: what Hydra composes and assemble.py builds from.

Every setting that can change a result is here and nothing else, so the hash of the canonical form plus the
seed names the result (store.py). Settings that a choice does not read are left out of the canonical form: two
configs that mean the same run have the same name.

The groups env, agent and privatizer have a name and the parameters of the function or class behind it: what
they accept is read off its signature.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from dpucbvi.agents import AGENTS
from dpucbvi.environments import ENVIRONMENTS
from dpucbvi.errors import InputError
from dpucbvi.privacy.certificate import SIMULATION
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.projection import LP_OPTIONS, POSTPROCESSES
from dpucbvi.registry import Registry
from experiments.lab.strict import arguments, build, nearest

Group = dict[str, Any]

# Parameters of agents and privatizers that stand in groups of their own, bonus and confidence.
BONUS = ("bonus_scale", "bonus_without")
CONFIDENCE = ("confidence_scale", "printed_constant")
ENGINES = ("reference", "fast", "audit")


@dataclass
class PostprocessSettings:
    """How noisy counts become private counts; cells below `zero` standard deviations go first; rewards are
    learnt, or known, and all next states counted, or the possible ones; the rest is cvxpy's."""

    name: str = "closed_form"
    zero: float = 0.0
    solver: str | None = "HIGHS"
    canonical: bool | None = True
    known_rewards: bool = False
    known_support: bool = False


@dataclass
class BonusSettings:
    """One factor on the whole bonus; 1 is the paper. `without` leaves one of its terms out."""

    scale: float = 1.0
    without: str | None = None


@dataclass
class ConfidenceSettings:
    """E_{ε,β}: `proven`, or `printed` with its constant; `scale` multiplies it and is 1 in the paper."""

    name: str = "proven"
    constant: float | None = 1.0
    scale: float = 1.0


@dataclass
class EngineSettings:
    """`reference` (plain loops) or `fast` (compiled); cvxpy solves `lp_checks` LPs of a fast run again.

    `audit`: no run but an attack on what the compiled engine releases, `trials` times for each of two users
    (audit/); `broken` names a release that is wrong on purpose, `relation` is add_remove if the second user is
    not there, else replace_one.
    """

    name: str = "fast"
    lp_checks: int | None = 200
    attack: str | None = None
    trials: int | None = None
    broken: str | None = None
    relation: str | None = None


@dataclass
class RunSettings:
    """One run but for its seed."""

    env: Group = field(default_factory=lambda: {"name": "riverswim"})
    agent: Group = field(default_factory=lambda: {"name": "dp_ucbvi"})
    privatizer: Group = field(default_factory=lambda: {"name": "central", "epsilon": 1.0})
    postprocess: PostprocessSettings = field(default_factory=PostprocessSettings)
    bonus: BonusSettings = field(default_factory=BonusSettings)
    confidence: ConfidenceSettings = field(default_factory=ConfidenceSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)
    K: int = 50_000
    beta: float = 0.05
    trace_points: int = 2_000


RUN_KEYS = [f.name for f in fields(RunSettings)]


def run_settings(tree: dict[str, Any]) -> RunSettings:
    """Plain data to settings; an unknown key or a wrong type raises InputError."""
    return build(RunSettings, tree)


def canonical(settings: RunSettings) -> RunSettings:
    """The same run with every parameter filled in and every unread setting None."""
    _one_of("postprocess.name", settings.postprocess.name, POSTPROCESSES)
    _one_of("confidence.name", settings.confidence.name, ("proven", "printed"))
    _one_of("engine.name", settings.engine.name, ENGINES)
    privatizer = _canonical_privatizer(settings.privatizer)
    return replace(
        settings,
        env=_complete_env(settings.env),
        agent=_complete(AGENTS, "agent", settings.agent, BONUS),
        privatizer=privatizer,
        postprocess=_canonical_postprocess(settings.postprocess),
        confidence=_canonical_confidence(settings.confidence, privatizer["name"]),
        engine=_canonical_engine(settings.engine),
    )


def to_dict(settings: RunSettings) -> dict[str, Any]:
    """The settings as plain data, unread ones left out."""
    return _without_none(asdict(settings))


def takes(privatizer: str, parameter: str) -> bool:
    """Whether this privatizer has that parameter."""
    return parameter in arguments(PRIVATIZERS[privatizer])


def _complete_env(env: Group) -> Group:
    """What the environment takes; a null stands for a setting that is taken back."""
    given = {key: value for key, value in env.items() if value is not None}
    function = ENVIRONMENTS[_name("env", env)]
    accepted = arguments(function)
    for key in given:
        if key != "name" and key not in accepted:
            raise InputError(f"env.{key}: {env['name']} does not take it; it takes {', '.join(accepted)}")
    return {"name": env["name"], **_filled(accepted, given, "env")}


def _complete(registry: Registry[Any], group: str, given: Group, elsewhere: tuple[str, ...]) -> Group:
    """What the named class takes. A setting that only another class takes is dropped: it belongs to a choice
    that was replaced."""
    accepted = arguments(registry[_name(group, given)])
    known = {key for name in registry for key in arguments(registry[name])} - set(elsewhere)
    for key in given:
        if key != "name" and key not in known:
            raise InputError(f"{group}.{key}: no such key; {nearest(key, ['name', *sorted(known)])}")
    wanted = {key: parameter for key, parameter in accepted.items() if key not in elsewhere}
    return {"name": given["name"], **_filled(wanted, given, group)}


def _filled(accepted: Mapping[str, Any], given: Group, group: str) -> Group:
    return {key: parameter.value(given.get(key), f"{group}.{key}") for key, parameter in accepted.items()}


def _name(group: str, given: Group) -> str:
    if "name" not in given:
        raise InputError(f"{group}.name: a value is needed")
    return given["name"]


def _canonical_privatizer(given: Group) -> Group:
    """Exact noise is a promise: where there is none, it is refused and not dropped."""
    complete = _complete(PRIVATIZERS, "privatizer", given, CONFIDENCE)
    name = complete["name"]
    simulated = given.get("noise") in (None, SIMULATION)
    if not (simulated or takes(name, "noise") or name == "non_private"):
        raise InputError(f"privatizer.noise: {name} has no exact noise; it takes simulation")
    return complete


def _canonical_postprocess(c: PostprocessSettings) -> PostprocessSettings:
    if c.name != "cvxpy":
        return replace(c, solver=None, canonical=None)
    _one_of("postprocess.solver", c.solver, LP_OPTIONS)
    if c.canonical is None:
        raise InputError("postprocess.canonical: null is not accepted; it must be true or false")
    return c


def _canonical_confidence(c: ConfidenceSettings, privatizer: str) -> ConfidenceSettings:
    if not takes(privatizer, "confidence_scale"):  # E = 0: there is no noise to bound
        return ConfidenceSettings("proven", None, 1.0)
    if c.name == "proven":
        return replace(c, constant=None)
    if not takes(privatizer, "printed_constant"):
        raise InputError(f"confidence.name: {privatizer} has no printed E; it takes proven")
    if c.constant is None:
        raise InputError("confidence.constant: null is not accepted; it must be a number > 0")
    return c


def _canonical_engine(c: EngineSettings) -> EngineSettings:
    if c.name == "reference":
        return EngineSettings(c.name, None)
    if c.name == "audit":
        for key in ("attack", "trials"):
            if getattr(c, key) is None:
                raise InputError(f"engine.{key}: a value is needed")
        return replace(c, lp_checks=None, relation=None if c.relation == "replace_one" else c.relation)
    if c.lp_checks is None:
        raise InputError("engine.lp_checks: null is not accepted; it must be an integer >= 0")
    return EngineSettings(c.name, c.lp_checks)


def _one_of(key: str, value: object, accepted: Any) -> None:
    if value not in accepted:
        raise InputError(f"{key}: {value} is not accepted; it must be one of {', '.join(accepted)}")


def _without_none(tree: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_none(value) if isinstance(value, dict) else value
        for key, value in tree.items()
        if value is not None
    }
