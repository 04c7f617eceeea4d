"""The privatizers at sizes at which an attack has power, and the broken releases made of them."""

import dpucbvi as dp
from dpucbvi.environments import random_mdp
from dpucbvi.privatizers import (
    Batches,
    Central,
    GaussianTree,
    KaryTree,
    Local,
    LocalGaussian,
    OneQuestion,
    OneStep,
    Toeplitz,
)
from dpucbvi.simulate import set_up

REPLACE = {"sensitivity": "replace_one"}
TUNED = {**REPLACE, "families": "tuned"}
PAIRS = {"first": 2, "growth": 1.0, "drop_empty": False}

# Privatizer and K.
HONEST = {
    "central, paper": (Central(1.0), 4),
    "central": (Central(1.0, **REPLACE), 4),
    "central, tuned": (Central(1.0, **TUNED), 4),
    "local, paper": (Local(1.0), 3),
    "local": (Local(1.0, **REPLACE), 3),
    "kary_tree": (KaryTree(1.0, k=3), 5),
    "gaussian_tree": (GaussianTree(1.0), 4),
    "toeplitz": (Toeplitz(1.0), 5),
    "batches": (Batches(1.0, **PAIRS), 5),
    "batches, dropped": (Batches(1.0, first=2, growth=1.0), 5),
    "batches, gaussian": (Batches(1.0, delta=1e-6, **PAIRS), 5),
    "one_step": (OneStep(1.0, first=1, growth=1.0), 3),
    "one_question": (OneQuestion(1.0, first=1, growth=1.0), 3),
    "local_gaussian": (LocalGaussian(1.0), 3),
    "square root": (Toeplitz(1.0, factorisation="square_root"), 5),
    "central, every 2": (Central(1.0, **TUNED, every=2), 7),
    "clipped": (GaussianTree(1.0, clip=1), 4),
}
# Exact noise, of which a trial takes a hundred times as long: fewer trials, and an ε at which they have power.
EXACT = {
    "batches": (Batches(2.0, **PAIRS, noise="exact"), 3),
    "one_question": (OneQuestion(2.0, first=1, growth=1.0, noise="exact"), 2),
    "toeplitz": (Toeplitz(8.0, factorisation="square_root", noise="exact"), 3),
}
# Broken release, of which of them, and the trials at which it is caught for sure.
CAUGHT = {
    "half_scale": ("central, tuned", 60_000),
    "natural_log": ("central, tuned", 400_000),
    "level_short": ("central, tuned", 60_000),
    "fresh_noise": ("central, tuned", 600_000),
    "one_stream": ("central, tuned", 20_000),
    "rewards_without_noise": ("central, tuned", 20_000),
    "rewards_outside_budget": ("local, tuned", 300_000),
    "noise_reused": ("local, tuned", 20_000),
    "batch_twice": ("batches", 60_000),
    "visited_only": ("batches", 20_000),
    "pooled_as_per_step": ("pooled", 200_000),
    "unclipped": ("clipped", 200_000),
}
OTHERS = {"local, tuned": (Local(1.0, **TUNED), 3), "pooled": (GaussianTree(1.0), 4)}


def setup_of(name: str, K: int | None = None, exact: bool = False):
    """One state of two, one action, one step; two steps of the river for pooled counts."""
    privatizer, smallest = (EXACT if exact else {**HONEST, **OTHERS})[name]
    pooled = name in ("pooled", "clipped")
    mdp = dp.riverswim(S=2, H=2) if pooled else random_mdp(S=2, A=1, H=1)
    return set_up(mdp, dp.DPUCBVI(pooled=pooled), privatizer, K or smallest)
