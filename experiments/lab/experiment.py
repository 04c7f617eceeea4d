"""From the composed config to what will be run: arms and seeds, all of them checked before anything starts."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from joblib import cpu_count
from omegaconf import DictConfig, OmegaConf

from dpucbvi.certify import basis_of, guarantee
from dpucbvi.errors import InputError
from dpucbvi.privacy.certificate import at_most
from dpucbvi.projection import CvxpyPostprocess
from dpucbvi.protocol import Setup
from experiments.lab.assemble import assemble
from experiments.lab.settings import (
    ARM_KEYS,
    MISSING,
    RUN_KEYS,
    TOP_KEYS,
    AttackSettings,
    ExperimentSettings,
    RunSettings,
    RuntimeSettings,
    arm_settings,
    build,
    canonical,
    check_keys,
    experiment_settings,
    flat,
    nearest,
    run_settings,
    shown,
    to_dict,
)

MOST_POINTS = 10_000  # of the grid of one arm
# What task=certify prints of an arm.
CERTIFIED = (
    *("arm", "privacy", "δ", "ε (a user added or removed)", "ε (replaced)", "μ (replaced)", "ρ (replaced)"),
    *("noise", "basis", "E", "Assumption 3.1"),
)
SOLVED = ("closed_form", "cvxpy")  # post-processings that are the LP of Eq.4


@dataclass
class Arm:
    """One curve, or one point of one: an arm of the config at one point of its grid."""

    of: str  # the arm's key in the config
    point: dict[str, Any]
    label: str
    printed: str | None
    panel: str | None
    settings: RunSettings  # in canonical form
    runs: int | None = None

    @property
    def key(self) -> str:
        return "@".join([self.of, *(f"{name}={value}" for name, value in self.point.items())])

    @cached_property
    def setup(self) -> Setup:
        return assemble(self.settings)


@dataclass
class Experiment:
    """Arms × seeds, which study draws them, and where their results go (an absolute path)."""

    task: str
    name: str
    study: str
    arms: list[Arm]
    seeds: list[int]
    results: Path
    runtime: RuntimeSettings
    changed: tuple[str, ...] = ()  # what the command line changed of the experiment of conf/exp

    @property
    def figures(self) -> Path:
        return self.results / "figures"

    def seeds_of(self, arm: Arm) -> list[int]:
        return self.seeds[: arm.runs]


def experiment_from(
    config: DictConfig,
    root: Path,
    studies: Iterable[str],
    curves: Iterable[str] = (),
    changed: tuple[str, ...] = (),
) -> Experiment:
    """The experiment that a composed config describes; a relative folder lies in `root`.

    `studies` are the names that `study` may have, `curves` those that an arm's `printed` may have. Raises
    InputError if any arm could not run.
    """
    tree = _tree(config)
    c = experiment_settings(tree["rest"], list(studies))
    arms = []
    for arm, own in _arms(tree, list(curves)):
        with _placed(f"arms.{arm.of}", own):
            _ = arm.setup  # what cannot be run is an InputError here
        arms.append(arm)
    seeds = [c.seed + i for i in range(c.runs)]
    given = c.runtime.results
    try:
        results = root / Path(given).expanduser()
    except RuntimeError as error:  # of a ~ that is nobody's
        raise InputError(f"runtime.results: {given!r} is no folder ({error})") from None
    return Experiment(c.task, c.name, c.study, arms, seeds, results, c.runtime, changed)


def described(config: DictConfig) -> dict[str, list[Any]]:
    """For every arm of the config all that names or draws its runs, at every point of its grid."""
    tree = _tree(config)
    c, found = build(ExperimentSettings, tree["rest"]), dict[str, list[Any]]()
    for arm, _ in _arms(tree, None):
        runs = (c.seed, min(c.runs, arm.runs or c.runs), repr(to_dict(arm.settings)))
        found.setdefault(arm.of, []).append((arm.label, arm.printed, arm.panel, *runs))
    return found


def certified(experiment: Experiment) -> list[tuple[str, ...]]:
    """A row for every arm: what its released counters certify, and the E that its agent is given."""
    return [CERTIFIED, *(_certified(arm) for arm in experiment.arms)]


def _certified(arm: Arm) -> tuple[str, ...]:
    setup, E = arm.setup, f"{arm.setup.noise.E:.4g}"
    nothing = (arm.key, "none", "-", "∞", "∞", "∞", "∞", "-", "-")
    if arm.settings.attack.broken is not None:  # it pretends to be what it was made from
        return (*nothing, "-", "broken on purpose")
    if setup.certificate.model == "none":
        return (*nothing, E, "holds")
    found = guarantee(setup.certificate, basis_of(setup.privatizer))
    numbers = map(at_most, (found.add_remove.epsilon, *found.replace_one))
    # Assumption 3.1 is about the counts that the LP makes, not about raw ones.
    solved = setup.postprocess in SOLVED or isinstance(setup.postprocess, CvxpyPostprocess)
    proven = "proven" if solved and setup.noise.proven and setup.noise.factor >= 1.0 else "not proven"
    released = (arm.key, found.model, f"{found.delta:g}", *numbers, found.noise, found.basis)
    return (*released, E, "-" if setup.agent.raw else proven)


def _tree(config: DictConfig) -> dict[str, Any]:
    """The config as plain data: settings of runs, arms, their grid, and `rest`."""
    tree: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=False)
    check_keys(tree, TOP_KEYS)
    runtime = tree.get("runtime")
    if isinstance(runtime, dict) and runtime.get("workers") == "auto":
        runtime["workers"] = cpu_count()
    arms, grid = tree.pop("arms", None) or {}, tree.pop("grid", None) or {}
    run = {key: tree.pop(key) for key in RUN_KEYS if key in tree}
    return {"run": run, "arms": arms, "grid": grid, "rest": tree}


def _arms(tree: dict[str, Any], curves: list[str] | None) -> Iterator[tuple[Arm, dict[str, Any]]]:
    """Every arm's settings merged over those of the experiment, at every point of its grid; and its own ones.

    Without arms, the experiment's own settings are the only arm. Without `curves` any may be named.
    """
    arms, run = tree["arms"], tree["run"]
    if not isinstance(arms, dict):
        raise InputError(f"arms: {arms!r} is not accepted; it must be a group of arms")
    if not arms:
        agent = run.get("agent", {})
        arms = {agent["name"] if isinstance(agent, dict) and "name" in agent else "single": {}}
    for key, arm in arms.items():
        at = f"arms.{key}"
        check_keys(arm, ARM_KEYS, at)
        own = {name: value for name, value in arm.items() if name in RUN_KEYS}
        rest = {name: value for name, value in arm.items() if name not in (*RUN_KEYS, "grid")}
        about = arm_settings(rest, at, curves)
        label = str(key) if about.label is None else about.label
        points, merged = _points(tree["grid"], arm.get("grid") or {}, at), OmegaConf.merge(run, own)
        for point in points:  # every one sets the same names: nothing stays of the one before, but for groups
            if any(isinstance(value, dict) for value in point.values()):
                merged = OmegaConf.merge(run, own)
            with _placed(at, own):
                settings = _at_point(merged, point, tree["rest"].get("task", "run"))
            yield Arm(str(key), point, label, about.printed, about.panel, settings, about.runs), own


def _points(grid: Any, own: Any, at: str) -> list[dict[str, Any]]:
    """All combinations of the grid's values, {setting: [values]} to [{setting: value}].

    A setting is spelled a.b, or a: {b: ...}. The arm's own grid adds settings, replaces their values, or takes
    them out (null).
    """
    for place, tree in (("grid", grid), (f"{at}.grid", own)):
        if not isinstance(tree, dict):
            raise InputError(f"{place}: {shown(tree)} is not accepted; it must be {{setting: [values]}}")
        for name, values in flat(tree).items():
            if not isinstance(values, list | None):
                raise InputError(f"{place}.{name}: {shown(values)} is not accepted; it must be a list")
    axes = {name: values for name, values in {**flat(grid), **flat(own)}.items() if values is not None}
    count = math.prod(len(values) for values in axes.values())
    if not 0 < count <= MOST_POINTS:
        raise InputError(f"{at}.grid: {count:,} points are not accepted; it must be 1 to {MOST_POINTS:,}")
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def _at_point(merged: Any, point: dict[str, Any], task: str) -> RunSettings:
    """The settings of one point of the grid, which it writes into `merged`; a run does not read the attack."""
    for name, value in point.items():
        if name.partition(".")[0] not in RUN_KEYS:
            raise InputError(f"grid.{name}: no such key; {nearest(name.partition('.')[0], RUN_KEYS)}")
        OmegaConf.update(merged, name, value, force_add=True)
    tree: Any = OmegaConf.to_container(merged)
    settings = run_settings(tree)
    if task == "audit" and not settings.audits:
        raise InputError("attack.name: a value is needed")
    return canonical(replace(settings, attack=AttackSettings()) if task == "run" else settings)


@contextmanager
def _placed(at: str, own: dict[str, Any]) -> Iterator[None]:
    """Name the key of a bad setting as it can be set: under the arm if the arm sets it, else at the top."""
    try:
        yield
    except (InputError, OSError) as error:  # the latter for a path that is too long
        message = f"env.path: cannot be read ({error.strerror})" if isinstance(error, OSError) else str(error)
        path, _, _ = message.partition(": ")
        branch: Any = own
        for name in path.split("."):
            branch = branch.get(name, MISSING) if isinstance(branch, dict) else MISSING
        raise InputError(f"{message} (in {at})" if branch == MISSING else f"{at}.{message}") from None
