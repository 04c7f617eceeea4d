"""Plain functions in, compiled functions out, with a cache on disk that cannot lie.

`compiled(f)` compiles a plain function together with every plain function that it reaches: by a global name, by
a variable of the function around it, or as an attribute of a module. Each is rebuilt with compiled functions in
the place of the plain ones, so that what is written once for both engines has no word of numba in it. A
primitive that needs the bits of a number has a compiled version written by hand (`by_hand`).

numba's own cache knows a function by its file, name and bytecode, not by what its names stand for: one loop
rebuilt with two plans would be cached as one. Here a cached function lies in a folder named by a hash of all
that its machine code depends on (`key`). What comes from outside the package is not cached on disk at all.
"""

import dis
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite.binding import llvm_version_info, set_option
from numba.core.dispatcher import Dispatcher

from dpucbvi.sources import code

# IEEE arithmetic in the order written (no fastmath): the results are the reference's, bit for bit. The numpy
# error model leaves out Python's checks for division by zero.
OPTIONS: Any = {"error_model": "numpy"}
# The pairs of one step are few. What vectors of eight leave over of them is done in vectors of four, not one by
# one, whose bits are the same. Only where the option is known to exist: LLVM ends the process if it does not.
SHORT_LOOPS = "--epilogue-vectorization-minimum-VF=4" if llvm_version_info[0] == 22 else ""
if SHORT_LOOPS:
    set_option("", SHORT_LOOPS)
# What a compiled function calls is inlined: loops over the pairs of one step are short, and a call would hand
# over every array as some seven words, which takes longer than the loop. A loop over a formula also needs it to
# become SIMD code at once: LLVM sees through a call only when it optimises the loop again, inside its caller.
# Nobody else calls these versions.
ONLY_INSIDE: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
PACKAGE = __name__.partition(".")[0]
NUMBAS = {"builtins", "cmath", "math", "numba", "numpy", "operator"}  # packages whose functions numba knows
BY_HAND: dict[FunctionType, Any] = {}
PLAIN_VALUES = bool | int | float | complex | str | bytes | numba.types.Type
_versions: dict[str, Any] = {}  # by key: a global that has changed gives another function


def by_hand(plain: Any) -> Callable[[Any], Any]:
    """Register the decorated function, an intrinsic or a plain one to compile, as the version of `plain`."""

    def register(version: Any) -> Any:
        BY_HAND[plain] = compiled(version) if isinstance(version, FunctionType) else version
        return BY_HAND[plain]

    return register


def compiled(f: Any, boundscheck: bool = False) -> Any:
    """The plain function f compiled with all that it reaches; cached on disk if all of that is the package's.

    With `boundscheck`, an index outside an array is an IndexError.
    """
    if f in BY_HAND:
        return BY_HAND[f]
    options = {**OPTIONS, "boundscheck": boundscheck}
    name = key(f, options)
    if name not in _versions:
        with cache_in(name, cacheable(f)) as cached:
            _versions[name] = numba.njit(cache=cached, **options)(_copy(f))
        _fill(_versions[name].py_func, f, options)
    return _versions[name]


def callback(f: Any, signature: Any) -> Any:
    """The plain function f as a C function, compiled and cached like `compiled`; it has an `address`."""
    name = key(f, OPTIONS, str(signature))
    if name not in _versions:
        again = _copy(f)
        _fill(again, f, OPTIONS)
        with cache_in(name, cacheable(f)) as cached:
            _versions[name] = numba.cfunc(signature, cache=cached, **OPTIONS)(again)
    return _versions[name]


def bound(f: Any, **names: Any) -> Any:
    """The plain function f with these global names: one text for many functions."""
    return _again(f, {**f.__globals__, **names}, f.__closure__)


# --- what a function reaches --------------------------------------------------------------------------


class Name(NamedTuple):
    """What a function reads: a global, a variable of the function around it, or an attribute of a module."""

    kind: str
    name: str
    value: Any


