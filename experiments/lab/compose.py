"""From the command line, or an experiment of conf/exp, to a composed config: all that is Hydra's."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from inspect import Parameter
from pathlib import Path
from traceback import walk_tb
from typing import NamedTuple

import hydra
from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException
from yaml import YAMLError

import dpucbvi
from dpucbvi.environments import ENVIRONMENTS
from dpucbvi.errors import InputError
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.sources import PACKAGE
from experiments.lab.experiment import described
from experiments.lab.process import few
from experiments.lab.settings import MISSING, RUN_KEYS, arguments, closest, nearest

CONF = PACKAGE.parent / "conf"
ABOUT_RUNS = ("arms", "grid", "runs", "seed", *RUN_KEYS)
SHOW = ["--cfg", "job"]
NO_CHANGE = ("exp", "name", "runtime")  # of what an experiment is


class Job(NamedTuple):
    """The config that the command line asks for, and the settings that it has of its own."""

    config: DictConfig
    overrides: tuple[str, ...]

    @property
    def changed(self) -> tuple[str, ...]:
        return changes(self.overrides)

    @property
    def exp(self) -> str | None:
        """The experiment of conf/exp that was chosen."""
        chosen = [override.partition("=")[2] for override in self.overrides if _top(override) == "exp"]
        return chosen[0] if chosen else None


def experiments() -> list[str]:
    """The names of all experiments of conf/exp."""
    return sorted(path.stem for path in (CONF / "exp").glob("*.yaml"))


@cache
def composed(name: str) -> DictConfig:
    """The config of `+exp=<name>`, with nothing changed, to be read only."""
    config = config_of([f"+exp={name}"])
    OmegaConf.set_readonly(config, True)
    return config


def config_of(overrides: Sequence[str]) -> DictConfig:
    """The config that these settings of a command line make."""
    offer_environments()
    with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
        return hydra.compose("config", list(overrides))


def privatizers(noise: str = "") -> list[str]:
    """The names of all privatizers of the door that certify something, or of those with exact noise."""
    offered = [name for name in PRIVATIZERS if hasattr(dpucbvi, PRIVATIZERS[name].__name__)]
    private = [name for name in offered if name != "non_private"]
    return [name for name in private if not noise or noise in getattr(PRIVATIZERS[name], "modes", ())]


OmegaConf.register_new_resolver("privatizers", privatizers, replace=True)  # ${privatizers:} in conf/exp


def offer_environments() -> None:
    """Let Hydra take env=<name> for every environment without a file: its signature is its config."""
    for name in ENVIRONMENTS:
        if not (CONF / "env" / f"{name}.yaml").is_file():
            accepted = arguments(ENVIRONMENTS[name]).items()
            node = {key: MISSING if a.default is Parameter.empty else a.default for key, a in accepted}
            ConfigStore.instance().store(group="env", name=name, node={"name": name, **node})


def help_text() -> str:
    """What --help prints: the comments of conf/, which are the manual of the settings."""
    text = (CONF / "config.yaml").read_text("utf-8")
    head, settings = text.partition("defaults:\n")[0], text.partition("\ntask:")[2]
    parts = [head.replace("# ", "").replace("#", ""), "Options (group=option, +exp=option; *: default):\n"]
    chosen = dict(re.findall(r"^  - (\w+): (\w+)$", text, re.MULTILINE))
    for group in (*chosen, "arm", "exp"):
        options = sorted((CONF / group).glob("*.yaml"))
        parts += [group, *(_option(path, path.stem == chosen.get(group)) for path in options)]
    parts += ["\nSettings (key=value) and their defaults:\n", f"task:{settings}"]
    for group, option in chosen.items():
        lines = (CONF / group / f"{option}.yaml").read_text("utf-8").rstrip().splitlines()
        parts += [f"{group}:", *(f"  {line}" for line in lines if not line.startswith("#"))]
    return "\n".join(parts)


def _option(path: Path, default: bool) -> str:
    """Its name, and the first sentence of its comment."""
    lines = path.read_text("utf-8").splitlines()
    comment = " ".join(line[2:] for line in lines if re.match(r"# (?!@package|python )", line))
    sentence = re.split(r"(?<=[.?])\s", comment)[0]
    return f"{'*' if default else ' '} {path.stem:21} {sentence}"


def job_of(command_line: list[str]) -> Job | None:
    """What the command line asks for; None if it is answered here: --help, --cfg job."""
    if not {"-h", "--help"}.isdisjoint(command_line):
        print(help_text())
        return None
    overrides = tuple(with_grids([argument for argument in command_line if argument not in SHOW]))
    for override in overrides:
        if override.startswith("-"):
            raise InputError(f"{override}: no such flag; there are --help and {' '.join(SHOW)}")
        if _top(override) == "hydra":
            raise InputError(f"{override.partition('=')[0]}: Hydra's own settings are not accepted")
    config = config_of(overrides)
    if SHOW[0] in command_line:
        print(OmegaConf.to_yaml(config))
        return None
    if not any(override.startswith("name=") for override in overrides):
        config.name = own_name(config.name, changes(overrides))
    return Job(config, overrides)


def with_grids(arguments: list[str]) -> list[str]:
    """The same command line with every grid as Hydra wants it: `grid.K=[1,2]` as `++grid.K=[1,2]`."""
    return [f"++{given}" if re.match(r"(arms\.\w+\.)?grid\.", given) else given for given in arguments]


def changes(overrides: Iterable[str]) -> tuple[str, ...]:
    """What these settings of the command line (`key=value`) change of an experiment of conf/exp.

    Nothing, if none is named: then there is nothing to change. Neither a name of one's own nor how runs are
    computed is a change.
    """
    keys = {override: _top(override) for override in overrides}
    return tuple(o for o, key in keys.items() if key not in NO_CHANGE) if "exp" in keys.values() else ()


def own_name(name: str, changed: Sequence[str]) -> str:
    """The name of the experiment that has these changes: the paper's results are only the paper's."""
    if not changed:
        return name
    return f"{name}-{hashlib.sha256(' '.join(sorted(changed)).encode()).hexdigest()[:6]}"


def _top(override: str) -> str:
    """The first part of its key."""
    return override.lstrip("+~").partition("=")[0].partition(".")[0].partition("/")[0]


def check_changes(job: Job) -> list[str]:
    """Refuse a setting of the command line that changes no run; a line for each that only some arms take.

    It changes what the config would be without it; a value that stands there anyway is no mistake.
    """
    lines, runs = [], described(job.config)
    for override in job.overrides:
        if _top(override) not in ABOUT_RUNS:
            continue
        try:
            config = config_of([other for other in job.overrides if other != override])
            before = described(config)
        except (InputError, HydraException, OmegaConfBaseException):  # without it there is no experiment
            continue
        config.name = job.config.name
        if config == job.config:
            continue
        if before == runs:
            raise InputError(f"{override}: changes no run; every arm has its own value, or does not read it")
        same = [arm for arm in runs if before.get(arm) == runs[arm]]
        if same and _top(override) != "arms":
            reached = f"{len(runs) - len(same)} of {len(runs)} arms"
            others = f"not {few(same)}, which have their own value or do not read it"
            lines.append(f"{override.lstrip('+')} changes {reached}; {others}")
    return lines


# --- errors in one line -------------------------------------------------------------------------------------


def is_bad_input(error: Exception) -> bool:
    """Whether the user caused it, rather than a mistake in this code."""
    known = isinstance(error, InputError | HydraException | OmegaConfBaseException | YAMLError)
    if known or not isinstance(error, ValueError | TypeError):
        return known
    *_, (frame, _) = walk_tb(error.__traceback__)  # where it was raised
    return str(frame.f_globals.get("__name__")).startswith("hydra.")


def one_line(error: Exception) -> str:
    """The message of a bad input, without line breaks."""
    if isinstance(error, OverrideParseException):
        why = error.message.strip().splitlines()[0]
        return f"{error.override!r} is not of the form key=value, or needs quotes, \"key='value'\" ({why})"
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        group, _, name = error.missing_cfg_file.rpartition("/")
        return f"{group}: no option {name!r}; {nearest(name, list(error.options))}"
    cause = error.__cause__ if isinstance(error, HydraException) else error
    if isinstance(cause, ConfigKeyError | ConfigAttributeError):
        return _no_key(cause)
    if isinstance(cause, OmegaConfBaseException):
        return f"{cause.full_key or 'config'}: {_joined(cause.msg or cause)}"
    message = _joined(error)
    if message.startswith("Ambiguous value for argument "):
        return f"{message.split()[4]}: several values need grid.KEY=[...]"
    return message


def any_line(error: Exception) -> str:
    """Any error in one line; a mistake in the code has its kind there too."""
    return one_line(error) if is_bad_input(error) else f"{type(error).__name__}: {_joined(error)}"


def named(name: str, error: Exception) -> str:
    """The same, beginning with this name."""
    text = any_line(error)
    return text if text.startswith(f"{name}:") else f"{name}: {text}"


def _joined(text: object) -> str:
    return " ".join(str(text).split())


def _no_key(cause: ConfigKeyError | ConfigAttributeError) -> str:
    """An arm holds differences only: there the key may be right and need a plus sign."""
    parent, name = cause.parent_node, str(cause.full_key)
    keys = [str(key) for key in parent if key != "hydra"] if isinstance(parent, DictConfig) else []
    if name.startswith("arms.") and closest(str(cause.key), keys) is None:
        return f"{name}: the arm does not set it yet; write +{name}=... to add it"
    return f"{name}: no such key; {nearest(str(cause.key), keys)}"
