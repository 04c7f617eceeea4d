"""KaryTree: the k-ary tree with negative digits on every counter (mechanisms/kary.py), for pure JDP.

Of the mechanisms on streams with Laplace noise the one with least: L = 4 levels for 50,000 users at k = 19,
where the binary tree has 16.
"""

import math
from dataclasses import dataclass
from typing import Any

from dpucbvi.mechanisms import kary
from dpucbvi.privacy.law import Spent
from dpucbvi.privatizers.arrays import PRIVATIZERS
from dpucbvi.privatizers.noisy_sums import OverTime, running_sums


@dataclass(frozen=True)
class KaryTree(OverTime):
    """A tree in which every node has k children, k odd; Laplace noise for a pure ε under the given sensitivity.

    Parameters
    ----------
    epsilon : float
        The budget of a user, under the neighbours that `sensitivity` names.
    sensitivity : str
        `paper`: noise for a user who is added or removed. `replace_one`: for one whose trajectory is replaced.
    families : str
        Which counters are released (`counts.FAMILIES`): `paper`, `tuned`, `symbols`, ...
    every : int
        Users between two releases; 1 in the paper.
    confidence_scale : float
        Multiplies E; 1 in the paper. It changes the agent's bonus, not the privacy.
    k : int
        Children of a node; odd.
    noise : str
        `simulation`: seeded floating point, which protects nobody. `exact`: integers for publication.
    words : type
        The source of random words for exact noise: the operating system, except in tests.

    Raises
    ------
    InputError
        If a setting is out of range, or settings do not fit together.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> private = dp.certify(dp.KaryTree(epsilon=1, k=5), H=20, S=6, A=2, K=50_000)
    >>> private.replace_one.epsilon <= 1, private.delta
    (True, 0.0)
    """

    epsilon: float
    sensitivity: str = "replace_one"
    families: str = "tuned"
    every: int = 1
    confidence_scale: float = 1.0
    k: int = 19

    take = staticmethod(running_sums(kary.next_noise))

    def __post_init__(self) -> None:
        super().__post_init__()
        kary.check_base(self.k)

    def spent(self, T: int) -> Spent:
        """An item lies in one block of every level."""
        L = kary.kary_levels(T, self.k)
        return Spent(L, math.sqrt(L))

    def terms(self, T: int) -> float:
        return float(kary.most_terms(self.k, kary.kary_levels(T, self.k)))

    def mechanism(self, size: int, T: int, source: Any, dtype: type) -> kary.KaryTree:
        return kary.start(size, self.k, kary.kary_levels(T, self.k), dtype)


PRIVATIZERS.add("kary_tree", KaryTree)
