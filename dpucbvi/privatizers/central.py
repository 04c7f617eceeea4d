"""Central, the Privatizer of Section 5.1: the Binary Mechanism on every counter (joint differential privacy).

Every counter of the three families has a tree (tree.py) over the users 1..K-1, all advanced together, with
noise of its own in every node:

    b = 3ΔL/ε              node noise Lap(b), L = ⌈log2 K⌉ levels               [Sec.5.1 (1)]
    ε = 3 · L · Δ / b      families × levels × ℓ1 change                        [Lem.5.1]

E bounds every release of every tree at once: each has at most L noises, and the union is over all counters and
K-1 releases. The order that the paper prints for it is c (H/ε) log(HSAT/β)², without the constant c.
"""

from dataclasses import dataclass

from dpucbvi.confidence import log_hsat
from dpucbvi.errors import check_number
from dpucbvi.privatizers.certificate import positive
from dpucbvi.privatizers.over_time import LaplaceTree
from dpucbvi.privatizers.register import PRIVATIZERS
from dpucbvi.privatizers.tree import BinaryMechanism, Draws, levels
from dpucbvi.protocol import Floats, Noise, Problem


@dataclass(frozen=True)
class Central(LaplaceTree):
    """The paper's: noise for ε if a user is added or removed (`sensitivity`: `paper`, or `replace_one`).

    `printed_constant` takes the printed order of E with this constant in place of the proven E; `families` and
    `every` are the paper's unless another choice is made. `noise="exact"` is for publication (release_mode.py).
    """

    sensitivity: str = "paper"
    families: str = "paper"
    printed_constant: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.printed_constant is not None:
            check_number("printed_constant", self.printed_constant, positive, "a number > 0")

    def levels(self, T: int) -> int:
        """L = ⌈log2 K⌉ if T = K-1: [Sec.5.1 (1)] with log K read as the levels of the tree [D5]."""
        return levels(T + 1)

    def terms(self, T: int) -> float:
        return float(levels(T + 1))

    def process(self, size: int, T: int, scale: float | Floats, stream: Draws) -> BinaryMechanism:
        return BinaryMechanism(size, levels(T + 1), scale, stream)

    def noise_of(self, problem: Problem, G: int) -> Noise:
        proven, c = super().noise_of(problem, G), self.printed_constant
        if c is None:
            return proven
        E = self.confidence_scale * order_central(problem, self.epsilon, c)
        return proven._replace(E=E, printed=self.confidence_scale * c, proven=False)


def order_central(problem: Problem, epsilon: float, constant: float) -> float:
    """[Sec.5.1 (2)] E = c (H/ε) log(HSAT/β)²."""
    return constant * problem.H / epsilon * log_hsat(problem) ** 2


PRIVATIZERS.add("central", Central)
