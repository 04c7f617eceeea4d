"""From the composed config to what will be run: arms and seeds, all of them checked before anything starts."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from joblib import cpu_count
from omegaconf import DictConfig, OmegaConf

from dpucbvi.errors import InputError
from dpucbvi.protocol import Setup
from experiments.lab.assemble import assemble
from experiments.lab.predict import check_environment
from experiments.lab.settings import RUN_KEYS, RunSettings, canonical, run_settings
from experiments.lab.store import FILE_NAME
from experiments.lab.strict import build, check_keys, join, nearest, show

COMPUTERS = ("processes", "dask")
AXES = ("log", "linear")
MOST_RUNS = 1_000_000
RUNS = f"an integer from 1 to {MOST_RUNS}"
MOST_POINTS = 10_000  # of the grid of one arm


@dataclass
class RuntimeSettings:
    """Where and how runs are computed; nothing here changes a result.

    `name` is who computes (workers.py); `address` is that of a Dask scheduler, without one a cluster is started
    here. Without `true_counts` only the regret is stored. A job that is predicted to take longer than `hours`
    or more memory than `gigabytes` is refused.
    """

    name: str = "processes"
    address: str | None = None
    workers: int = 2
    results: str = "results"
    figures: str = "results/figures"
    progress: bool = True
    true_counts: bool = True
    hours: float = 24.0
    gigabytes: float | None = None


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


ARM_KEYS = ["label", "printed", "panel", "grid", "runs", *RUN_KEYS]
TOP_KEYS = ["arms", "grid", *(f.name for f in fields(ExperimentSettings)), *RUN_KEYS]


@dataclass
class Arm:
    """One curve, or one point of one: an arm of the config at one point of its grid.

    `printed` is a published curve that it stands for, `panel` where it is drawn. `runs` is for an arm that
    needs fewer of them than the experiment has.
    """

    of: str  # the arm's key in the config
    point: dict[str, Any]
    label: str
    printed: str | None
    panel: str | None
    settings: RunSettings  # in canonical form
    setup: Setup
    own: dict[str, Any] = field(default_factory=dict)  # the settings of a run that the arm itself makes
    own_grid: dict[str, Any] = field(default_factory=dict)  # the part of its grid that is the arm's own
    runs: int | None = None

    @property
    def key(self) -> str:
        return self.name()

    def name(self, but: str = "") -> str:
        """Its key without one of the grid's settings."""
        return "@".join([self.of, *(f"{name}={value}" for name, value in self.point.items() if name != but)])


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
    runtime: RuntimeSettings
    changed: tuple[str, ...] = ()  # what the command line changed of the experiment of conf/exp
    run: dict[str, Any] = field(default_factory=dict)  # the settings of a run that arms differ from

    def seeds_of(self, arm: Arm) -> list[int]:
        return self.seeds[: arm.runs]


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
    runtime = rest.get("runtime")
    if isinstance(runtime, dict) and runtime.get("workers") == "auto":
        runtime["workers"] = cpu_count()
    settings = build(ExperimentSettings, rest)
    _check(settings, list(studies))
    return Experiment(
        settings.name,
        settings.study,
        _arms(run, arms, grid, list(curves), settings.runtime),
        [settings.seed + i for i in range(settings.runs)],
        settings.figure,
        root / Path(settings.runtime.results).expanduser(),
        root / Path(settings.runtime.figures).expanduser(),
        settings.runtime,
        changed,
        run,
    )


def check_study(study: str, chosen: str | None) -> None:
    """Refuse a study that is not that of the chosen experiment of conf/exp; the default one draws any."""
    any_arms = ExperimentSettings().study
    if study not in (any_arms, chosen):
        raise InputError(f"study: {study} draws +exp={study} and no other arms; {any_arms} draws any")


def _check(c: ExperimentSettings, studies: list[str]) -> None:
    rules = [
        (
            "name",
            c.name,
            FILE_NAME.fullmatch(c.name),
            "at most 100 letters, digits, '_', '-' and '.' (it names files)",
        ),
        ("runs", c.runs, 1 <= c.runs <= MOST_RUNS, RUNS),
        ("seed", c.seed, c.seed >= 0, "an integer >= 0"),
        ("runtime.workers", c.runtime.workers, c.runtime.workers >= 1, "an integer >= 1, or auto"),
        ("runtime.hours", c.runtime.hours, c.runtime.hours > 0, "a number > 0"),
        (
            "runtime.gigabytes",
            c.runtime.gigabytes,
            c.runtime.gigabytes is None or c.runtime.gigabytes > 0,
            "a number > 0",
        ),
        ("runtime.name", c.runtime.name, c.runtime.name in COMPUTERS, f"one of {', '.join(COMPUTERS)}"),
        (
            "runtime.address",
            c.runtime.address,
            c.runtime.address is None or c.runtime.name == "dask",
            "null without runtime=dask",
        ),
        ("runtime.results", c.runtime.results, c.runtime.results.strip(), "the name of a folder"),
        ("runtime.figures", c.runtime.figures, c.runtime.figures.strip(), "the name of a folder"),
        ("study", c.study, c.study in studies, f"one of {', '.join(studies)}"),
        ("figure.x", c.figure.x, c.figure.x in AXES, f"one of {', '.join(AXES)}"),
        ("figure.y", c.figure.y, c.figure.y in AXES, f"one of {', '.join(AXES)}"),
    ]
    for key, value, good, accepted in rules:
        if not good:
            raise InputError(f"{key}: {value!r} is not accepted; it must be {accepted}")


