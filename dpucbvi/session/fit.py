"""One release of logged trajectories: what users did some time ago, and the policy that it recommends.

    dp.fit("log.csv", dp.Batches(1, noise="exact"), dp.DPUCBVI(), H=4, S=3, A=2, K=1000)

All users make one batch, which is released once, with noise on every counter: the actions that were logged say
nothing about which rows could have been visited. H, S, A, the range of rewards, K and how many trajectories of
a person count are declared, and nothing is read off the file: a number that depends on the data is a release.

Of a user the first m trajectories count, m = `per_person`, whatever others sent. She then moves the batch m
times as far as with one: mΔ_f in ℓ1; and in squared ℓ2, where one trajectory has V = Σc² = H per step and H²
pooled (privacy/sensitivity.py), m²V: all m may go through the same cells.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.certify import PROVEN, Guarantee, guarantee
from dpucbvi.errors import InputError, whole
from dpucbvi.privacy.law import Reach
from dpucbvi.privatizers.batches import Batches
from dpucbvi.protocol import Ints, Problem
from dpucbvi.session import course
from dpucbvi.session.ledger import pay
from dpucbvi.session.session import Publication, check_agent, check_exact
from dpucbvi.simulate import fitted

COLUMNS = ["user", "step", "state", "action", "reward"]
NOT_HIDDEN = (
    "H, S, A, K, the range of rewards and per_person were not chosen by looking at these data",
    "what others' records say of her, if the policy that they followed had learnt from hers without noise, is "
    "not hidden",
)


class Fit(NamedTuple):
    """What came of logged data, all of it safe to show: the policy, the release behind it, the certificate."""

    policy: Ints
    published: Publication
    certificate: Guarantee


@dataclass(frozen=True)
class Once(Batches):
    """One batch of all users, each of whom has up to m trajectories."""

    m: int = 1

    def ends(self, problem: Problem) -> Ints:
        return np.array([problem.K])

    def reach(self, problem: Problem, G: int) -> Reach:
        user = super().reach(problem, G)
        together = user.together if self.m == 1 else Fraction(1)  # proved for one trajectory
        return user._replace(H=self.m * user.H, V=self.m**2 * user.V, together=together)


def fit(
    trajectories: Mapping[Any, Iterable[Any]] | str | Path,
    privatizer: Batches,
    agent: Any,
    *,
    H: int,
    S: int,
    A: int,
    K: int,
    rewards: tuple[float, float] = (0.0, 1.0),
    per_person: int = 1,
    beta: float = 0.05,
    ledger: Any = None,
    data: str | None = None,
) -> Fit:
    """Release what users did once, with exact noise, and plan on it.

    Parameters
    ----------
    trajectories
        From a user's name to her trajectories (s, a, r), states s[0..H]; or a CSV file with the columns user,
        step, state, action and reward: a trajectory begins where step is 0, and ends in a row with a state and
        no action. What cannot be read adds nothing.
    privatizer
        `dp.Batches(epsilon, noise="exact")`, of which budget, sensitivity, families, clip and drop_empty count;
        its ε is for all that counts of a person.
    agent
        As in `dp.Session`.
    H, S, A
        Steps of an episode, states, actions.
    K
        The number of users in the agent's bounds; the real number may differ.
    rewards
        The least and the largest reward; what lies outside is cut.
    per_person
        How many trajectories of a person count: her first ones.
    beta
        The failure probability of the agent's bounds.
    ledger, data
        A `dp.Ledger` to charge, and the name under which it has these data.

    Returns
    -------
    Fit
        The policy, the released counts, and what is guaranteed. The policies of the package's agents are
        optimistic: they try what was logged rarely. `dp.planner` takes a more careful rule of your own.

    Raises
    ------
    InputError
        If a setting is not accepted, the noise is simulated or the ledger refuses; never for what a user did.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> logged = {name: [([0, 1, 1], [1, 1], [0, 1])] for name in range(30)}  # s, a, r of a trajectory each
    >>> private = dp.Batches(epsilon=5, noise="exact")
    >>> found = dp.fit(logged, private, dp.DPUCBVI(bonus_scale=1e-4), H=2, S=2, A=2, K=30)
    >>> found.policy.shape
    (2, 2)
    """
    if type(privatizer) is not Batches:
        raise InputError(f"privatizer: {type(privatizer).__name__} is not accepted; one release takes Batches")
    check_exact(privatizer)
    check_agent(agent)
    low, high = _range(rewards)
    m = whole("per_person", per_person, 1)
    problem = Problem(whole("H", H, 1), whole("S", S, 1), whole("A", A, 1), m * whole("K", K, 1), beta)
    settings = {one.name: getattr(privatizer, one.name) for one in fields(Batches)}
    setup = fitted(agent, Once(**settings, m=m), problem)
    unit = f"all data of one person (her first {m} trajector{'y counts' if m == 1 else 'ies count'})"
    certificate = guarantee(setup.certificate._replace(model="DP"), PROVEN, unit, further=NOT_HIDDEN)
    source, planner = course.source(setup, 0), course.Planner(setup)
    if not isinstance(trajectories, Mapping):
        trajectories = read_csv(Path(trajectories))
    sums, everywhere = np.zeros(source.size, np.int64), np.ones(setup.G * S * A, np.int64)
    for s, a, r in _counted(trajectories, m, problem.H):
        source.add(sums, 0, (s, a, [_scaled(one, low, high) for one in r]))
    pay(ledger, data, certificate, f"dp.fit at ε = {privatizer.epsilon:g}")
    integers = source.release(0, sums, everywhere)
    planner.plan(source.counts, problem.K)
    counts = course.noisy_counts(setup, source.counts)
    return Fit(planner.values.pi.copy(), Publication(1, integers, source.grid, counts), certificate)


def _counted(trajectories: Mapping[Any, Iterable[Any]], m: int, H: int) -> Iterator[tuple[Any, Any, list[Any]]]:
    """Everybody's first m trajectories; what is none takes the place of one, and adds nothing."""
    for hers in trajectories.values():
        try:
            first = list(islice(iter(hers), m))
        except Exception:  # whatever stands there
            continue
        for one in first:
            try:
                s, a, r = one
                yield s, a, list(islice(r, H))
            except Exception:
                continue


