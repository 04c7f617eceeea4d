"""DP-UCBVI as an agent; Algorithm 1 itself is in algorithm1.py, its bonus in bonus.py."""

from dataclasses import dataclass

import numpy as np

from dpucbvi.agents.register import AGENTS, ANY, Optimistic
from dpucbvi.algorithm1 import dp_ucbvi
from dpucbvi.bonus import BernsteinConstants, Bonus, BonusTerms, bernstein_bonus, bernstein_constants
from dpucbvi.counts import PrivateCounts
from dpucbvi.errors import InputError
from dpucbvi.protocol import Algorithm, Floats, Noise, Problem

CAPS = ("H", "steps_left")


@dataclass(frozen=True)
class DPUCBVI(Optimistic):
    """Algorithm 1.

    `bonus` takes the place of line 7: a function bonus(N, P, V_next, gap_next, c) like bonus.bernstein_bonus,
    called where Ñ = N > 0; `c` are the constants of line 7. `cap` is what a Q is before anything is known, and
    so what it never exceeds: `H` as in the paper, or `steps_left`, H-h+1 at step h [D31]. `minimum=False` takes
    the minimum of line 9 without the Q of the last episode [D32].
    """

    bonus: Bonus = bernstein_bonus
    cap: str = "H"
    minimum: bool = True

    raw = False
    models = ANY
    terms = BonusTerms._fields

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cap not in CAPS:
            raise InputError(f"cap: {self.cap!r} is not one of {', '.join(CAPS)}")

    def ceiling(self, H: int) -> Floats:
        return np.arange(H, 0, -1.0) if self.cap == "steps_left" else super().ceiling(H)

    @property
    def own(self) -> str | None:
        return None if self.bonus is bernstein_bonus else "a bonus of your own"

    def constants(self, problem: Problem, noise: Noise) -> BernsteinConstants:
        return bernstein_constants(problem, noise.E, self.bonus_scale, self.bonus_without)

    def algorithm(self, problem: Problem, private: PrivateCounts, constants: BernsteinConstants) -> Algorithm:
        return dp_ucbvi(problem, private, constants, self.bonus, self.ceiling(problem.H), self.minimum)


AGENTS.add("dp_ucbvi", DPUCBVI)
