"""What a setting of the command line changes: which arms take it, and what to write if none does."""

import json
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from dpucbvi.errors import InputError
from experiments.lab.experiment import Arm, Experiment, at_point, flat
from experiments.lab.settings import RUN_KEYS, RunSettings, to_dict
from experiments.lab.tell import few


def check_effect(overrides: Sequence[str], experiment: Experiment) -> list[str]:
    """Refuse a setting or a grid of the command line that no arm takes; a line for each that some take.

    Of a setting (`key=value`) an arm's own value goes before, of a grid (`grid.key=[values]`) its own grid. A
    grid goes before the arm's own value.
    """
    _check_own_runs(overrides, experiment)
    lines = _fewer_runs(overrides, experiment)
    for override in overrides:
        for asked in _asked(override, experiment.run):
            if override.startswith("~"):
                raise InputError(
                    f"{override}: has no effect, a run without it takes the default; name another one"
                )
            deaf = [arm for arm in experiment.arms if not _takes(arm, asked)]
            if len(deaf) == len(experiment.arms):
                raise InputError(f"{asked.name}: has no effect, {_why(asked, experiment)}")
            if deaf:
                arms, others = (
                    list(dict.fromkeys(a.name(asked.key) for a in of)) for of in (experiment.arms, deaf)
                )
                lines.append(
                    f"{override.lstrip('+')} changes {len(arms) - len(others)} of {len(arms)} arms; not "
                    f"{few(others)}, which have their own {'grid' if asked.grid else 'value'} or do not read it"
                )
    return lines


def _check_own_runs(overrides: Sequence[str], experiment: Experiment) -> None:
    """Refuse more runs of an arm than the experiment has: it has no seeds for them."""
    runs = len(experiment.seeds)
    for arm in experiment.arms:
        key = f"arms.{arm.of}.runs"
        if (
            arm.runs is not None
            and arm.runs > runs
            and f"{key}={arm.runs}" in {o.lstrip("+") for o in overrides}
        ):
            raise InputError(
                f"{key}: {arm.runs} is more than the {runs} runs of all arms; write runs={arm.runs} too"
            )


def _fewer_runs(overrides: Sequence[str], experiment: Experiment) -> list[str]:
    """Which arms have fewer runs than the command line asks for."""
    runs = len(experiment.seeds)
    own = {arm.of: arm.runs for arm in experiment.arms if arm.runs is not None and arm.runs < runs}
    if not own or f"runs={runs}" not in overrides:
        return []
    if len(own) == len({arm.of for arm in experiment.arms}):
        first = next(iter(own))
        raise InputError(f"runs: has no effect, every arm has fewer; write arms.{first}.runs={runs} instead")
    return [f"runs={runs}: {few([f'{key} has {number}' for key, number in own.items()])}"]


class _Asked(NamedTuple):
    """What an override asks of every arm: a setting with one value, or a grid of several."""

    path: list[str]
    values: list[Any]
    text: str  # the values as they can be typed
    grid: bool

    @property
    def key(self) -> str:
        return ".".join(self.path)

    @property
    def name(self) -> str:
        return f"grid.{self.key}" if self.grid else self.key


def _asked(override: str, run: dict[str, Any]) -> list[_Asked]:
    """The settings of a run that an override makes; what a group is chosen for is its name."""
    key, _, text = override.lstrip("+~").partition("=")
    path = key.replace("/", ".").split(".")
    if path[0] == "grid" and not override.startswith("~"):
        tree: Any = OverridesParser.create().parse_override(override).value()
        axes = flat({".".join(path[1:]): tree} if path[1:] else tree)
        return [_Asked(k.split("."), v, _typed(v), True) for k, v in axes.items() if isinstance(v, list)]
    if path[0] not in RUN_KEYS:
        return []
    if len(path) == 1 and not isinstance(getattr(RunSettings(), path[0]), int | float):
        path = [path[0], "scale" if path[0] == "bonus" else "name"]
        text = _typed(_at(run, path))
    return [_Asked(path, [_at(run, path)], text, False)]


def _takes(arm: Arm, asked: _Asked) -> bool:
    """Whether it reaches the arm: the arm reads it and has nothing in its place."""
    return _instead(arm, asked) is None and _has(to_dict(arm.settings), asked.path)


def _instead(arm: Arm, asked: _Asked) -> str | None:
    """Where in the config stands what the arm takes instead; None if it takes what is asked."""
    if asked.key in arm.own_grid and (asked.grid or asked.key in arm.point):
        return f"arms.{arm.of}.grid"
    if asked.grid:
        return None
    if asked.key in arm.point:
        return "grid"
    return f"arms.{arm.of}" if _has(arm.own, asked.path) else None


def _why(asked: _Asked, experiment: Experiment) -> str:
    """Why no arm takes it, and the first place where these very values can be written instead."""
    places: dict[str, list[Arm]] = {}
    for arm in experiment.arms:
        if (place := _instead(arm, asked)) is not None:
            places.setdefault(place, []).append(arm)
    if not places:
        return "nothing that was chosen reads it"
    grids = [place for place in places if place.endswith("grid")]
    why = f"every arm that reads it {'takes it from a grid' if len(grids) == len(places) else 'sets it itself'}"
    errors = []
    for place, arms in places.items():
        if (error := _cannot_take(asked, arms, experiment)) is None:
            values = f"[{asked.text}]" if place in grids and not asked.grid else asked.text
            return f"{why}; write {place}.{asked.key}={values} instead"
        errors.append(error)
    return f"{why}, and none of them can take it: {errors[0]}"


def _cannot_take(asked: _Asked, arms: list[Arm], experiment: Experiment) -> str | None:
    """What is wrong if these arms get these values; None if they can be built and one of them reads it."""
    reads = False
    for arm, value in product(arms, asked.values):
        try:
            merged, point = OmegaConf.merge(experiment.run, arm.own), {**arm.point, asked.key: value}
            settings, _ = at_point(merged, arm.own, point, f"arms.{arm.of}", experiment.runtime)
        except InputError as error:
            return str(error)
        reads |= _has(to_dict(settings), asked.path)
    return None if reads else f"arms.{arms[0].of} does not read it"


def _typed(value: Any) -> str:
    """A value as the command line takes it."""
    if isinstance(value, list):
        return f"[{','.join(map(_typed, value))}]"
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _has(tree: Any, path: list[str]) -> bool:
    return _at(tree, path, missing := object()) is not missing


def _at(tree: Any, path: list[str], missing: Any = None) -> Any:
    for name in path:
        if not isinstance(tree, dict) or name not in tree:
            return missing
        tree = tree[name]
    return tree
