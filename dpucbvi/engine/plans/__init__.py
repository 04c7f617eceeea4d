"""Compiled twins of the planning of every algorithm: Algorithm 1's lines 4-15 and the baselines' own.

An algorithm is known by the type of its constants; `plan` picks the code by that type when it is compiled. Each
pair (s,a) sees the same operations in the same order as in the reference. Where Ñ = 0 its numbers are not
finite and unused.
"""

from typing import Any

from numba.extending import overload

from dpucbvi.baselines.dp_nash_vi import DpNashViConstants
from dpucbvi.baselines.ldp_obi import LdpObiConstants
from dpucbvi.baselines.private_ucb_po import PrivateUcbPoConstants
from dpucbvi.baselines.private_ucb_vi import PrivateUcbViConstants
from dpucbvi.baselines.pucb import PucbConstants
from dpucbvi.baselines.ucbvi import HoeffdingConstants, UcbviBernsteinConstants
from dpucbvi.bonus import BernsteinConstants
from dpucbvi.engine.compiled import OPTIONS
from dpucbvi.engine.plans.chowdhury_zhou import plan_private_ucb_po, plan_private_ucb_vi
from dpucbvi.engine.plans.dp_nash_vi import plan_dp_nash_vi
from dpucbvi.engine.plans.dp_ucbvi import plan_dp_ucbvi
from dpucbvi.engine.plans.ldp_obi import plan_ldp_obi
from dpucbvi.engine.plans.pucb import plan_pucb
from dpucbvi.engine.plans.ucbvi import plan_ucbvi_bf, plan_ucbvi_ch
from dpucbvi.engine.state import Memory, Private

PLANS: dict[type, Any] = {
    BernsteinConstants: plan_dp_ucbvi,
    HoeffdingConstants: plan_ucbvi_ch,
    UcbviBernsteinConstants: plan_ucbvi_bf,
    PrivateUcbViConstants: plan_private_ucb_vi,
    PrivateUcbPoConstants: plan_private_ucb_po,
    PucbConstants: plan_pucb,
    LdpObiConstants: plan_ldp_obi,
    DpNashViConstants: plan_dp_nash_vi,
}


def plan(c: Any, private: Private, memory: Memory) -> bool:
    """Plan an episode from the private counts into memory's Q, V and pi; returns whether pi changed."""
    return PLANS[type(c)](c, private, memory)


@overload(plan, strict=False, jit_options=OPTIONS)
def _plan(c: Any, private: Any, memory: Any) -> Any:
    return PLANS[c.instance_class]
