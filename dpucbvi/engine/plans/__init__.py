"""Compiled twins of the planning of every algorithm: Algorithm 1's lines 4-15 and the other agents' own.

An algorithm is known by the type of its constants; `plan` picks the code by that type when it is compiled. Each
pair (s,a) sees the same operations in the same order as in the reference, and its formulas are the reference's
functions, compiled. Where Ñ = 0 its numbers are not finite and unused.
"""

from typing import Any

from numba.extending import overload

from dpucbvi.engine.compiled import OPTIONS, compiled
from dpucbvi.engine.state import Memory, Private
from dpucbvi.engine.twins import plan_for
from dpucbvi.registry import import_all


def plan(c: Any, private: Private, memory: Memory, scratch: Any) -> bool:
    """Plan an episode from the private counts into memory's Q, V and pi; returns whether pi changed."""
    return plan_for(type(c))(c, private, memory, scratch)


@overload(plan, strict=False, jit_options=OPTIONS)
def _plan(c: Any, private: Any, memory: Any, scratch: Any) -> Any:
    return compiled(plan_for(c.instance_class)).py_func


import_all(__name__, __path__)
