"""Hydra's and OmegaConf's complaints about the command line, each in one line that names the key."""

from argparse import Namespace
from typing import NoReturn

from hydra._internal.utils import get_args_parser
from hydra.errors import (
    ConfigCompositionException,
    HydraException,
    MissingConfigException,
    OverrideParseException,
)
from omegaconf import DictConfig
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException
from yaml import YAMLError

from dpucbvi.errors import InputError
from dpucbvi.strict import nearest

BAD_INPUT = (InputError, HydraException, OmegaConfBaseException, YAMLError)


def check_flags() -> None:
    """Raise InputError for flags that Hydra would answer with its usage or a traceback."""
    parser = get_args_parser()
    parser.error = _refuse  # type: ignore[method-assign]
    flags: Namespace = parser.parse_args()
    modes = [flags.run, flags.multirun, flags.shell_completion, flags.cfg is not None, flags.info is not None]
    if sum(map(bool, modes)) > 1:
        raise InputError("give only one of --run, --multirun, --cfg, --info and --shell-completion")
    if flags.resolve and not (flags.cfg or flags.help):
        raise InputError("--resolve goes with --cfg")


def one_line(error: Exception) -> str:
    """The message of a bad input, without line breaks."""
    if isinstance(error, OverrideParseException):
        return f"{error.override!r} is not of the form key=value ({_first_line(error.message)})"
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        return _no_option(error.missing_cfg_file, list(error.options))
    cause = error.__cause__
    if isinstance(error, ConfigCompositionException) and isinstance(cause, OmegaConfBaseException):
        if isinstance(cause, ConfigKeyError | ConfigAttributeError) and cause.full_key:
            return _no_key(cause)
        return " ".join(f"{error} {cause.msg or cause}".split())
    return " ".join(str(error).split())


def _refuse(message: str) -> NoReturn:
    raise InputError(f"{message} (see --help)")


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else ""


def _no_option(path: str, options: list[str]) -> str:
    group, _, name = path.rpartition("/")
    return f"{group}: no option {name!r}; {nearest(name, options)}"


def _no_key(cause: ConfigKeyError | ConfigAttributeError) -> str:
    parent = cause.parent_node
    keys = [str(key) for key in parent] if isinstance(parent, DictConfig) else []
    hint = f"; {nearest(str(cause.key), keys)}" if keys else ""
    add = f"; write +{cause.full_key} to add it" if str(cause.full_key).startswith("arms.") else ""
    return f"{cause.full_key}: no such key{hint}{add}"
