"""How the engine is compiled: the decorator, and a cache that any change of the sources empties.

numba's own cache notices a change only in the file of the cached function, not in the functions it calls; so
the cache lies in a folder named by a hash of every source that is compiled in.
"""

import hashlib
import os
from pathlib import Path
from typing import Any

import numba

_PACKAGE = Path(__file__).parent.parent
_COMPILED_IN = ("engine/*.py", "engine/plans/*.py", "baselines/*.py", "bonus.py", "noise.py")


def _hash_of_sources() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for pattern in _COMPILED_IN:
        for source in sorted(_PACKAGE.glob(pattern)):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "dpucbvi" / SOURCES


SOURCES = _hash_of_sources()
setattr(numba.config, "CACHE_DIR", str(_cache_folder()))  # noqa: B010  (numba's stubs do not name it)

# IEEE arithmetic in the order written (no fastmath): the results are the reference's, bit for bit. The numpy
# error model leaves out Python's checks for division by zero.
OPTIONS: Any = {"error_model": "numpy"}
jit = numba.njit(cache=True, **OPTIONS)
# For the short loops over the pairs of one step: a call would hand over every array as some seven words, which
# takes longer than the loop.
inlined = numba.njit(forceinline=True, **OPTIONS)