def _arms(run: dict[str, Any], arms: Any, grid: Any, curves: list[str], limits: RuntimeSettings) -> list[Arm]:
    """Every arm's settings merged over those of the experiment, at every point of its grid.

    Without arms, the experiment's own settings are the only arm.
    """
    if not isinstance(arms, dict):
        raise InputError(f"arms: {arms!r} is not accepted; it must be a group of arms")
    if not arms:
        agent = run.get("agent", {})
        arms = {agent["name"] if isinstance(agent, dict) and "name" in agent else "single": {}}
    return [made for key, arm in arms.items() for made in _arm(run, str(key), arm, grid, curves, limits)]


def _arm(
    run: dict[str, Any], key: str, arm: Any, grid: Any, curves: list[str], limits: RuntimeSettings
) -> list[Arm]:
    at = f"arms.{key}"
    check_keys(arm, ARM_KEYS, at)
    own = {name: value for name, value in arm.items() if name in RUN_KEYS}
    label, printed, panel, runs = arm.get("label", key), arm.get("printed"), arm.get("panel"), arm.get("runs")
    for name, text in (("label", label), ("panel", panel or "")):
        if not isinstance(text, str):
            raise InputError(f"{at}.{name}: {text!r} is not accepted; it must be a text")
    if printed is not None and not (isinstance(printed, str) and printed in curves):
        raise InputError(f"{at}.printed: {show(printed)} is no printed curve; {nearest(str(printed), curves)}")
    if runs is not None and not (type(runs) is int and 1 <= runs <= MOST_RUNS):
        raise InputError(f"{at}.runs: {show(runs)} is not accepted; it must be {RUNS}")
    own_grid = arm.get("grid") or {}
    points, merged, made = _points(grid, own_grid, at), OmegaConf.merge(run, own), []
    for point in points:  # every one sets the same names, so nothing stays of the one before, but for groups
        if any(isinstance(value, dict) for value in point.values()):
            merged = OmegaConf.merge(run, own)
        settings, setup = at_point(merged, own, point, at, limits)
        made.append(Arm(key, point, label, printed, panel, settings, setup, own, flat(own_grid), runs))
    return made


def _points(grid: Any, own: Any, at: str) -> list[dict[str, Any]]:
    """All combinations of the grid's values, {setting: [values]} to [{setting: value}].

    The arm's own grid adds settings, replaces their values, or takes them out (null).
    """
    for place, tree in (("grid", grid), (f"{at}.grid", own)):
        if not isinstance(tree, dict) or not all(isinstance(v, list | None) for v in flat(tree).values()):
            raise InputError(f"{place}: {show(tree)} is not accepted; it must be settings with lists of values")
    axes = {name: values for name, values in {**flat(grid), **flat(own)}.items() if values is not None}
    count = prod(len(values) for values in axes.values())
    if not 0 < count <= MOST_POINTS:
        raise InputError(f"{at}.grid: {count:,} points are not accepted; it must be 1 to {MOST_POINTS:,}")
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def flat(tree: dict[Any, Any], at: str = "") -> dict[str, Any]:
    """{a: {b: [1]}} as {"a.b": [1]}, as the command line and a file may spell a grid; the later one counts."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        name = join(at, str(key))
        found |= flat(value, name) if isinstance(value, dict) else {name: value}
    return found


def at_point(
    merged: Any, own: dict[str, Any], point: dict[str, Any], at: str, limits: RuntimeSettings
) -> tuple[RunSettings, Setup]:
    """The settings of one point of the grid, which it writes into `merged`."""
    for name, value in point.items():
        if name.partition(".")[0] not in RUN_KEYS:
            raise InputError(f"grid.{name}: no such key; {nearest(name.partition('.')[0], RUN_KEYS)}")
        OmegaConf.update(merged, name, value, force_add=True)
    tree: Any = OmegaConf.to_container(merged)
    try:
        settings = canonical(run_settings(tree))
        check_environment(settings, limits)
        return settings, assemble(settings)
    except InputError as error:
        raise InputError(_place(str(error), at, own)) from None
    except OSError as error:  # a path that is too long
        raise InputError(_place(f"env.path: cannot be read ({error.strerror})", at, own)) from None


def _place(message: str, at: str, own: dict[str, Any]) -> str:
    """Name the key as the user can set it: under the arm if the arm sets it, else at the top."""
    path, _, _ = message.partition(": ")
    branch: Any = own
    for name in path.split("."):
        if not isinstance(branch, dict) or name not in branch:
            return f"{message} (in {at})"
        branch = branch[name]
    return f"{at}.{message}"
