"""The algorithms, one file each: DP-UCBVI and those it is compared with, from their own papers.

A file has the formulas as functions of single numbers (the engine compiles these), the constants that they
need, the algorithm in plain loops, and the class by which one asks for it. `planner` makes an agent of a
function.
"""

from dpucbvi.agents.dp_ucbvi import DPUCBVI
from dpucbvi.agents.ldp_obi import LDPOBI
from dpucbvi.agents.own import planner
from dpucbvi.agents.private_ucb_po import PrivateUCBPO
from dpucbvi.agents.private_ucb_vi import PrivateUCBVI
from dpucbvi.agents.pucb import PUCB
from dpucbvi.agents.register import AGENTS
from dpucbvi.agents.ucbvi import UCBVI, UCBVICH, UCBVIRefined
from dpucbvi.errors import import_all

import_all(__name__, __path__)

__all__ = [
    "AGENTS",
    "DPUCBVI",
    "LDPOBI",
    "PUCB",
    "UCBVI",
    "UCBVICH",
    "PrivateUCBPO",
    "PrivateUCBVI",
    "UCBVIRefined",
    "planner",
]
