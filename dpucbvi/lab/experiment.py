"""From the composed config to what will be run: arms and seeds, all of them checked before anything starts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from dpucbvi.errors import InputError
from dpucbvi.lab.assemble import assemble
from dpucbvi.lab.settings import RUN_KEYS, RunSettings, canonical, run_settings
from dpucbvi.lab.strict import build, check_keys, nearest
from dpucbvi.protocol import Setup

AXES = ("log", "linear")
FILE_NAME = re.compile(r"\w[\w.-]*", re.ASCII)


@dataclass
class RuntimeSettings:
    """Where and how runs are computed; nothing here changes a result."""

    workers: int = 2
    results: str = "results"
    figures: str = "results/figures"
    progress: bool = True


@dataclass
class FigureSettings:
    """The scales of a figure's axes."""

    x: str = "log"
    y: str = "log"


@dataclass
class ExperimentSettings:
    """What stands beside the settings of a run and the arms."""

    name: str = "single"
    study: str = "regret"
    runs: int = 5
    seed: int = 0
    figure: FigureSettings = field(default_factory=FigureSettings)
    runtime: RuntimeSettings = field(default_factory=RuntimeSettings)


ARM_KEYS = ["label", "printed", "panel", "grid", *RUN_KEYS]
TOP_KEYS = ["arms", "grid", *(f.name for f in fields(ExperimentSettings)), *RUN_KEYS]


@dataclass
class Arm:
    """One curve, or one point of one: an arm of the config at one point of its grid.

    `printed` is a published curve that it stands for, `panel` where it is drawn.
    """

    of: str  # the arm's key in the config
    point: dict[str, Any]
    label: str
    printed: str | None
    panel: str | None
    settings: RunSettings  # in canonical form
    setup: Setup

    @property
    def key(self) -> str:
        return "@".join([self.of, *(f"{name}={value}" for name, value in self.point.items())])


@dataclass
class Experiment:
    """Arms × seeds, which study draws them, and where their results go (absolute paths)."""

    name: str
    study: str
    arms: list[Arm]
    seeds: list[int]
    figure: FigureSettings
    results: Path
    figures: Path
    workers: int
    progress: bool
    changed: tuple[str, ...] = ()  # what the command line changed of the experiment of conf/exp


def experiment_from(
    config: DictConfig,
    root: Path,
    studies: Iterable[str],
    curves: Iterable[str] = (),
    changed: tuple[str, ...] = (),
) -> Experiment:
    """The experiment that a composed config describes; relative folders lie in `root`.

    `studies` are the names that `study` may have, `curves` those that an arm's `printed` may have. Raises
    InputError if any arm could not run.
    """
    tree: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=False)
    check_keys(tree, TOP_KEYS)
    run = {key: value for key, value in tree.items() if key in RUN_KEYS}
    rest = {key: value for key, value in tree.items() if key not in RUN_KEYS}
    arms, grid = rest.pop("arms", None) or {}, rest.pop("grid", None) or {}
    settings = build(ExperimentSettings, rest)
    _check(settings, list(studies))
    return Experiment(
        settings.name,
        settings.study,
        _arms(run, arms, grid, list(curves)),
        [settings.seed + i for i in range(settings.runs)],
        settings.figure,
        root / Path(settings.runtime.results).expanduser(),
        root / Path(settings.runtime.figures).expanduser(),
        settings.runtime.workers,
        settings.runtime.progress,
        changed,
    )


def check_effect(overrides: Iterable[str], experiment: Experiment) -> None:
    """Refuse a setting of the command line (`key=value`) that the grids of all arms replace."""
    for override in overrides:
        key = override.lstrip("+").partition("=")[0]
        if all(key in arm.point for arm in experiment.arms):
            raise InputError(
                f"{key}: has no effect, every arm takes it from a grid; set grid.{key}=[...] instead, "
                f"and arms.NAME.grid.{key}=[...] where an arm has its own"
            )


