"""DP-UCBVI as an agent; Algorithm 1 itself is in algorithm1.py, its bonus in bonus.py."""

from dataclasses import dataclass

from dpucbvi.agents.register import AGENTS, ANY, Optimistic
from dpucbvi.algorithm1 import dp_ucbvi
from dpucbvi.bonus import BernsteinConstants, Bonus, bernstein_bonus, bernstein_constants
from dpucbvi.counts import PrivateCounts
from dpucbvi.protocol import Algorithm, Noise, Problem


@dataclass(frozen=True)
class DPUCBVI(Optimistic):
    """Algorithm 1.

    `bonus` takes the place of line 7: a function bonus(N, P, V_next, gap_next, c) like bonus.bernstein_bonus,
    called where Ñ = N > 0; `c` are the constants of line 7.
    """

    bonus: Bonus = bernstein_bonus

    raw = False
    models = ANY

    @property
    def own(self) -> str | None:
        return None if self.bonus is bernstein_bonus else "a bonus of your own"

    def constants(self, problem: Problem, noise: Noise) -> BernsteinConstants:
        return bernstein_constants(problem, noise.E, self.bonus_scale)

    def algorithm(self, problem: Problem, private: PrivateCounts, constants: BernsteinConstants) -> Algorithm:
        return dp_ucbvi(problem, private, constants, self.bonus)


AGENTS.add("dp_ucbvi", DPUCBVI)
