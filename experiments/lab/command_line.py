"""Hydra's and OmegaConf's complaints about the command line, each in one line that names the key."""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import islice
from traceback import walk_tb
from typing import NoReturn

from hydra._internal.utils import get_args_parser
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException
from yaml import YAMLError

from dpucbvi.errors import InputError
from experiments.lab.strict import closest, nearest


def is_bad_input(error: Exception) -> bool:
    """Whether the user caused it, rather than a mistake in this code."""
    told = isinstance(error, InputError | HydraException | OmegaConfBaseException | YAMLError)
    return told or (isinstance(error, ValueError) and _raised_in(error).startswith("hydra."))


def check_flags() -> None:
    """Raise InputError for flags that argparse would answer with its usage."""
    parser = get_args_parser()
    parser.error = _refuse  # type: ignore[method-assign]
    if parser.parse_args().experimental_rerun is not None:
        _refuse("--experimental-rerun is not accepted: it would load a pickle, which can run anything")


def as_one_experiment(arguments: list[str]) -> list[str]:
    """The same command line with every list of values as a grid, and every grid as Hydra wants it.

    `privatizer.epsilon=1,2,5` and `grid.privatizer.epsilon=[1,2,5]` both mean one experiment. With --multirun
    a list of values means several, as Hydra has it.
    """
    if any(argument in ("-m", "--multirun") for argument in arguments):
        return arguments
    return [_as_grid(argument) for argument in arguments]


def _as_grid(argument: str) -> str:
    key, equals, value = argument.partition("=")
    path = key.lstrip("+").split(".")
    at = 2 if path[0] == "arms" else 0  # arms.NAME.grid
    if not equals or key.startswith("-"):
        return argument
    if path[at : at + 1] == ["grid"] and len(path) > at + 1:
        return f"++{'.'.join(path)}={_several(argument) or value}"
    if not path[at:] or not _is_setting(path[at:]) or (values := _several(argument)) is None:
        return argument
    return f"++{'.'.join([*path[:at], 'grid', *path[at:]])}={values}"


def _several(argument: str) -> str | None:
    """The values of `key=1,2,5` or `key=range(1,4)` as a list, None if there is one value."""
    from experiments.lab.experiment import MOST_POINTS  # slow to import

    try:
        override = OverridesParser.create().parse_override(argument)
    except HydraException:  # told later, by Hydra itself
        return None
    if not (override.is_choice_sweep() or override.is_range_sweep()):
        return None
    values = list(islice(override.sweep_string_iterator(), MOST_POINTS + 1))
    if len(values) > MOST_POINTS:
        raise InputError(f"{override.key_or_group}: more than {MOST_POINTS:,} values are not accepted")
    return f"[{','.join(values)}]"


def _is_setting(path: list[str]) -> bool:
    """Whether it is one setting of a run; agent=a,b chooses between files, which a grid cannot."""
    from experiments.lab.settings import RUN_KEYS, RunSettings  # slow to import

    return path[0] in RUN_KEYS and (len(path) > 1 or isinstance(getattr(RunSettings(), path[0]), int | float))


def changes(overrides: Iterable[str]) -> tuple[str, ...]:
    """What these settings of the command line (`key=value`) change of an experiment of conf/exp.

    Nothing, if none is named: then there is nothing to change. Neither a name of one's own nor how runs are
    computed is a change.
    """
    keys = {override: override.lstrip("+~").partition("=")[0] for override in overrides}
    if "exp" not in keys.values():
        return ()
    kept = ("exp", "name", "runtime", "hydra")
    return tuple(o for o, key in keys.items() if key.partition(".")[0].partition("/")[0] not in kept)


def same_problem(changed: Iterable[str]) -> list[str]:
    """Of these changes, the ones that say which problem is solved: the environment and K."""
    return [o for o in changed if o.lstrip("+").partition("=")[0].partition(".")[0] in ("env", "K")]


def own_name(name: str, changed: Sequence[str]) -> str:
    """The name of the experiment that has these changes: the paper's results are only the paper's."""
    if not changed:
        return name
    return f"{name}-{hashlib.sha256(' '.join(sorted(changed)).encode()).hexdigest()[:6]}"


def one_line(error: Exception) -> str:
    """The message of a bad input, without line breaks."""
    if isinstance(error, OverrideParseException):
        return f"{error.override!r} is not of the form key=value ({error.message.strip().splitlines()[0]})"
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        return _no_option(error.missing_cfg_file, list(error.options))
    cause = error.__cause__ if isinstance(error, HydraException) else error
    if isinstance(cause, ConfigKeyError | ConfigAttributeError):
        return _no_key(cause)
    if isinstance(cause, OmegaConfBaseException):
        return f"{cause.full_key or 'config'}: {_join_lines(cause.msg or cause)}"
    message = _join_lines(error)
    if message.startswith("Ambiguous value for argument "):
        return f"{message.split()[4]}: several values need --multirun (several experiments)"
    return message


def told(error: Exception) -> str:
    """Any error in one line; a mistake in the code has its kind there too."""
    return one_line(error) if is_bad_input(error) else f"{type(error).__name__}: {_join_lines(error)}"


def named(name: str, error: Exception) -> str:
    """The same, beginning with this name."""
    text = told(error)
    return text if text.startswith(f"{name}:") else f"{name}: {text}"


def _raised_in(error: Exception) -> str:
    """The name of the module that raised it."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__"))


def _refuse(message: str) -> NoReturn:
    raise InputError(f"{message} (see --help)")


def _join_lines(text: object) -> str:
    return " ".join(str(text).split())


def _no_option(path: str, options: list[str]) -> str:
    group, _, name = path.rpartition("/")
    return f"{group}: no option {name!r}; {nearest(name, options)}"


def _no_key(cause: ConfigKeyError | ConfigAttributeError) -> str:
    """An arm holds differences only: there the key may be right and need a plus sign."""
    parent, name = cause.parent_node, str(cause.full_key)
    keys = [str(key) for key in parent if key != "hydra"] if isinstance(parent, DictConfig) else []
    if name.startswith("arms.") and closest(str(cause.key), keys) is None:
        return f"{name}: the arm does not set it yet; write +{name}=... to add it"
    return f"{name}: no such key; {nearest(str(cause.key), keys)}"