def _check(c: ExperimentSettings, studies: list[str]) -> None:
    rules = [
        ("name", c.name, FILE_NAME.fullmatch(c.name), "letters, digits, '_', '-' and '.' (it names files)"),
        ("runs", c.runs, c.runs >= 1, "an integer >= 1"),
        ("seed", c.seed, c.seed >= 0, "an integer >= 0"),
        ("runtime.workers", c.runtime.workers, c.runtime.workers >= 1, "an integer >= 1"),
        ("study", c.study, c.study in studies, f"one of {', '.join(studies)}"),
        ("figure.x", c.figure.x, c.figure.x in AXES, f"one of {', '.join(AXES)}"),
        ("figure.y", c.figure.y, c.figure.y in AXES, f"one of {', '.join(AXES)}"),
    ]
    for key, value, good, accepted in rules:
        if not good:
            raise InputError(f"{key}: {value!r} is not accepted; it must be {accepted}")


def _arms(run: dict[str, Any], arms: Any, grid: Any, curves: list[str]) -> list[Arm]:
    """Every arm's settings merged over those of the experiment, at every point of its grid.

    Without arms, the experiment's own settings are the only arm.
    """
    if not isinstance(arms, dict):
        raise InputError(f"arms: {arms!r} is not accepted; it must be a group of arms")
    if not arms:
        agent = run.get("agent", {})
        arms = {agent["name"] if isinstance(agent, dict) and "name" in agent else "single": {}}
    return [made for key, arm in arms.items() for made in _arm(run, str(key), arm, grid, curves)]


def _arm(run: dict[str, Any], key: str, arm: Any, grid: Any, curves: list[str]) -> list[Arm]:
    at = f"arms.{key}"
    check_keys(arm, ARM_KEYS, at)
    own = {name: value for name, value in arm.items() if name in RUN_KEYS}
    label, printed, panel = arm.get("label", key), arm.get("printed"), arm.get("panel")
    for name, text in (("label", label), ("panel", panel or "")):
        if not isinstance(text, str):
            raise InputError(f"{at}.{name}: {text!r} is not accepted; it must be a text")
    if printed is not None and printed not in curves:
        raise InputError(f"{at}.printed: no such curve {printed!r}; {nearest(str(printed), curves)}")
    points = _points(grid, arm.get("grid") or {}, at)
    return [Arm(key, point, label, printed, panel, *_merged(run, own, point, at)) for point in points]


def _points(grid: Any, own: Any, at: str) -> list[dict[str, Any]]:
    """All combinations of the grid's values, {setting: [values]} to [{setting: value}].

    The arm's own grid adds settings, replaces their values, or takes them out (null).
    """
    axes: dict[str, Any] = {}
    for place, tree in (("grid", grid), (f"{at}.grid", own)):
        axes |= (flat := _flat(tree))
        if not isinstance(tree, dict) or not all(isinstance(v, list | None) for v in flat.values()):
            raise InputError(f"{place}: {tree!r} is not accepted; it must be settings with lists of values")
    axes = {name: values for name, values in axes.items() if values is not None}
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def _flat(grid: Any, at: str = "") -> dict[str, Any]:
    """A grid by dotted settings: {privatizer: {epsilon: [1]}}, as the command line has it, is the same as
    {privatizer.epsilon: [1]}."""
    if not isinstance(grid, dict):
        return {at.rstrip("."): grid}
    found: dict[str, Any] = {}
    for key, value in grid.items():
        found |= _flat(value, f"{at}{key}.")
    return found


def _merged(
    run: dict[str, Any], own: dict[str, Any], point: dict[str, Any], at: str
) -> tuple[RunSettings, Setup]:
    merged = OmegaConf.merge(run, own)
    for name, value in point.items():
        if name.partition(".")[0] not in RUN_KEYS:
            raise InputError(f"grid.{name}: no such key; {nearest(name.partition('.')[0], RUN_KEYS)}")
        OmegaConf.update(merged, name, value, force_add=True)
    tree: Any = OmegaConf.to_container(merged)
    try:
        settings = run_settings(tree)
        return canonical(settings), assemble(settings)
    except InputError as error:
        raise InputError(_place(str(error), at, own)) from None


def _place(message: str, at: str, own: dict[str, Any]) -> str:
    """Name the key as the user can set it: under the arm if the arm sets it, else at the top."""
    path, _, _ = message.partition(": ")
    branch: Any = own
    for name in path.split("."):
        if not isinstance(branch, dict) or name not in branch:
            return f"{message} (in {at})"
        branch = branch[name]
    return f"{at}.{message}"
