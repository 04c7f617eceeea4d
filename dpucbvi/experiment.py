"""From the composed config to what will be run: arms and seeds, all of them checked before anything starts."""

import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from dpucbvi.config import RunConfig
from dpucbvi.errors import InputError
from dpucbvi.factory import Setup, set_up
from dpucbvi.figures import KINDS
from dpucbvi.strict import build, check_keys, nearest

RUN_KEYS = [f.name for f in fields(RunConfig)]
ARM_ONLY_KEYS = ["label", "printed"]
NAME = re.compile(r"\w[\w.-]*", re.ASCII)


@dataclass
class RuntimeConfig:
    """Where and how runs are computed; nothing here changes a result."""

    workers: int = 2
    results: str = "results"
    figures: str = "results/figures"
    progress: bool = True


@dataclass
class FigureConfig:
    """The drawing function and the scales of its axes."""

    kind: str = "regret"
    x: str = "log"
    y: str = "log"


@dataclass
class ExperimentConfig:
    """What stands beside the run settings at the top of the config."""

    name: str = "single"
    runs: int = 5
    seed: int = 0
    arms: dict[str, Any] = field(default_factory=dict)
    figure: FigureConfig = field(default_factory=FigureConfig)
    runtime: RuntimeConfig = field(default_factory=RuntimeConfig)


@dataclass
class Arm:
    """One curve: its name on the command line, its name in figures, the printed curve beside it, its settings."""

    key: str
    label: str
    printed: str | None
    setup: Setup


@dataclass
class Experiment:
    """Arms × seeds, with absolute paths."""

    name: str
    arms: list[Arm]
    seeds: list[int]
    figure: FigureConfig
    results: Path
    figures: Path
    workers: int
    progress: bool


def experiment_from(config: DictConfig, root: Path) -> Experiment:
    """The experiment that a composed config describes; relative folders lie in `root`.

    Raises InputError for anything that could not run, in any arm.
    """
    tree = OmegaConf.to_container(config, resolve=True, throw_on_missing=False)
    experiment_keys = [f.name for f in fields(ExperimentConfig)]
    check_keys(tree, RUN_KEYS + experiment_keys)
    assert isinstance(tree, dict)
    base = {key: value for key, value in tree.items() if key in RUN_KEYS}
    rest = build(ExperimentConfig, {key: value for key, value in tree.items() if key not in RUN_KEYS})
    _check(rest)
    return Experiment(
        name=rest.name,
        arms=_arms(base, rest),
        seeds=[rest.seed + i for i in range(rest.runs)],
        figure=rest.figure,
        results=root / Path(rest.runtime.results).expanduser(),
        figures=root / Path(rest.runtime.figures).expanduser(),
        workers=rest.runtime.workers,
        progress=rest.runtime.progress,
    )
