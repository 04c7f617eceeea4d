"""What a run leaves behind: its regret along the way and the state it ended in."""

from typing import Any, NamedTuple

import numpy as np

from dpucbvi.mdp import Floats, Ints


class Trace(NamedTuple):
    """Cumulative values after the recorded episodes, and the last plan.

    `N_sa` are the true visits (for analysis; a private release never shows them), `Q` the last optimistic
    values. `checks` holds what the engine verified about the run.
    """

    episodes: Ints
    regret: Floats
    policy_changes: Ints
    fallbacks: Ints
    N_sa: Floats
    Q: Floats
    checks: dict[str, Any]


def recorded_episodes(K: int, points: int) -> Ints:
    """Every episode if K ≤ points, else about that many, spaced evenly in log k, with 1 and K among them."""
    if points >= K:
        return np.arange(1, K + 1)
    return np.unique(np.geomspace(1, K, points).round().astype(np.int64))