def names_of(f: Any) -> Iterator[Name]:
    """The names that f reads, and what they stand for; behind a module, the attributes that f reads."""
    globals_read, attributes = reads(f.__code__)
    cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    found = [Name("global", name, f.__globals__[name]) for name in globals_read if name in f.__globals__]
    found += [Name("cell", name, cell.cell_contents) for name, cell in cells.items()]
    entered: list[ModuleType] = []
    while found:
        name = found.pop()
        yield name
        if is_module_of_ours(name.value) and name.value not in entered:
            entered.append(name.value)
            inside = [attribute for attribute in attributes if hasattr(name.value, attribute)]
            found += [Name("attribute", f"{name.name}.{at}", getattr(name.value, at)) for at in inside]


@cache
def reads(body: CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The global names and the attributes that a function reads, those of the functions inside it included."""
    globals_read, attributes = set(), set()
    for instruction in dis.get_instructions(body):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            globals_read.add(instruction.argval)
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.add(instruction.argval)
    for inside in body.co_consts:
        if isinstance(inside, CodeType):
            globals_read.update(reads(inside)[0])
            attributes.update(reads(inside)[1])
    return tuple(sorted(globals_read)), tuple(sorted(attributes))


def is_plain(value: Any) -> bool:
    """Whether it is a Python function that is to be compiled: numba has its own versions of numpy's."""
    return isinstance(value, FunctionType) and str(value.__module__).partition(".")[0] not in NUMBAS


def is_module_of_ours(value: Any) -> bool:
    return isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in NUMBAS


def below(f: Any) -> set[Any]:
    """Every Python function that f reaches, compiled or not; f itself if it is recursive."""
    found: set[Any] = set()
    todo = [f]
    while todo:
        values = [name.value for name in names_of(todo.pop())]
        functions = [value.py_func if isinstance(value, Dispatcher) else value for value in values]
        new = {value for value in functions if is_plain(value)} - found
        found |= new
        todo += new
    return found


# --- the same function with compiled ones in the place of plain ones ---------------------------------


def _again(f: Any, names: dict[str, Any], cells: tuple[CellType, ...] | None) -> Any:
    again = FunctionType(f.__code__, names, f.__name__, f.__defaults__, cells)
    again.__module__, again.__qualname__, again.__kwdefaults__ = f.__module__, f.__qualname__, f.__kwdefaults__
    return again


def _copy(f: Any) -> Any:
    """f with global names and closure cells of its own; the cells are empty."""
    return _again(f, dict(f.__globals__), f.__closure__ and tuple(CellType() for _ in f.__closure__))


def _fill(again: Any, f: Any, options: dict[str, Any]) -> None:
    """Let the names of f's copy stand for compiled functions."""
    cells = dict(zip(f.__code__.co_freevars, again.__closure__ or (), strict=True))
    modules: dict[str, ModuleType] = {}
    for kind, name, value in names_of(f):
        version = value
        if is_plain(value):
            version = _inside(value, options)
        elif is_module_of_ours(value):  # numba reads a module's attributes when it compiles
            version = modules[name] = ModuleType(value.__name__)
            version.__dict__.update(value.__dict__)
        if kind == "global":
            again.__globals__[name] = version
        elif kind == "cell":
            cells[name].cell_contents = version
        else:
            module, _, attribute = name.rpartition(".")
            setattr(modules[module], attribute, version)


def _inside(f: Any, options: dict[str, Any]) -> Any:
    """The compiled version of a function that another one calls."""
    if f in BY_HAND:
        return BY_HAND[f]
    options = {**options, **ONLY_INSIDE, "forceinline": f not in below(f)}
    name = key(f, options)
    if name not in _versions:
        _versions[name] = numba.njit(**options)(_copy(f))  # before what it calls, which may call it
        _fill(_versions[name].py_func, f, options)
    return _versions[name]


# --- the key of the cache -----------------------------------------------------------------------------


def key(f: Any, options: dict[str, Any], *more: Any) -> str:
    """A hash of all that the machine code of f depends on.

    That is the module and bytecode of every function reached, the values of its globals, closure cells and
    defaults, and numba, numpy and the options. numba itself looks at the processor, Python and the types of the
    arguments.
    """
    parts: list[bytes] = []
    describe((numba.__version__, np.__version__, SHORT_LOOPS, *sorted(options.items()), *more, f), parts, {})
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)} ".encode() + part)
    return digest.hexdigest()[:32]


