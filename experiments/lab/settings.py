"""The settings of an experiment as typed data, and the one place where they are checked.

Every setting that can change a result is in RunSettings and nothing else, so the hash of its canonical form
plus the seed names the result (store.py). Settings that a choice does not read are left out of the canonical
form: two configs that mean the same run have the same name.

The groups env, agent and privatizer have a name and the parameters of the function or class behind it: what
they accept is read off its signature. `module:Name` names one of your own; a run of it has the hash of the file
that defines it in its settings, and so in its name.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from inspect import Parameter, getsourcefile, signature
from ipaddress import ip_address
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from dpucbvi.agents import AGENTS
from dpucbvi.environments import ENVIRONMENTS
from dpucbvi.errors import InputError, Registry, check_name, refused, whole
from dpucbvi.privacy.certificate import SIMULATION
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.projection import LP_OPTIONS, POSTPROCESSES
from dpucbvi.sources import hash_of

T = TypeVar("T")
Group = dict[str, Any]

PARTS: dict[str, Registry[Any]] = {"env": ENVIRONMENTS, "agent": AGENTS, "privatizer": PRIVATIZERS}
# Parameters of agents and privatizers that stand in groups of their own, bonus and confidence.
BONUS = ("bonus_scale", "bonus_without")
CONFIDENCE = ("confidence_scale", "printed_constant")
ELSEWHERE: dict[str, tuple[str, ...]] = {"env": (), "agent": BONUS, "privatizer": CONFIDENCE}
TASKS = ("run", "audit", "certify", "plan")
ENGINES = ("reference", "fast")
COMPUTERS = ("processes", "dask")
MOST_RUNS = 1_000_000
FILE_NAME = re.compile(r"\w[\w.-]{0,99}", re.ASCII)
MOST_INTEGER = 2**63  # what numpy has room for
SCHEDULER = "tls://HOST:PORT of a Dask scheduler, or tcp://127.0.0.1:PORT (docs/SCALING.md)"
MISSING = "???"  # OmegaConf's mark of a value that the user must give
WANTED = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}


# --- what there is to set -----------------------------------------------------------------------------------


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
    """`reference` (plain loops) or `fast` (compiled); cvxpy solves `lp_checks` LPs of a fast run again."""

    name: str = "fast"
    lp_checks: int | None = 200


@dataclass
class AttackSettings:
    """Of task=audit: no run but an attack on what a privatizer releases (lab/audit.py).

    It has `trials` for each of two users. `broken` names a mistake of its privatizer.
    """

    name: str | None = None
    trials: int | None = 1_000_000
    broken: str | None = None


@dataclass
class RunSettings:
    """One run, or one audit, but for its seed."""

    env: Group = field(default_factory=lambda: {"name": "riverswim"})
    agent: Group = field(default_factory=lambda: {"name": "dp_ucbvi"})
    privatizer: Group = field(default_factory=lambda: {"name": "central", "epsilon": 1.0})
    postprocess: PostprocessSettings = field(default_factory=PostprocessSettings)
    bonus: BonusSettings = field(default_factory=BonusSettings)
    confidence: ConfidenceSettings = field(default_factory=ConfidenceSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)
    attack: AttackSettings = field(default_factory=AttackSettings)
    K: int = 50_000
    beta: float = 0.05
    trace_points: int = 2_000

    @property
    def audits(self) -> bool:
        return self.attack.name is not None


@dataclass
class RuntimeSettings:
    """Where and how runs are computed; nothing here changes a result.

    `name` is who computes (workers.py); `address` is that of a Dask scheduler.
    """

    name: str = "processes"
    address: str | None = None
    workers: int = 2
    results: str = "results"
    progress: bool = True


@dataclass
class ExperimentSettings:
    """What stands beside the settings of a run and the arms."""

    task: str = "run"
    name: str = "single"
    study: str = "regret"
    runs: int = 5
    seed: int = 0
    runtime: RuntimeSettings = field(default_factory=RuntimeSettings)


@dataclass
class ArmSettings:
    """What an arm has beside the settings of its runs, which may differ from the experiment's, and its grid.

    `printed` is a published curve that it stands for, `panel` where it is drawn. `runs` is for an arm that
    needs fewer of them than the experiment has.
    """

    label: str | None = None
    printed: str | None = None
    panel: str | None = None
    runs: int | None = None


RUN_KEYS = [f.name for f in fields(RunSettings)]
TOP_KEYS = ["arms", "grid", *(f.name for f in fields(ExperimentSettings)), *RUN_KEYS]
ARM_KEYS = ["grid", *(f.name for f in fields(ArmSettings)), *RUN_KEYS]


# --- from plain data to settings ----------------------------------------------------------------------------


def run_settings(tree: dict[str, Any]) -> RunSettings:
    """Plain data to settings; an unknown key or a wrong type raises InputError."""
    return build(RunSettings, tree)


def experiment_settings(tree: dict[str, Any], studies: list[str]) -> ExperimentSettings:
    """Plain data to settings, whose values are checked too; `studies` are the names that `study` may have."""
    c = build(ExperimentSettings, tree)
    runtime = c.runtime
    check_name("task", c.task, TASKS)
    if not FILE_NAME.fullmatch(c.name):
        raise refused("name", c.name, "at most 100 letters, digits, '_', '-' and '.' (it names files)")
    whole("runs", c.runs, 1, MOST_RUNS)
    whole("seed", c.seed, 0)
    check_name("study", c.study, studies)
    if runtime.workers < 1:
        raise refused("runtime.workers", runtime.workers, "an integer >= 1, or auto")
    check_name("runtime.name", runtime.name, COMPUTERS)
    if runtime.name != "dask" and runtime.address is not None:
        raise refused("runtime.address", runtime.address, "null without runtime=dask")
    if runtime.name == "dask" and not is_guarded(runtime.address or ""):
        raise refused("runtime.address", runtime.address, SCHEDULER)
    if not runtime.results.strip():
        raise refused("runtime.results", runtime.results, "the name of a folder")
    return c


def arm_settings(tree: dict[str, Any], at: str, curves: list[str] | None) -> ArmSettings:
    """Plain data to settings, whose values are checked too; without `curves` any may be `printed`."""
    c = build(ArmSettings, tree, at)
    if c.printed is not None and curves is not None and c.printed not in curves:
        raise InputError(f"{at}.printed: {c.printed!r} is no reported curve; {nearest(c.printed, curves)}")
    if c.runs is not None:
        whole(f"{at}.runs", c.runs, 1, MOST_RUNS)
    return c


def is_guarded(address: str) -> bool:
    """Whether nobody from elsewhere can speak to a scheduler at this address without a certificate.

    Anyone who can reach a scheduler runs code as the user who started its workers.
    """
    scheme, _, place = address.rpartition("://")
    host, _, port = place.rpartition(":")
    try:
        near = host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        near = False
    return port.isdecimal() and bool(host) and (scheme == "tls" or (scheme == "tcp" and near))


def build(kind: type[T], tree: Any, at: str = "") -> T:
    """The dataclass with these values; `at` is the key under which they stand in the config."""
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    check_keys(tree, names, at)
    return kind(**{key: _value(hints[key], value, join(at, key)) for key, value in tree.items()})


def check_keys(tree: Any, accepted: list[str], at: str = "") -> None:
    """Raise InputError unless `tree` is a mapping with no other keys than these."""
    if not isinstance(tree, dict):
        raise InputError(f"{at}: {shown(tree)} is not accepted; it has the keys {', '.join(accepted)}")
    for key in tree:
        if key not in accepted:
            raise InputError(f"{join(at, str(key))}: no such key; {nearest(str(key), accepted)}")


def nearest(word: str, accepted: list[str]) -> str:
    """What to say after a wrong word: the one that was meant, or all of them."""
    close = closest(word, accepted)
    return f"did you mean {close}?" if close else f"it is one of {', '.join(accepted)}"


def closest(word: str, accepted: list[str]) -> str | None:
    return next(iter(get_close_matches(word, accepted, 1)), None)


def join(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def flat(tree: dict[Any, Any], at: str = "") -> dict[str, Any]:
    """{a: {b: 1}} as {"a.b": 1}."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        name = join(at, str(key))
        found |= flat(value, name) if isinstance(value, dict) else {name: value}
    return found


