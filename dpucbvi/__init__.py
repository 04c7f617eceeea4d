"""DP-UCBVI: near-optimal differentially private reinforcement learning (Qiao and Wang, AISTATS 2023).

    import dpucbvi as dp
    mdp = dp.riverswim(S=6, H=20)                      # or dp.TabularMDP(P=P, r=r, initial=p0)
    private = dp.Central(epsilon=50, confidence_scale=0.01)
    run = dp.run(mdp, dp.DPUCBVI(bonus_scale=1e-4), private, K=20_000, seed=0)
    run.regret[-1], run.certificate                    # a float; what is certified, under which relation

An agent of your own is `dp.planner(f)`, f from `Counts` to a `Plan`, or a generator function like
algorithm1.dp_ucbvi; a bonus of your own is a function handed to `dp.DPUCBVI(bonus=...)`; a privatizer of your
own is a class with the methods of dpucbvi.protocol.Privatizer. These run on the reference engine; `watch=` sees
every episode. `dp.calibrate` chooses factors, `dp.compare` and `dp.plot` set runs against each other, `dp.load`
reads stored experiments; docs/ shows each. Nothing else than the names below is public.
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING

from dpucbvi.agents import (
    DPUCBVI,
    LDPOBI,
    PUCB,
    UCBVI,
    UCBVICH,
    DPNashVI,
    PrivateUCBPO,
    PrivateUCBVI,
    UCBVIRefined,
    planner,
)
from dpucbvi.environments import (
    chain,
    from_file,
    garnet,
    grid_world,
    hard_tree,
    random_mdp,
    riverswim,
    six_arms,
)
from dpucbvi.errors import InputError
from dpucbvi.from_gymnasium import from_gymnasium
from dpucbvi.hardness import describe
from dpucbvi.mdp import TabularMDP
from dpucbvi.planning import optimal_values, policy_values
from dpucbvi.privatizers import (
    Batches,
    Central,
    Certificate,
    GaussianTree,
    Honaker,
    KaryTree,
    Local,
    LocalGaussian,
    NonPrivate,
    OneQuestion,
    OneStep,
    Toeplitz,
)
from dpucbvi.protocol import Counts, Noise, Plan, Problem, User
from dpucbvi.simulate import run
from dpucbvi.trace import Runs, Trace

if TYPE_CHECKING:
    from experiments.lab.calibration import calibrate
    from experiments.lab.results import compare, load
    from experiments.studies.regret import plot

__version__ = _version("dpucbvi")

# What needs pandas, matplotlib or the lab: imported when it is first asked for.
_ON_DEMAND = {
    "calibrate": "experiments.lab.calibration",
    "compare": "experiments.lab.results",
    "load": "experiments.lab.results",
    "plot": "experiments.studies.regret",
}

__all__ = [
    "DPUCBVI",
    "LDPOBI",
    "PUCB",
    "UCBVI",
    "UCBVICH",
    "Batches",
    "Central",
    "Certificate",
    "Counts",
    "DPNashVI",
    "GaussianTree",
    "Honaker",
    "InputError",
    "KaryTree",
    "Local",
    "LocalGaussian",
    "Noise",
    "NonPrivate",
    "OneQuestion",
    "OneStep",
    "Plan",
    "PrivateUCBPO",
    "PrivateUCBVI",
    "Problem",
    "Runs",
    "TabularMDP",
    "Toeplitz",
    "Trace",
    "UCBVIRefined",
    "User",
    "calibrate",
    "chain",
    "compare",
    "describe",
    "from_file",
    "from_gymnasium",
    "garnet",
    "grid_world",
    "hard_tree",
    "load",
    "optimal_values",
    "planner",
    "plot",
    "policy_values",
    "random_mdp",
    "riverswim",
    "run",
    "six_arms",
]


def __getattr__(name: str) -> object:
    if name not in _ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_import_module(_ON_DEMAND[name]), name)


def __dir__() -> list[str]:
    return __all__
