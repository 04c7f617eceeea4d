"""The errors that a user is told in one line, the checks that raise them, and what names may stand for."""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from numbers import Integral, Real
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar

import numpy as np

LARGEST = 2**63 - 1  # integer that numpy has room for
LONGEST = 80  # characters of a value that a message repeats
T = TypeVar("T")


class InputError(ValueError):
    """A value that you gave is not accepted; the message, one line, names the key and what is accepted.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> dp.Central(epsilon=-1)
    Traceback (most recent call last):
    dpucbvi.errors.InputError: epsilon: -1 is not accepted; it must be a number >= 1e-100
    """


class LpError(ArithmeticError):
    """The LP of Eq. (4) was not solved, or the engine's solution is not the solver's."""


def whole(key: str, value: Any, least: int, most: int | None = None) -> int:
    """The value as an int; InputError unless it is a whole number from `least` on, up to `most`."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if whole and least <= value <= (LARGEST if most is None else most):
        return int(value)
    accepted = f"an integer >= {least}" if most is None else f"an integer from {least} to {most}"
    raise refused(key, value, accepted)


def check_flag(key: str, value: Any) -> None:
    """Raise InputError unless the value is True or False: a text, or another object, would be read as True."""
    if not isinstance(value, bool):
        raise refused(key, value, "True or False")


def check_number(key: str, value: Any, good: Callable[[float], bool], accepted: str) -> None:
    """Raise InputError unless the value is a finite number and `good`; `accepted` says which are."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:  # of an integer
        number = math.inf
    if not (math.isfinite(number) and good(number)):
        raise refused(key, value, accepted)


def finite(what: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A copy of an array of finite numbers; InputError if it is none, or has another shape.

    What user code returns is copied: it may write its next answer into the same array.
    """
    if not (isinstance(value, np.ndarray) and value.dtype.kind in "iuf" and value.shape == shape):
        raise InputError(f"{what} must be an array of numbers of shape {shape}")
    if not np.isfinite(value).all():
        raise InputError(f"{what} is not finite everywhere")
    return value.astype(np.float64)


def check_name(key: str, value: Any, accepted: Iterable[str]) -> None:
    """Raise InputError unless the value is one of these names."""
    if not (isinstance(value, str) and value in accepted):
        raise InputError(f"{key}: {brief(value)} is not one of {', '.join(accepted)}")


def refused(key: str, value: Any, accepted: str) -> InputError:
    """The error for a value that is not accepted."""
    return InputError(f"{key}: {brief(value)} is not accepted; it must be {accepted}")


def one_line(error: BaseException) -> str:
    """What an error of another package says, in one line of bounded length."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 3 * LONGEST else f"{text[: 3 * LONGEST]}..."


def brief(value: Any) -> str:
    """A value as Python writes it, in one line of bounded length."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # of an integer with thousands of digits
        text = type(value).__name__
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


@contextmanager
def extra(name: str, asked: str) -> Iterator[None]:
    """Imports in this context need the package's extra of this name; InputError, if a module of it is missing.

    `asked` says what needs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise InputError(f"{asked} needs {package}: pip install 'dpucbvi[{name}]'") from None


# --- names ----------------------------------------------------------------------------------------------------


class Registry(dict[str, T], Generic[T]):
    """What the setting `key` may name: a thing is added once, where it is defined, and there is no default."""

    def __init__(self, key: str):
        super().__init__()
        self.key = key

    def add(self, name: str, thing: T) -> None:
        assert name not in self, f"{self.key}: {name} is registered twice"
        self[name] = thing

    def __missing__(self, name: str) -> T:
        raise InputError(f"{self.key}: {name!r} is not one of {', '.join(self)}")


def import_all(package: str, path: list[str]) -> None:
    """Import every module of a package, so that what they define is registered."""
    for module in iter_modules(path):
        import_module(f"{package}.{module.name}")
