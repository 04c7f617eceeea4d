"""Plain data to typed settings, strictly: an unknown key or a wrong type is an InputError, told in one line."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from dpucbvi.errors import InputError

T = TypeVar("T")

MISSING = "???"  # OmegaConf's mark of a value that the user must give
WANTED = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}


def build(kind: type[T], tree: Any, at: str = "") -> T:
    """The dataclass with these values; `at` is the key under which they stand in the config."""
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    check_keys(tree, names, at)
    return kind(**{key: _value(hints[key], value, join(at, key)) for key, value in tree.items()})


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


def arguments(function: Callable[..., Any]) -> Mapping[str, Argument]:
    """The parameters of a function or dataclass that are plain values."""
    return _arguments(function)


@cache  # the settings of every run ask for those of every class
def _arguments(function: Callable[..., Any]) -> Mapping[str, Argument]:
    hints = get_type_hints(function)
    found = {name: Argument(hints[name], p.default) for name, p in signature(function).parameters.items()}
    return {name: argument for name, argument in found.items() if _plain(argument.hint) in WANTED}


def check_keys(tree: Any, accepted: list[str], at: str = "") -> None:
    """Raise InputError unless `tree` is a mapping with no other keys than these."""
    if not isinstance(tree, dict):
        raise InputError(f"{at}: {show(tree)} is not accepted; it has the keys {', '.join(accepted)}")
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


def show(value: Any) -> str:
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
            raise InputError(f"{at}: {show(value)} is not accepted; it must be a group with a name")
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
    if kind is float and type(value) is int:
        return float(value)  # 1 and 1.0 are the same setting
    if kind is int and type(value) is float and value.is_integer():
        return int(value)  # so that K=1e5 works
    if type(value) is not kind:
        raise InputError(f"{at}: {show(value)} is not accepted; it must be {WANTED[kind]}")
    return value
