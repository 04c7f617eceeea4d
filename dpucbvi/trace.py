"""What a run leaves behind: its regret along the way, the state it ended in, and what is certified.

runs = dp.load("paper/results/riverswim.npz")   # arm -> its runs, as dp.run gives them for several seeds
dp.compare(runs["jdp_eps1"], runs["ucbvi"])     # paired over seeds
dp.compare(runs)                                # every pair, with Holm's p-values
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from dpucbvi.errors import InputError, extra
from dpucbvi.privacy.certificate import Certificate
from dpucbvi.protocol import Floats, Ints

if TYPE_CHECKING:
    from pandas import DataFrame

    from dpucbvi.stats import Paired

NOTHING_LEARNT = "nothing was learnt, no Q left H"  # said of runs of which that is known


ROUNDING = 1e-9  # relative


class Trace(NamedTuple):
    """One run: cumulative values after the recorded episodes, and the last plan.

    Parameters
    ----------
    episodes, regret, policy_changes, fallbacks
        The recorded episodes; up to each, the exact regret, how often the policy changed, and how many LPs were
        infeasible.
    N_sa
        True visits of every (h, s, a). They are private data; nan if they were not kept.
    Q
        The values of the last plan; nan if they were not kept.
    checks
        What the engine verified about the run.
    certificate
        What the released counts certify.
    noise_scale, E
        How large the noise was.
    policy
        That of the last plan: actions [h, s], or probabilities [h, s, a]; None if it was not kept.
    about
        Plain data: what was run, and what the uniform policy would have lost.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> run = dp.run(dp.riverswim(S=3, H=4), dp.DPUCBVI(), dp.Central(epsilon=1), K=100)
    >>> run.policy.shape, run.learnt
    ((4, 3), False)
    """

    episodes: Ints
    regret: Floats
    policy_changes: Ints
    fallbacks: Ints
    N_sa: Floats
    Q: Floats
    checks: dict[str, Any]
    certificate: Certificate
    noise_scale: float
    E: float
    policy: np.ndarray | None = None
    about: dict[str, Any] = {}  # noqa: RUF012  (it is replaced, never changed)

    @property
    def learnt(self) -> bool | None:
        """Whether a Q of the last plan has left its start; None if Q was not kept."""
        return None if np.isnan(self.Q).any() else has_left_start(self.Q)

    def to_frame(self, seed: int = 0) -> "DataFrame":
        """A table with a row per recorded episode."""
        with extra("pandas", "to_frame"):
            from pandas import DataFrame

        names = ("regret", "policy_changes", "fallbacks")
        return DataFrame(
            {"seed": seed, "episode": self.episodes, **{name: getattr(self, name) for name in names}}
        )

    def save(self, path: str | Path) -> None:
        """Write the run to an .npz file that only its owner can read; `dp.load` reads it."""
        from dpucbvi.archive import write  # it reads traces, and so imports this module

        write(Path(path), {}, [self])

    def __repr__(self) -> str:
        return _summary([self], f"regret {self.regret[-1]:,.0f}")


@dataclass(frozen=True, eq=False, repr=False)
class Runs(Sequence[Trace]):
    """Runs that differ in their seed alone: a sequence of `Trace`.

    Parameters
    ----------
    seeds
        The seed of each run.
    runs
        The runs themselves.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> runs = dp.run(dp.riverswim(S=3, H=4), dp.UCBVI(), K=100, seed=range(3))
    >>> len(runs), runs[0].regret.shape, runs.regret.shape
    (3, (100,), (3, 100))
    """

    seeds: tuple[int, ...]
    runs: tuple[Trace, ...]

    def __len__(self) -> int:
        return len(self.runs)

    @overload
    def __getitem__(self, index: int) -> Trace: ...

    @overload
    def __getitem__(self, index: slice) -> "Runs": ...

    def __getitem__(self, index: int | slice) -> "Trace | Runs":
        return Runs(self.seeds[index], self.runs[index]) if isinstance(index, slice) else self.runs[index]

    @property
    def episodes(self) -> Ints:
        """The recorded episodes, the same in all runs."""
        return self.runs[0].episodes

    @property
    def regret(self) -> Floats:
        """regret[i, j]: of the run with seeds[i] after episodes[j]."""
        return np.array([run.regret for run in self.runs])

    @property
    def policy(self) -> np.ndarray:
        """The policy of every run's last plan: policy[i, h, s] or, if it is random, policy[i, h, s, a]."""
        return np.array([run.policy for run in self.runs])

    @property
    def certificate(self) -> Certificate:
        """What the released counts of each run certify."""
        return self.runs[0].certificate

    def to_frame(self) -> "DataFrame":
        """A table with a row per seed and recorded episode."""
        with extra("pandas", "to_frame"):
            from pandas import concat

        frames = [run.to_frame(seed) for seed, run in zip(self.seeds, self.runs, strict=True)]
        return concat(frames, ignore_index=True)

    def save(self, path: str | Path) -> None:
        """Write the runs to an .npz file that only its owner can read; `dp.load` reads it."""
        from dpucbvi.archive import write

        write(Path(path), {"seeds": self.seeds}, self.runs)

    def __repr__(self) -> str:
        from dpucbvi.stats import mean_interval  # scipy is slow to import

        mean, low, high = mean_interval(self.regret[:, -1])
        interval = "" if np.isnan(low) else f" (95%: {low:,.0f} to {high:,.0f})"
        return _summary(
            self.runs, f"{len(self)} run{'s' * (len(self) != 1)}, mean regret {mean:,.0f}{interval}"
        )


