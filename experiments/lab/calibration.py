"""Choosing the two factors of an algorithm, on seeds of their own, and how much hangs on the choice.

The literal constants learn nothing on most problems within any affordable K, so an algorithm is run with a
factor on its bonus and one on E, both 1 in the paper. They are chosen as the middle of those points of a grid
that have the least regret, in the mean and in the worst runs; what is reported must be run on other seeds. The
choice is made on simulated data: it costs no privacy because no user's data are in it, and none may be.

    found = dp.calibrate(mdp, dp.DPUCBVI(pooled=True), dp.Central(epsilon=10), K=5_000)
    print(found)                                      # the factors, and how much worse their neighbours are
    dp.run(mdp, found.agent, found.privatizer, K=5_000, seed=range(5))
    found.save("conf/arm/mine.yaml")                  # then: /arm@arms.mine: mine, in an experiment's defaults
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from omegaconf import OmegaConf

from dpucbvi.agents import AGENTS
from dpucbvi.errors import InputError, check_number
from dpucbvi.mdp import TabularMDP
from dpucbvi.privatizers import PRIVATIZERS, NonPrivate
from dpucbvi.protocol import Floats
from dpucbvi.registry import Registry
from dpucbvi.simulate import run
from experiments.lab.settings import BONUS as IN_BONUS
from experiments.lab.settings import CONFIDENCE as IN_CONFIDENCE
from experiments.lab.settings import PostprocessSettings, RunSettings, arguments

if TYPE_CHECKING:
    from pandas import DataFrame

SEEDS = range(1000, 1003)  # as conf/exp/calibrate.yaml has it: no figure uses them
BONUS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
CONFIDENCE = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
WITHIN = 1.1  # of the least objective: which points are as good
KEPT = ("zero", "known_rewards", "known_support")  # settings of dp.run that an arm has under postprocess
Factors = tuple[float, ...]  # on the bonus and on E; on the bonus alone for UCBVI, which has no E


class Calibration(NamedTuple):
    """One algorithm's objective at every point of its grid; a variant has its agent, and a label of its own."""

    agent: str
    label: str
    objective: dict[Factors, float]

    @property
    def valley(self) -> list[Factors]:
        """The points whose objective is within 10% of the least: a few runs cannot tell them apart."""
        most = WITHIN * min(self.objective.values())
        return [factors for factors, value in self.objective.items() if value <= most]

    @property
    def choice(self) -> Factors:
        """The middle of the valley: nearest to all its points, in decades; of several the best one."""
        return min(self.valley, key=lambda factors: (self._remoteness(factors), self.objective[factors]))

    def _remoteness(self, factors: Factors) -> float:
        decades = (abs(math.log10(x / y)) for other in self.valley for x, y in zip(factors, other, strict=True))
        return round(sum(decades), 9)

    @property
    def at_edge(self) -> bool:
        """Whether a factor is the least or the largest of its grid, so that a better one may lie outside."""
        grids = [sorted(set(axis)) for axis in zip(*self.objective, strict=True)]
        return any(
            len(grid) > 1 and chosen in (grid[0], grid[-1])
            for grid, chosen in zip(grids, self.choice, strict=True)
        )


def objective(regrets: Floats) -> float:
    """√(mean · 90% quantile) of the regrets of a point's runs: a mean that luck in a few runs cannot make."""
    return float(np.sqrt(np.mean(regrets) * np.quantile(regrets, 0.9)))


def geometric_mean(values: list[float]) -> float:
    """(Π x_j)^{1/J}; a zero among them makes it zero."""
    return float(np.exp(np.mean(np.log(values)))) if min(values) > 0.0 else 0.0


def around(calibration: Calibration) -> dict[Factors, float]:
    """The objective at the choice's neighbours in the grid, one factor one step up or down, over the least."""
    chosen = calibration.choice
    beside = {
        (*chosen[:axis], value, *chosen[axis + 1 :])
        for axis in range(len(chosen))
        for value in _neighbours(sorted({factors[axis] for factors in calibration.objective}), chosen[axis])
    }
    found = calibration.objective
    return {factors: _over(found[factors], found[chosen]) for factors in sorted(beside) if factors in found}


def _over(value: float, least: float) -> float:
    if least > 0.0:
        return value / least
    return 1.0 if value == 0.0 else math.inf


def _neighbours(values: list[float], value: float) -> list[float]:
    at = values.index(value)
    return values[max(at - 1, 0) : at] + values[at + 1 : at + 2]


