"""DP-UCBVI: near-optimal differentially private reinforcement learning (Qiao and Wang, AISTATS 2023).

    import dpucbvi as dp
    mdp = dp.riverswim(S=6, H=20)                      # or dp.TabularMDP(P=P, r=r, initial=p0)
    private = dp.Central(epsilon=50, confidence_scale=0.01)
    run = dp.run(mdp, dp.DPUCBVI(bonus_scale=1e-4), private, K=20_000, seed=0)
    run.regret[-1], run.certificate                    # a float; what is certified, under which relation

An agent of your own is `dp.planner(f)`, f from `Counts` to a `Plan`, or a generator function like
algorithm1.dp_ucbvi; a bonus of your own is a function handed to `dp.DPUCBVI(bonus=...)`; a privatizer of your
own is a class with the methods of dpucbvi.protocol.Privatizer. These run on the reference engine; `watch=` sees
every episode. Nothing else than the names below is public.
"""

from importlib.metadata import version as _version

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
from dpucbvi.environments import from_file, garnet, hard_tree, random_mdp, riverswim
from dpucbvi.errors import InputError
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
from dpucbvi.trace import Trace, Traces

__version__ = _version("dpucbvi")

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
    "TabularMDP",
    "Toeplitz",
    "Trace",
    "Traces",
    "UCBVIRefined",
    "User",
    "from_file",
    "garnet",
    "hard_tree",
    "optimal_values",
    "planner",
    "policy_values",
    "random_mdp",
    "riverswim",
    "run",
]


def __dir__() -> list[str]:
    return __all__
