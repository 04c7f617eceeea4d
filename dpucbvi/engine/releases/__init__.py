"""Compiled twins of the releases (privatizers/): one user's statistics in, N̂ out.

Each kind of release is a NamedTuple of its state; `release` picks the code by that type when it is compiled.
"""

from typing import Any

from numba.extending import overload

from dpucbvi.engine.compiled import OPTIONS
from dpucbvi.engine.twins import release_for
from dpucbvi.protocol import Floats, Ints
from dpucbvi.registry import import_all


def release(state: Any, t: int, sigma: Floats, cells: Ints, N_hat: Floats) -> None:
    """Take user t, put the noisy counts of users 1..t into N_hat and empty sigma, non-zero at cells."""
    release_for(type(state))(state, t, sigma, cells, N_hat)


@overload(release, strict=False, jit_options=OPTIONS)
def _release(state: Any, t: Any, sigma: Any, cells: Any, N_hat: Any) -> Any:
    return release_for(state.instance_class)


import_all(__name__, __path__)
