"""The errors that a user is told in one line, and the checks that raise them."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any


class InputError(ValueError):
    """A value the user gave is not accepted; the message names the key and what is accepted."""


class LpError(ArithmeticError):
    """The LP of Eq. (4) was not solved, or the engine's solution is not the solver's."""


def whole(key: str, value: Any, least: int, most: int | None = None) -> int:
    """The value as an int; InputError unless it is a whole number from `least` on, up to `most`."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if whole and least <= value and (most is None or value <= most):
        return int(value)
    accepted = f"an integer >= {least}" if most is None else f"an integer from {least} to {most}"
    raise InputError(f"{key}: {value!r} is not accepted; it must be {accepted}")


def check_number(key: str, value: Any, good: Callable[[float], bool], accepted: str) -> None:
    """Raise InputError unless the value is a finite number and `good`; `accepted` says which are."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not (number and math.isfinite(value) and good(float(value))):
        raise InputError(f"{key}: {value!r} is not accepted; it must be {accepted}")


@contextmanager
def extra(name: str, asked: str) -> Iterator[None]:
    """Imports in this context need the package's extra of this name; InputError, if a module of it is missing.

    `asked` says what needs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(f"{asked} needs {error.name}: pip install 'dpucbvi[{name}]'") from None