def shown(value: Any) -> str:
    """A value as the user may have typed it."""
    if isinstance(value, dict | list):
        return "a group or list"
    return json.dumps(value) if value is None or isinstance(value, bool) else repr(value)


def _value(hint: Any, value: Any, at: str) -> Any:
    if value == MISSING:
        raise InputError(f"{at}: a value is needed")
    if is_dataclass(hint):
        return build(hint, value, at)  # type: ignore[arg-type]
    if get_origin(hint) is dict:  # a group whose keys are checked by what its name stands for
        if not (isinstance(value, dict) and isinstance(value.get("name", ""), str)):
            raise InputError(f"{at}: {shown(value)} is not accepted; it must be a group with a name")
        return value
    if isinstance(hint, UnionType) and value is None:
        return None
    return _scalar(_plain(hint), value, at)


def _plain(hint: Any) -> Any:
    """T of T | None."""
    if not isinstance(hint, UnionType):
        return hint
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    return kinds[0] if len(kinds) == 1 else hint


def _scalar(kind: type, value: Any, at: str) -> Any:
    if kind is float and type(value) is int and abs(value) < MOST_INTEGER:
        return float(value)  # 1 and 1.0 are the same setting
    if kind is int and type(value) is float and value.is_integer():
        return int(value)  # so that K=1e5 works
    if type(value) is not kind or (isinstance(value, int) and abs(value) >= MOST_INTEGER):
        raise refused(at, value, WANTED[kind])
    return value