def _summary(runs: Sequence[Trace], regret: str) -> str:
    """What a person wants to know of runs at first: six lines at most."""
    first, about = runs[0], runs[0].about
    lines = [_setting(about)] if "agent" in about else []
    uniform = f"; the uniform policy has {about['uniform_regret']:,.0f}" if "uniform_regret" in about else ""
    if not np.isnan(first.regret[-1]):  # an audit has none
        lines.append(f"after {first.episodes[-1]:,} episodes: {regret}{uniform}")
    lines.append(str(first.certificate))
    if first.certificate.model != "none" and "lp_checked" in first.checks:
        why = f" ({first.checks['lp_unchecked']})" if "lp_unchecked" in first.checks else ""
        lines.append(f"LPs checked: {sum(run.checks['lp_checked'] for run in runs):,}{why}")
    if "own_parts" in first.checks:
        lines.append(first.checks["own_parts"])
    if none_learnt(runs):
        lines.append(NOTHING_LEARNT)
    return "\n".join(lines)


def _setting(about: dict[str, Any]) -> str:
    """`DPUCBVI(bonus_scale=0.0001), Central(epsilon=50), riverswim with H=20, S=6, A=2`."""
    parts = []
    for key in ("agent", "privatizer"):
        given = ", ".join(f"{name}={value!r}" for name, value in about[key].items() if name != "name")
        parts.append(f"{about[key]['name']}({given})")
    sizes = ", ".join(f"{key}={about[key]}" for key in ("H", "S", "A"))
    return ", ".join([*parts, f"{about['mdp']} with {sizes}"])


def has_left_start(Q: Floats) -> bool:
    """Whether Q differs anywhere from the H, or the steps left, that it begins with."""
    H = len(Q)
    steps_left = np.arange(H, 0, -1.0)[:, None, None]
    return bool((Q != H).any() and (Q != steps_left).any())


def none_learnt(runs: Sequence[Trace]) -> bool:
    """Whether it is known of every run that it learnt nothing."""
    return bool(runs) and all(run.learnt is False for run in runs)


def grows(values: np.ndarray, most: np.ndarray) -> bool:
    """Whether a sum over episodes never falls from 0 on and never exceeds `most`, but for its rounding."""
    slack = ROUNDING * (1.0 + most)
    return bool((np.diff(values, prepend=0) >= -slack).all() and (values <= most + slack).all())


def recorded_episodes(K: int, points: int) -> Ints:
    """Every episode if K ≤ points, else about that many, spaced evenly in log k, with 1 and K among them."""
    if points >= K:
        return np.arange(1, K + 1)
    return np.unique(np.geomspace(1, K, points).round().astype(np.int64))


# --- which of two sets of runs has less regret, and how sure that is ------------------------------------------


def compare(a: Runs | Mapping[str, Runs], b: Runs | None = None) -> "Paired | DataFrame":
    """Compare final regrets, seed by seed.

    Parameters
    ----------
    a, b
        Runs over the same seeds as dp.run gives them, or `a` alone: a mapping of two or more of them.

    Returns
    -------
    Paired or pandas.DataFrame
        For two: the mean difference with its 95% interval, the probability that a run of the first has less
        regret, and the p-value of a permutation test. For a mapping: a row per pair, its last column being
        Holm's p-values.

    Raises
    ------
    InputError
        For seeds or numbers of episodes that differ, and for a mapping if pandas is not installed.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> river = dp.riverswim(S=3, H=4)
    >>> one, two = (dp.run(river, dp.UCBVI(bonus_scale=c), K=50, seed=range(5)) for c in (0.01, 1.0))
    >>> dp.compare(one, two).difference < 0
    True
    """
    if isinstance(a, Runs) and isinstance(b, Runs):
        return _paired(a, b)
    if isinstance(a, Mapping) and b is None and len(a) >= 2:
        with extra("pandas", "compare: a table of several pairs"):
            from pandas import DataFrame

        from dpucbvi.stats import holm

        pairs = list(combinations(a, 2))
        found = [_paired(a[one], a[other]) for one, other in pairs]
        frame = DataFrame(found).assign(holm=holm(np.array([one.p for one in found])))
        frame.insert(0, "a", [one for one, _ in pairs])
        frame.insert(1, "b", [other for _, other in pairs])
        return frame
    raise InputError("compare: it takes two runs over several seeds, or a mapping with two or more of them")


def _paired(a: Runs, b: Runs) -> "Paired":
    from dpucbvi.stats import paired  # scipy is slow to import: `import dpucbvi` does without

    if a.seeds != b.seeds:
        raise InputError(f"compare: the seeds {list(a.seeds)} and {list(b.seeds)} differ; pairs need the same")
    if a.episodes[-1] != b.episodes[-1]:
        raise InputError(f"compare: one has {a.episodes[-1]} episodes, the other {b.episodes[-1]}")
    return paired(a.regret[:, -1], b.regret[:, -1])