class Calibrated(NamedTuple):
    """An agent and a privatizer with the factors that were chosen; print it for how sensitive the choice is."""

    agent: Any
    privatizer: Any
    found: Calibration
    runs: int
    settings: dict[str, Any]  # of the runs
    on: str  # which runs: environment, K, seeds

    def __str__(self) -> str:
        bonus, *confidence = self.found.choice
        factors = f"bonus × {bonus:g}" + "".join(f", E × {factor:g}" for factor in confidence)
        beside = ", ".join(f"× {ratio:.3g}" for ratio in sorted(around(self.found).values()))
        told = (
            f"{factors}: objective {self.found.objective[self.found.choice]:,.4g} over {self.runs} runs (√ of "
            f"mean times 90% quantile of the regret); a step beside it {beside or 'not known'}; "
            f"{len(self.found.valley)} of {len(self.found.objective)} points are within 10% of the least"
        )
        edge = "\nat the edge of the grid: a better factor may lie outside" * self.found.at_edge
        return told + edge

    def to_frame(self) -> "DataFrame":
        """Every point of the grid with its objective."""
        from pandas import DataFrame

        factors = ["bonus_factor", "confidence_factor"][: len(self.found.choice)]
        rows = [(*point, value) for point, value in self.found.objective.items()]
        return DataFrame(rows, columns=[*factors, "objective"])

    def save(self, path: str | Path) -> Path:
        """Write it as a file of conf/arm/, which experiments can name; a file that exists is never replaced."""
        private = len(self.found.choice) == 2
        name = self.settings.get("postprocess", "none" if self.agent.raw or not private else "closed_form")
        unsaid = PostprocessSettings()
        postprocess = {"name": name, **{key: self.settings.get(key, getattr(unsaid, key)) for key in KEPT}}
        if not all(isinstance(value, str | float | int) for value in postprocess.values()):
            raise InputError("save: a post-processing or support of your own has no name in conf/")
        if (own := getattr(self.agent, "own", None)) is not None:
            raise InputError(f"save: {own} has no name in conf/, so no arm can have it")
        settings = {
            "agent": _named(AGENTS, self.agent, IN_BONUS),
            "privatizer": _named(PRIVATIZERS, self.privatizer, IN_CONFIDENCE),
            "postprocess": postprocess,
            "bonus": {"without": getattr(self.agent, "bonus_without", None)},
            "beta": self.settings.get("beta", RunSettings().beta),
        }
        if private:
            constant = getattr(self.privatizer, "printed_constant", None)
            printed = {"name": "printed", "constant": constant}
            settings["confidence"] = {"name": "proven"} if constant is None else printed
        return write_arm(Path(path), settings, self.found.choice, self.on)


def write_arm(path: Path, settings: dict[str, Any], factors: Factors, on: str) -> Path:
    """Write these settings with these factors as an arm, named as its file; a file is never replaced.

    `on` says on which runs the factors were chosen.
    """
    tree = {"label": path.stem, **settings}
    for group, factor in zip(("bonus", "confidence"), factors, strict=False):
        tree[group] = {**settings.get(group, {}), "scale": factor}
    plain = json.loads(json.dumps(tree, default=lambda number: number.item()))  # not numpy's
    try:
        with path.open("x") as file:
            file.write(f"# Factors chosen on {on}.\n" + OmegaConf.to_yaml(plain))
    except FileExistsError:
        raise InputError(f"save: {path} exists; give another name, or remove it first") from None
    return path


def chosen_on(environment: str, H: int, K: int, seeds: Sequence[int]) -> str:
    """What a saved arm says of the runs that its factors were chosen on."""
    told = f"seeds {min(seeds)} to {max(seeds)}" if len(seeds) > 1 else f"seed {seeds[0]}"
    return f"{environment}, H = {H}, K = {K}, {told}"


def calibrate(
    mdp: TabularMDP,
    agent: Any,
    privatizer: Any = NonPrivate(),  # noqa: B008  (it has no state)
    *,
    K: int,
    seed: int | Sequence[int] = SEEDS,
    bonus: Sequence[float] = BONUS,
    confidence: Sequence[float] = CONFIDENCE,
    **settings: Any,
) -> Calibrated:
    """Run the agent at every pair of factors and choose the middle of the best ones after K episodes.

    It costs len(bonus) × len(confidence) × len(seed) runs, 105 if nothing is said, and 21 where there is no
    noise and so no E. Report nothing on these seeds. `settings` are those of dp.run.
    """
    for key, part, parameter in (
        ("agent", agent, "bonus_scale"),
        ("privatizer", privatizer, "confidence_scale"),
    ):
        if not (_takes(part, parameter) or isinstance(part, NonPrivate)):
            raise InputError(
                f"{key}: {type(part).__name__} has no {parameter}, so nothing can be chosen for it"
            )
    seeds = tuple(seed) if isinstance(seed, Iterable) and not isinstance(seed, str) else (seed,)
    private = _takes(privatizer, "confidence_scale")
    for key, factors in {"bonus": bonus, "confidence": confidence}.items():
        for factor in factors:
            check_number(key, factor, lambda factor: factor > 0.0, "a list of numbers > 0")
    pairs = list(product(bonus, confidence) if private else product(bonus))
    if not pairs:
        raise InputError("bonus, confidence: an empty list has no factor to choose")
    points: dict[Factors, float] = {}
    for factors in pairs:
        regret = run(mdp, *_with(agent, privatizer, factors), K=K, seed=seeds, **settings).regret
        points[factors] = objective(regret[:, -1])
    found = Calibration(type(agent).__name__, type(agent).__name__, points)
    on = chosen_on(mdp.name, mdp.H, K, seeds)
    return Calibrated(*_with(agent, privatizer, found.choice), found, len(seeds), settings, on)


def _with(agent: Any, privatizer: Any, factors: Factors) -> tuple[Any, Any]:
    bonus, *confidence = factors
    agent = replace(agent, bonus_scale=bonus)
    return agent, replace(privatizer, confidence_scale=confidence[0]) if confidence else privatizer


def _takes(part: Any, parameter: str) -> bool:
    return hasattr(type(part), "__dataclass_fields__") and parameter in {field.name for field in fields(part)}


def _named(registry: Registry[Any], part: Any, elsewhere: tuple[str, ...]) -> dict[str, Any]:
    """The settings of a part of the package: its name in conf/ and its parameters."""
    for name in registry:
        if registry[name] is type(part):
            plain = [key for key in arguments(type(part)) if key not in elsewhere]
            given = {key: getattr(part, key) for key in plain}
            return {"name": name, **{key: value for key, value in given.items() if value is not None}}
    raise InputError(f"save: {type(part).__name__} has no name in conf/, so no arm can have it")