# --- what a name stands for ---------------------------------------------------------------------------------


class Argument(NamedTuple):
    """A parameter that a setting can give: its type, and the value without one."""

    hint: Any
    default: Any

    def value(self, given: Any, at: str) -> Any:
        """The given value, or the default if it is None; InputError if it is of another type, or missing."""
        if given is None:
            if self.default is Parameter.empty:
                raise InputError(f"{at}: a value is needed")
            return self.default
        return _value(self.hint, given, at)


def part(group: str, name: str) -> Callable[..., Any]:
    """The class or function that a name of env, agent or privatizer stands for; `module:Name` is your own."""
    module, colon, attribute = name.partition(":")
    if not colon:
        thing: Callable[..., Any] = PARTS[group][name]
        return thing
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        thing = getattr(import_module(module), attribute)
    except Exception as error:  # whatever its code raises
        why = f"cannot be imported ({type(error).__name__}: {error})"
        raise InputError(f"{group}.name: {name!r} {why}") from None
    if not callable(thing):
        raise InputError(f"{group}.name: {name!r} is not accepted; it must be a class or a function")
    return thing


@cache  # the settings of every run ask for those of every class
def arguments(function: Callable[..., Any]) -> Mapping[str, Argument]:
    """The parameters of a function or dataclass that are plain values."""
    hints = get_type_hints(function)
    if isinstance(function, type) and not is_dataclass(function):
        hints |= get_type_hints(function.__init__)  # type: ignore[misc]
    taken = signature(function).parameters.items()
    found = {name: Argument(hints.get(name, type(p.default)), p.default) for name, p in taken}
    return {name: argument for name, argument in found.items() if _plain(argument.hint) in WANTED}


def takes(group: str, name: str, parameter: str) -> bool:
    """Whether what this name stands for has that parameter."""
    return parameter in arguments(part(group, name))


@cache
def _source(thing: Callable[..., Any]) -> str:
    """A hash of the code of the file that defines it."""
    try:
        return hash_of(Path(str(getsourcefile(thing))))
    except (TypeError, OSError):  # it is compiled, or was typed in
        raise InputError(f"name: {thing!r} is not accepted; it must be defined in a file") from None


# --- canonical form -----------------------------------------------------------------------------------------


