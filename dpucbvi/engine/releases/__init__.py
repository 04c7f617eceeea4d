"""Compiled twins of the releases (privatizers/): one user in, N̂ out now and then.

Each kind of release is a NamedTuple of its state; `release` picks the code by that type when it is compiled.
"""

from typing import Any

from numba.extending import overload

from dpucbvi.engine.compiled import OPTIONS, compiled
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import release_for
from dpucbvi.registry import import_all


def release(state: Any, t: int, memory: Memory, private: Private) -> bool:
    """Take user t, whose trajectory memory has; True if the noisy counts and their sd in `private` are new."""
    return release_for(type(state))(state, t, memory, private)


@overload(release, strict=False, jit_options=OPTIONS)
def _release(state: Any, t: Any, memory: Any, private: Any) -> Any:
    return compiled(release_for(state.instance_class)).py_func


import_all(__name__, __path__)
