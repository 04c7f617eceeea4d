"""Choosing the two factors of an algorithm, on seeds of their own, and how much hangs on the choice.

The literal constants learn nothing on most problems within any affordable K, so an algorithm is run with a
factor on its bonus and one on E, both 1 in the paper. They are chosen as the middle of those points of a grid
that have the least regret, in the mean and in the worst runs; what is reported must be run on other seeds. The
choice is made on simulated data: it costs no privacy as long as no user's data are in the MDP. One that was
made of users' data says so (`data`), and then the release that it was made of must have been paid for.

    found = dp.calibrate(mdp, dp.DPUCBVI(pooled=True), dp.Central(epsilon=10), K=5_000)
    print(found)                                      # the factors, and how much worse their neighbours are
    dp.run(mdp, found.agent, found.privatizer, K=5_000, seed=range(5))
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpucbvi.errors import InputError, check_number, extra
from dpucbvi.mdp import TabularMDP
from dpucbvi.privatizers import NonPrivate
from dpucbvi.protocol import Floats
from dpucbvi.session.ledger import Ledger, check_paid
from dpucbvi.simulate import run

if TYPE_CHECKING:
    from pandas import DataFrame

SEEDS = range(1000, 1003)  # as conf/exp/calibrate.yaml has it: no figure uses them
BONUS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
CONFIDENCE = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
WITHIN = 1.1  # of the least objective: which points are as good
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
    """√(mean · 90% quantile) of a point's regrets: luck in a few runs makes it less easily than a mean."""
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
        with extra("pandas", "to_frame"):
            from pandas import DataFrame

        factors = ["bonus_factor", "confidence_factor"][: len(self.found.choice)]
        rows = [(*point, value) for point, value in self.found.objective.items()]
        return DataFrame(rows, columns=[*factors, "objective"])


def calibrate(
    mdp: TabularMDP,
    agent: Any,
    privatizer: Any = NonPrivate(),  # noqa: B008  (it has no state)
    *,
    K: int,
    seed: int | Sequence[int] = SEEDS,
    bonus: Sequence[float] = BONUS,
    confidence: Sequence[float] = CONFIDENCE,
    ledger: Ledger | None = None,
    data: str | None = None,
    **settings: Any,
) -> Calibrated:
    """Run the agent at every pair of factors and choose the middle of the best ones after K episodes.

    This takes len(bonus) × len(confidence) × len(seed) runs: by default 105, or 21 without noise, where there
    is no E. Do not report results on these seeds.

    Parameters
    ----------
    mdp : TabularMDP
        The problem.
    agent : object
        The algorithm, whose bonus is multiplied.
    privatizer : object
        What releases the counts, whose E is multiplied.
    K : int
        Episodes of a run.
    seed : int or sequence of int
        The seeds of the runs.
    bonus : sequence of float
        The factors on the bonus.
    confidence : sequence of float
        The factors on E.
    ledger : Ledger, optional
        Is told of the choice: it is public, unless `data` is given.
    data : str, optional
        The users whose data the MDP was made of; they must be in the ledger.
    **settings
        Those of `dp.run`.

    Returns
    -------
    Calibrated
        The agent and the privatizer with the chosen factors; `print` says how sensitive the choice is.

    Raises
    ------
    InputError
        If a factor or a setting is not accepted.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> found = dp.calibrate(dp.riverswim(S=3, H=4), dp.UCBVI(), K=30, seed=[0, 1], bonus=[0.01, 0.1, 1.0])
    >>> len(found.found.objective), found.runs  # points of the grid, runs of each
    (3, 2)
    """
    check_paid(ledger, data)
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
    if ledger is not None:
        ledger.note(f"factors {found.choice} of {found.agent}, chosen on {data or mdp.name}")
    return Calibrated(*_with(agent, privatizer, found.choice), found, len(seeds))


def _with(agent: Any, privatizer: Any, factors: Factors) -> tuple[Any, Any]:
    bonus, *confidence = factors
    agent = replace(agent, bonus_scale=bonus)
    return agent, replace(privatizer, confidence_scale=confidence[0]) if confidence else privatizer


def _takes(part: Any, parameter: str) -> bool:
    return hasattr(type(part), "__dataclass_fields__") and parameter in {field.name for field in fields(part)}
