"""Central, the Privatizer of Section 5.1: the Binary Mechanism on every counter (joint differential privacy).

Every counter of the three families has a tree (mechanisms/binary.py) over the users 1..K-1, all advanced
together, with noise of its own in every node:

    b = 3ΔL/ε              node noise Lap(b), L = ⌈log2 K⌉ levels               [Sec.5.1 (1)]
    ε = 3 · L · Δ / b      families × levels × ℓ1 change                        [Lem.5.1]

E bounds every release of every tree at once: each has at most L noises, and the union is over all counters and
K-1 releases. The order that the paper prints for it is c (H/ε) log(HSAT/β)², without the constant c.

The release stands here twice: `TreeCounts` as the paper has it, which the reference engine calls, and as arrays
(noisy_sums.py), which the fast engine compiles. Tests compare the two bit for bit.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpucbvi.confidence import log_hsat
from dpucbvi.counts import FAMILIES, counters, statistics
from dpucbvi.elementary import power
from dpucbvi.mechanisms import binary
from dpucbvi.mechanisms.binary import BinaryMechanism, levels
from dpucbvi.privacy.laplace import LaplaceStream
from dpucbvi.privacy.law import Spent
from dpucbvi.privatizers.arrays import PRIVATIZERS
from dpucbvi.privatizers.noisy_sums import OverTime, PrintedOrder, by_counter, running_sums
from dpucbvi.protocol import Floats, Problem, Release, User


def order_central(problem: Problem, epsilon: float, constant: float) -> float:
    """[Sec.5.1 (2)] E = c (H/ε) log(HSAT/β)²."""
    return constant * problem.H / epsilon * power(log_hsat(problem), 2)


@dataclass(frozen=True)
class Central(PrintedOrder, OverTime):
    """The Central Privatizer of Section 5.1, for JDP: a binary tree with Laplace noise on every counter.

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
    printed_constant : float, optional
        Use the printed order of E with this constant instead of the proven E.
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
    >>> private = dp.certify(dp.Central(epsilon=1), H=20, S=6, A=2, K=50_000)
    >>> private.model, private.add_remove.epsilon, private.replace_one.epsilon
    ('JDP', 1.0, 2.0)
    """

    epsilon: float
    sensitivity: str = "paper"
    families: str = "paper"
    every: int = 1
    confidence_scale: float = 1.0
    printed_constant: float | None = None

    take = staticmethod(running_sums(binary.next_noise))  # the same on arrays; `as_printed` is the paper's text
    order = staticmethod(order_central)

    def spent(self, T: int) -> Spent:
        """L = ⌈log2 K⌉ if T = K-1: [Sec.5.1 (1)] with log K read as the levels of the tree [D5].

        An item lies in L nodes, so that its column has ℓ1 norm L and ℓ2 norm √L.
        """
        L = levels(T + 1)
        return Spent(L, math.sqrt(L))

    def terms(self, T: int) -> float:
        return float(levels(T + 1))

    def mechanism(self, size: int, T: int, source: Any, dtype: type) -> binary.BinaryTree:
        return binary.start(size, levels(T + 1), dtype)

    def as_printed(self, problem: Problem, G: int, seed: np.random.SeedSequence) -> Release:
        return TreeCounts(self, problem, G, LaplaceStream(seed))


class TreeCounts:
    """Section 5.1 as it reads: the users' sums, and on them the noise of a Binary Mechanism."""

    def __init__(self, privatizer: Central, problem: Problem, G: int, stream: LaplaceStream):
        self._shape, self._families = privatizer.shape(problem, G), FAMILIES[privatizer.families]
        self._every, self._unit_sd = privatizer.every, privatizer.unit_sd(problem, G)
        scale = by_counter(privatizer.scales(problem, G), privatizer.families, *self._shape)
        self._tree = BinaryMechanism(len(scale), levels(privatizer.releases(problem) + 1), scale, stream)
        self.sum, self.t = np.zeros(counters(*self._shape)), 0

    def release(self, user: User) -> Floats | None:
        G, S, A, D = self._shape
        self.sum += statistics(user, G, S, A, self._families, D=D)
        self.t += 1
        if self.t % self._every:
            return None
        released = self.sum.copy()
        released[self._families.released(*self._shape)] += self._tree.next()
        return released

    @property
    def sd(self) -> Floats:
        return np.full(self._shape[:3], self._unit_sd * math.sqrt(self._tree.variance()))


PRIVATIZERS.add("central", Central)
