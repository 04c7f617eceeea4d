"""Stored results made up for tests of the studies: every number is known, and no two are alike."""

from collections.abc import Iterable
from math import inf
from typing import Any

import numpy as np

from dpucbvi.privacy.certificate import Certificate
from dpucbvi.trace import Trace
from experiments.lab.store import StoredArm, StoredExperiment, StoredRun
from experiments.studies.shared.printed import printed_curves

RIVER = {"name": "riverswim", "S": 6, "H": 20, "variant": "chowdhury_zhou", "rewards": "deterministic"}
MODELS = {"non_private": "none", "central": "JDP", "local": "LDP"}
# Not in the paper: their ε is for a user who is replaced.
OTHER_MODELS = {
    **dict.fromkeys(("kary_tree", "toeplitz", "batches"), "JDP"),
    "one_question": "LDP",
}
ADD_REMOVE = 0.6  # of that ε, if she is added or removed: neither the same nor half
SPREAD = (-0.07, 0.01, 0.09, 0.03)  # of the runs of an arm, about its regret


def grid(K: int, points: int = 60) -> np.ndarray:
    return np.unique(np.geomspace(1, K, points).astype(np.int64))


def shape(curve: str, level: float = 1.0) -> np.ndarray:
    """A reported curve times `level` along grid(50,000)."""
    printed = printed_curves()[curve]
    return level * np.interp(grid(50_000), np.append(0, printed.episodes), np.append(0, printed.regret))


def stored_run(
    seed: int,
    regret: np.ndarray,
    *,
    K: int = 50_000,
    env: dict[str, Any] = RIVER,
    agent: str = "dp_ucbvi",
    pooled: bool = False,
    model: str = "central",
    epsilon: float = 1.0,
    delta: float = 0.0,
    replaced: bool | None = None,
    bonus: float = 1.0,
    confidence: float = 1.0,
    shape: tuple[int, int, int] | None = None,
    Q: np.ndarray | None = None,
    cap: str = "H",
    families: str = "paper",
) -> StoredRun:
    """A run that certifies ε if a user is added or removed, 2ε if replaced; regret along grid(K) or its end.

    With `replaced`, and by itself with a privatizer that is not in the paper, ε is for a user who is replaced.
    """
    private = model != "non_private"
    config = {
        "env": env,
        "agent": {"name": agent, "pooled": pooled, "cap": cap},
        "privatizer": {
            "name": model,
            **({"epsilon": epsilon, "sensitivity": "paper", "families": families} if private else {}),
        },
        "bonus": {"scale": bonus},
        "confidence": {"name": "proven", "scale": confidence},
        "K": K,
        "beta": 0.05,
        "seed": seed,
    }
    if replaced or (replaced is None and model in OTHER_MODELS):
        certified = Certificate({**MODELS, **OTHER_MODELS}[model], ADD_REMOVE * epsilon, epsilon, delta)
        config["privatizer"] |= {"sensitivity": "replace_one", "delta": delta}
    else:
        certified = Certificate(MODELS[model], *((epsilon, 2 * epsilon) if private else (inf, inf)))
    episodes = grid(K) if len(np.atleast_1d(regret)) > 1 else np.array([K])
    zeros = np.zeros_like(episodes)
    shape = shape or (env["H"], env["S"], 2)
    Q = np.zeros(shape) if Q is None else Q
    trace = Trace(episodes, np.atleast_1d(regret), zeros, zeros, np.zeros(shape), Q, {}, certified, 0.0, 0.0)
    return StoredRun(config, {}, trace)


def stored_arm(
    of: str,
    regret: np.ndarray | float,
    *,
    point: dict[str, Any] | None = None,
    label: str | None = None,
    printed: str | None = None,
    panel: str | None = None,
    runs: int = 3,
    **settings: Any,
) -> StoredArm:
    """An arm whose runs have the given regret, spread by some percent: of a different shape in every run."""
    point = point or {}
    key = "@".join([of, *(f"{name}={value}" for name, value in point.items())])
    regret = np.atleast_1d(np.asarray(regret, dtype=float))
    growth = np.linspace(0.5, 1.0, len(regret)) if len(regret) > 1 else np.ones(1)
    made = [stored_run(seed, regret * (1.0 + SPREAD[seed] * growth), **settings) for seed in range(runs)]
    return StoredArm(key, of, point, label or of, printed, panel, made)


def stored_experiment(study: str, arms: list[StoredArm]) -> StoredExperiment:
    return StoredExperiment(study, study, arms)


def with_regrets(arm: StoredArm, regrets: Iterable[np.ndarray | float], seed: int = 0) -> StoredArm:
    """The arm with these regrets, a run for each, from its first run on; seeds from the given one on."""
    runs = [*arm.runs, *arm.runs[:1] * 100]
    made = [
        run._replace(
            config={**run.config, "seed": seed + i}, trace=run.trace._replace(regret=np.atleast_1d(regret))
        )
        for i, (run, regret) in enumerate(zip(runs, regrets, strict=False))
    ]
    return arm._replace(runs=made)


def mean(arm: StoredArm) -> np.ndarray:
    """Over runs, worked out apart from the package."""
    return sum(run.trace.regret for run in arm.runs) / len(arm.runs)
