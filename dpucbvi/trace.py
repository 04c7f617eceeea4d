"""What a run leaves behind: its regret along the way, the state it ended in, and what is certified."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpucbvi.errors import extra
from dpucbvi.privatizers.certificate import Certificate
from dpucbvi.protocol import Floats, Ints

if TYPE_CHECKING:
    from pandas import DataFrame


class Trace(NamedTuple):
    """Cumulative values after the recorded episodes, and the last plan.

    `N_sa` are the true visits (for analysis; a private release never shows them), `Q` the last optimistic
    values. `checks` holds what the engine verified about the run; `noise_scale` and `E` say how large the
    noise was. `earlier_seconds` went by before the checkpoint that the run went on from, if it did.
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
    earlier_seconds: float = 0.0

    @property
    def learnt(self) -> bool | None:
        """Whether the last Q differs anywhere from the H, or the steps left, that Q begins with.

        None if it is not known: results that ship, and runs stored without true counts, have a Q of nan.
        """
        if np.isnan(self.Q).any():
            return None
        H = len(self.Q)
        steps_left = np.arange(H, 0, -1.0)[:, None, None]
        return bool((self.Q != H).any() and (self.Q != steps_left).any())

    def to_frame(self, seed: int = 0) -> "DataFrame":
        """A table with a row per recorded episode."""
        with extra("pandas", "to_frame"):
            from pandas import DataFrame

        names = ("regret", "policy_changes", "fallbacks")
        return DataFrame(
            {"seed": seed, "episode": self.episodes, **{name: getattr(self, name) for name in names}}
        )


class Runs(NamedTuple):
    """Runs that differ in their seed alone."""

    seeds: tuple[int, ...]
    runs: tuple[Trace, ...]

    @property
    def episodes(self) -> Ints:
        return self.runs[0].episodes

    @property
    def regret(self) -> Floats:
        """regret[i, j]: of the run with seeds[i] after episodes[j]."""
        return np.array([run.regret for run in self.runs])

    @property
    def certificate(self) -> Certificate:
        return self.runs[0].certificate

    def to_frame(self) -> "DataFrame":
        """A table with a row per seed and recorded episode."""
        with extra("pandas", "to_frame"):
            from pandas import concat

        frames = [run.to_frame(seed) for seed, run in zip(self.seeds, self.runs, strict=True)]
        return concat(frames, ignore_index=True)


def none_learnt(runs: Sequence[Trace]) -> bool:
    """Whether it is known of every run that it learnt nothing."""
    return bool(runs) and all(run.learnt is False for run in runs)


def recorded_episodes(K: int, points: int) -> Ints:
    """Every episode if K ≤ points, else about that many, spaced evenly in log k, with 1 and K among them."""
    if points >= K:
        return np.arange(1, K + 1)
    return np.unique(np.geomspace(1, K, points).round().astype(np.int64))
