"""Names for things: one entry each, and a name that is not there is an error, never a default."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Generic, TypeVar

from dpucbvi.errors import InputError

T = TypeVar("T")


class Registry(Generic[T]):
    """What the setting `key` may name. A thing is registered once, where it is defined."""

    def __init__(self, key: str):
        self.key = key
        self._things: dict[str, T] = {}

    def add(self, name: str, thing: T) -> None:
        assert name not in self._things, f"{self.key}: {name} is registered twice"
        self._things[name] = thing

    def __getitem__(self, name: str) -> T:
        if name not in self._things:
            raise InputError(f"{self.key}: {name!r} is not one of {', '.join(self._things)}")
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)


def import_all(package: str, path: list[str]) -> None:
    """Import every module of a package, so that what they define is registered."""
    for module in iter_modules(path):
        import_module(f"{package}.{module.name}")
