"""How the engine is compiled: the decorators, and a cache that any change of the sources empties.

numba's own cache notices a change only in the file of the cached function, not in the functions it calls; so
the cache lies in a folder named by a hash of all sources (sources.py).
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from dpucbvi.sources import code

# IEEE arithmetic in the order written (no fastmath): the results are the reference's, bit for bit. The numpy
# error model leaves out Python's checks for division by zero.
OPTIONS: Any = {"error_model": "numpy"}
# For the short loops over the pairs of one step, and for formulas: a call would hand over every array as some
# seven words, which takes longer than the loop. A loop over a formula also needs it to become SIMD code at
# once: LLVM sees through a call only when it optimises the loop again, inside its caller. The process that
# compiled them keeps the first translation of each function (its name is taken), the cache has the second.
inlined = numba.njit(forceinline=True, **OPTIONS)


def jit(function: Callable[..., Any]) -> Any:
    """Compile, with a cache on disk. Its folder is numba's only while this function is decorated."""
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    _set_cache_folder(str(cache_folder()))
    try:
        return numba.njit(cache=True, **OPTIONS)(function)
    finally:
        _set_cache_folder(before)


def cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "dpucbvi" / f"{code()}-numba-{numba.__version__}"


def _set_cache_folder(folder: str) -> None:
    setattr(numba.config, "CACHE_DIR", folder)  # noqa: B010  (numba's stubs do not name it)