def _range(rewards: Any) -> tuple[float, float]:
    try:
        low, high = map(float, rewards)
    except (TypeError, ValueError):
        low = high = math.nan
    if not -math.inf < low < high < math.inf:
        raise InputError(f"rewards: {rewards!r} is not accepted; it must be the least and the largest")
    return low, high


def _scaled(reward: Any, low: float, high: float) -> float:
    """A reward in units of the range; what is no number is 0."""
    try:
        known = isinstance(reward, Real | np.bool_) and reward == reward  # NaN is not itself
        return (float(min(max(reward, low), high)) - low) / (high - low) if known else 0.0
    except Exception:  # whatever calls itself a number
        return 0.0


def read_csv(path: Path) -> dict[str, list[tuple[list[int], list[int], list[float]]]]:
    """Trajectories by user, line by line: a line of one user says nothing about another."""
    if not path.is_file():
        raise InputError(f"trajectories: there is no file {path}")
    rows: dict[str, list[list[str]]] = {}
    with path.open(encoding="utf-8", errors="replace") as file:
        if [name.strip() for name in file.readline().split(",")] != COLUMNS:
            raise InputError(f"trajectories: the first line of {path} must be {','.join(COLUMNS)}")
        for line in file:
            user, *rest = (cell.strip() for cell in line.split(","))
            rows.setdefault(user, []).append(rest)
    return {user: _trajectories(hers) for user, hers in rows.items()}


def _trajectories(rows: list[list[str]]) -> list[tuple[list[int], list[int], list[float]]]:
    """The trajectories of one user; a row that cannot be read makes its trajectory unreadable."""
    found: list[tuple[list[int], list[int], list[float]]] = []
    for row in rows:
        if row[:1] == ["0"] or not found:
            found.append(([], [], []))
        s, a, r = found[-1]
        try:
            step, state, action, reward = row
            s.append(int(state) if int(step) == len(s) else -1)
            if action or reward:
                a.append(int(action))
                r.append(float(reward))
        except ValueError:
            s.append(-1)  # no state
    return found