def describe(value: Any, parts: list[bytes], seen: dict[int, int]) -> None:
    """Append bytes that differ wherever the value could make a difference; of a function, all that it reaches.

    `seen` numbers the functions that were described, by their address: recursion ends there.
    """
    parts.append(f"{type(value).__module__}.{type(value).__qualname__}".encode())
    if id(value) in seen:
        parts.append(str(seen[id(value)]).encode())
    elif value is None or value is ... or isinstance(value, PLAIN_VALUES):
        parts.append(repr(value).encode())
    elif isinstance(value, tuple | list | frozenset):
        for item in value if not isinstance(value, frozenset) else sorted(value, key=repr):
            describe(item, parts, seen)
        parts.append(b"end")
    elif is_plain(value):
        seen[id(value)] = len(seen)
        if value in BY_HAND:
            describe(BY_HAND[value], parts, seen)
        else:
            defaults = value.__defaults__, *sorted((value.__kwdefaults__ or {}).items())
            describe((value.__module__, value.__code__, *defaults), parts, seen)  # numba looks for the module
            for name in names_of(value):
                describe((name.kind, name.name, name.value), parts, seen)
    elif isinstance(value, Dispatcher):
        seen[id(value)] = len(seen)
        describe((value.py_func, *sorted(value.targetoptions.items())), parts, seen)
    elif isinstance(value, CodeType):
        names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars, value.co_argcount)
        parts.append(value.co_code)
        describe((*names, value.co_kwonlyargcount, value.co_exceptiontable, value.co_consts), parts, seen)
    elif isinstance(value, np.ndarray | np.generic):
        parts.append(f"{value.dtype.str}{value.shape}".encode() + value.tobytes())
    elif isinstance(value, type | ModuleType | FunctionType | BuiltinFunctionType | np.ufunc):
        module, fields = (getattr(value, name, "") for name in ("__module__", "_fields"))
        parts.append(f"{module}.{value.__name__}{fields}".encode())
    elif hasattr(value, "__wrapped__"):  # an intrinsic of numba
        describe(value.__wrapped__, parts, seen)
    else:
        parts.append(os.urandom(16))  # nothing is known of it: it is never what it was


# --- the cache ----------------------------------------------------------------------------------------


def cacheable(f: Any) -> bool:
    """Whether f is looked for on disk; numba never finds again what has a closure cell."""
    return f.__closure__ is None and is_the_packages(f)


def is_the_packages(f: Any) -> bool:
    """Whether f and all that it reaches is the package's."""
    return all(str(one.__module__).partition(".")[0] == PACKAGE for one in {f, *below(f)})


def cache_folder() -> Path:
    """The folder of what this code has compiled."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "dpucbvi" / f"{code()}-numba-{numba.__version__}"


@contextmanager
def cache_in(name: str, wanted: bool) -> Iterator[bool]:
    """numba's folder for the functions that are decorated meanwhile; whether it can be written.

    Where it cannot, numba would choose another folder, with its own names.
    """
    before, folder = numba.config.CACHE_DIR, cache_folder().parent / "compiled" / name  # type: ignore[attr-defined]
    if wanted:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
    _set_cache_folder(str(folder))
    try:
        yield wanted and os.access(folder, os.W_OK)
    finally:
        _set_cache_folder(before)


def _set_cache_folder(folder: str) -> None:
    setattr(numba.config, "CACHE_DIR", folder)  # noqa: B010  (numba's stubs do not name it)
