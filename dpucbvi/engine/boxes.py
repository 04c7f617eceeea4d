"""Arguments behind an address, so that plans and releases are compiled one by one and not in pairs.

The loop of kernel.py knows a plan or a release as the address of a C function of two integers: the address of a
box with its arguments, and the number of the episode. The box is an array of words: of an array its address,
shape and strides, of a number the number itself. The loop is thus compiled without them, and each of them once
for all that it is combined with. A Python function can take the place of either (`python_callback`).

Whoever makes a box keeps it, and the arrays in it stay where they are while it is used.
"""

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from dpucbvi.engine.compiled import bound, callback

SIGNATURE = types.int64(types.int64, types.int64)


class Box(NamedTuple):
    """Arguments, and the words by which compiled code finds them."""

    arguments: tuple[Any, ...]
    words: np.ndarray

    @property
    def address(self) -> int:
        return self.words.ctypes.data


def box(*arguments: Any) -> Box:
    return Box(arguments, np.array(list(words_of(arguments)), dtype=np.int64))


def words_of(value: Any) -> Iterator[int]:
    """The words of a number, an array, or a tuple of such."""
    if isinstance(value, tuple):
        for item in value:
            yield from words_of(item)
    elif isinstance(value, np.ndarray):
        yield from (value.ctypes.data, *value.shape, *value.strides)
    elif isinstance(value, bool | int | np.bool_ | np.integer):
        yield int(value)
    elif isinstance(value, float):
        yield int(np.float64(value).view(np.int64))
    else:
        raise TypeError(f"{type(value).__name__} has no place in a box")


def unpacker(kind: Any) -> Any:
    """The compiled function from an address to the arguments of this numba type."""

    @intrinsic
    def unpacked(_context: Any, address: Any = None) -> Any:
        def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            start = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
            offsets = iter(range(10**6))
            return _load(
                context,
                builder,
                kind,
                lambda: builder.load(cgutils.gep_inbounds(builder, start, next(offsets))),
            )

        return kind(types.int64), build

    return unpacked


def _load(context: Any, builder: Any, kind: Any, word: Callable[[], Any]) -> Any:
    """A value of this type from the next words."""
    if isinstance(kind, types.BaseTuple):
        return context.make_tuple(builder, kind, [_load(context, builder, item, word) for item in kind])  # type: ignore[attr-defined]
    if isinstance(kind, types.Array):
        array = make_array(kind)(context, builder)
        data = builder.inttoptr(word(), context.get_data_type(kind.dtype).as_pointer())
        shape, strides = [word() for _ in range(kind.ndim)], [word() for _ in range(kind.ndim)]
        size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        populate_array(array, data, shape, strides, size, None)  # no owner: the box has it
        return array._getvalue()
    if isinstance(kind, types.Boolean):
        return builder.trunc(word(), ir.IntType(1))
    if isinstance(kind, types.Float):
        return builder.bitcast(word(), ir.DoubleType())
    assert kind == types.int64, f"{kind} has no place in a box"
    return word()


@intrinsic
def call(_context: Any, function: Any = None, box: Any = None, k: Any = None) -> Any:
    """What the C function at an address makes of a box and a number."""

    def build(_c: Any, builder: Any, _s: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        pointer = builder.inttoptr(arguments[0], ir.FunctionType(word, [word, word]).as_pointer())
        return builder.call(pointer, arguments[1:])

    return types.int64(types.int64, types.int64, types.int64), build


def boxed_callback(f: Any, box: Box, guarded: bool = False) -> Any:
    """A plain function f(*arguments, k) as a C function of the address of a box of such arguments and k.

    A C function has no exceptions. A `guarded` one returns -1 instead.
    """
    entry = bound(_entry, function=f, unpacked=unpacker(typeof(box.arguments)))
    return callback(bound(_guarded, _entry=entry) if guarded else entry, SIGNATURE)


def _entry(address: int, k: int) -> int:
    return int(function(*unpacked(address), k))


def _guarded(address: int, k: int) -> int:
    try:
        return _entry(address, k)
    except Exception:
        return -1


def function(*arguments: Any) -> int:
    """Stands in `_entry` for the function that is called."""
    raise NotImplementedError


def unpacked(address: int) -> tuple[Any, ...]:
    """Stands in `_entry` for what the address is that of."""
    raise NotImplementedError


def python_callback(function: Callable[[int, int], int]) -> tuple[Any, int]:
    """A Python function as a C function, which must live as long as it is used, and its address."""
    made = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(function)
    return made, int(ctypes.cast(made, ctypes.c_void_p).value or 0)
