"""DP-UCBVI: near-optimal differentially private reinforcement learning (Qiao and Wang, AISTATS 2023).

    import dpucbvi as dp
    mdp = dp.riverswim(S=6, H=20)                      # or dp.TabularMDP(P=P, r=r, initial=p0)
    agent = dp.DPUCBVI(bonus_scale=1e-4, pooled=True)  # factor 1 is the paper; all steps share their counts
    private = dp.Central(epsilon=50, confidence_scale=0.01)
    run = dp.run(mdp, agent, private, K=20_000, seed=0)
    run.regret[-1], run.certificate                    # the regret, and what is guaranteed to whom

Your own agent is `dp.planner(f)`, with f from `Counts` to a `Plan`, or a generator function like
algorithm1.dp_ucbvi. Your own bonus is a function, `dp.DPUCBVI(bonus=...)`; your own privatizer is a class with
the methods of dpucbvi.protocol.Privatizer. They are compiled where possible; `watch=` sees every episode.
`dp.audit` attacks a privatizer, `dp.calibrate` chooses factors, `dp.compare` and `dp.plot` compare runs,
`dp.load` reads stored experiments, and `dp.Session` serves real users; docs/ shows each. Only the names below
are public.
"""

from types import ModuleType as _ModuleType

from dpucbvi.agents import (
    DPUCBVI as DPUCBVI,
    LDPOBI as LDPOBI,
    PUCB as PUCB,
    UCBVI as UCBVI,
    UCBVICH as UCBVICH,
    PrivateUCBPO as PrivateUCBPO,
    PrivateUCBVI as PrivateUCBVI,
    UCBVIRefined as UCBVIRefined,
    planner as planner,
)
from dpucbvi.archive import load as load
from dpucbvi.audit.audit import Audit as Audit, audit as audit
from dpucbvi.calibrate import calibrate as calibrate
from dpucbvi.certify import Guarantee as Guarantee, certify as certify
from dpucbvi.environments import (
    alternating_river as alternating_river,
    chain as chain,
    drifting_river as drifting_river,
    flipping_river as flipping_river,
    from_file as from_file,
    garnet as garnet,
    grid_world as grid_world,
    hard_tree as hard_tree,
    hidden_shortcut as hidden_shortcut,
    random_mdp as random_mdp,
    riverswim as riverswim,
    six_arms as six_arms,
)
from dpucbvi.errors import InputError as InputError
from dpucbvi.gymnasium import from_gymnasium as from_gymnasium, to_gymnasium as to_gymnasium
from dpucbvi.hardness import describe as describe
from dpucbvi.mdp import TabularMDP as TabularMDP
from dpucbvi.planning import optimal_values as optimal_values, policy_values as policy_values
from dpucbvi.plot import plot as plot
from dpucbvi.privatizers import (
    Batches as Batches,
    Central as Central,
    Certificate as Certificate,
    KaryTree as KaryTree,
    Local as Local,
    LocalWindows as LocalWindows,
    NonPrivate as NonPrivate,
    OneQuestion as OneQuestion,
    Toeplitz as Toeplitz,
    Windows as Windows,
)
from dpucbvi.protocol import Counts as Counts, Noise as Noise, Plan as Plan, Problem as Problem, User as User
from dpucbvi.session.client import Client as Client
from dpucbvi.session.fit import fit as fit
from dpucbvi.session.ledger import Ledger as Ledger
from dpucbvi.session.session import Session as Session
from dpucbvi.simulate import run as run
from dpucbvi.trace import Runs as Runs, Trace as Trace, compare as compare

__version__ = "0.2.0"
__all__ = [name for name, value in globals().items() if name[0] != "_" and not isinstance(value, _ModuleType)]


def __dir__() -> list[str]:
    return __all__