def canonical(settings: RunSettings) -> RunSettings:
    """The same run with every parameter filled in and every unread setting None."""
    check_name("postprocess.name", settings.postprocess.name, POSTPROCESSES)
    check_name("confidence.name", settings.confidence.name, ("proven", "printed"))
    check_name("engine.name", settings.engine.name, ENGINES)
    privatizer, attack = _canonical_privatizer(settings.privatizer), settings.attack
    if settings.audits and attack.trials is None:
        raise InputError("attack.trials: a value is needed")
    return replace(
        settings,
        env=_complete("env", settings.env),
        agent=_complete("agent", settings.agent),
        privatizer=privatizer,
        postprocess=_canonical_postprocess(settings.postprocess),
        confidence=_canonical_confidence(settings.confidence, privatizer["name"]),
        engine=_canonical_engine(settings.engine, settings.audits),
        attack=attack if settings.audits else AttackSettings(trials=None),
    )


def to_dict(settings: RunSettings) -> dict[str, Any]:
    """Settings in canonical form as plain data, unread ones left out: what names a run, and is stored."""
    return _without_none(asdict(settings))


def imports(tree: dict[str, Any], known: tuple[str, ...] = ()) -> bool:
    """Whether these stored settings name something that would have to be imported, and is not known."""
    names = [tree[group]["name"] for group in PARTS if group in tree]
    return any(":" in name and name not in known for name in [*names, tree.get("env", {}).get("id", "")])


def _complete(group: str, given: Group) -> Group:
    """What the named part takes. A setting that only another one takes is dropped: it belongs to a choice that
    was replaced. A null stands for the default."""
    if "name" not in given:
        raise InputError(f"{group}.name: a value is needed")
    thing, registry = part(group, given["name"]), PARTS[group]
    all_parts = [thing, *(registry[name] for name in registry)]
    known = {key for other in all_parts for key in arguments(other)} - set(ELSEWHERE[group])
    own = {"source": _source(thing)} if ":" in given["name"] else {}
    for key in given:
        if key not in ("name", *own, *known):
            raise InputError(f"{group}.{key}: no such key; {nearest(key, ['name', *sorted(known)])}")
    if own and given.get("source", own["source"]) != own["source"]:
        raise InputError(f"{group}.source: {given['name']} has changed since this was stored")
    wanted = {key: value for key, value in arguments(thing).items() if key in known}
    filled = {key: argument.value(given.get(key), f"{group}.{key}") for key, argument in wanted.items()}
    return {"name": given["name"], **own, **filled}


def _canonical_privatizer(given: Group) -> Group:
    """Exact noise is a promise: where there is none, it is refused and not dropped."""
    complete = _complete("privatizer", given)
    name = complete["name"]
    simulated = given.get("noise") in (None, SIMULATION)
    if not (simulated or takes("privatizer", name, "noise") or name == "non_private"):
        raise InputError(f"privatizer.noise: {name} has no exact noise; it takes simulation")
    return complete


def _canonical_postprocess(c: PostprocessSettings) -> PostprocessSettings:
    if c.name != "cvxpy":
        return replace(c, solver=None, canonical=None)
    check_name("postprocess.solver", c.solver, LP_OPTIONS)
    if c.canonical is None:
        raise InputError("postprocess.canonical: null is not accepted; it must be true or false")
    return c


def _canonical_confidence(c: ConfidenceSettings, privatizer: str) -> ConfidenceSettings:
    if not takes("privatizer", privatizer, "confidence_scale"):  # E = 0: there is no noise to bound
        return ConfidenceSettings("proven", None, 1.0)
    if c.name == "proven":
        return replace(c, constant=None)
    if not takes("privatizer", privatizer, "printed_constant"):
        raise InputError(f"confidence.name: {privatizer} has no printed E; it takes proven")
    if c.constant is None:
        raise InputError("confidence.constant: null is not accepted; it must be a number > 0")
    return c


def _canonical_engine(c: EngineSettings, audits: bool) -> EngineSettings:
    if audits and c.name != "fast":
        raise InputError(f"engine.name: an audit is of the compiled engine; it takes fast, not {c.name}")
    if audits or c.name == "reference":
        return EngineSettings(c.name, None)
    if c.lp_checks is None:
        raise InputError("engine.lp_checks: null is not accepted; it must be an integer >= 0")
    return c


def _without_none(tree: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in tree.items() if value is not None}
    return {key: _without_none(value) if isinstance(value, dict) else value for key, value in kept.items()}
