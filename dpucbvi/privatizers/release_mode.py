"""The release mode, `noise="exact"`: what a privatizer takes that has both kinds of noise (privacy/law.py)."""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.privacy.certificate import RELEASE, SIMULATION, check_one_of
from dpucbvi.privacy.exact import LARGEST, ExactCoins
from dpucbvi.privacy.law import GRIDS, Samplers
from dpucbvi.privacy.rational import round_down_to
from dpucbvi.privacy.words import SystemWords, WordSource

SHARES = 2**30  # of a public coin between two kinds of question
MODES = (SIMULATION, "exact")


@dataclass(frozen=True, kw_only=True)
class ReleaseMode:
    """What a privatizer with both kinds of noise takes.

    `noise`: `simulation` (seeded, floating point) or `exact` (to publish). `words`: where exact noise has its
    bits from; a seeded source is for tests, and makes a simulation of it.
    """

    noise: str = SIMULATION
    words: type[WordSource] = field(default=SystemWords, repr=False)  # not a setting: never by config

    @property
    def exact(self) -> bool:
        return self.noise == "exact"

    def check_mode(self) -> None:
        check_one_of("noise", self.noise, MODES)
        if not self.exact and self.words is not SystemWords:
            raise InputError("words: has no effect on simulated noise; it is for noise=exact")


class ExactAnswers(ReleaseMode):
    """What a privatizer has in both modes whose users answer at random, one of two kinds of question."""

    epsilon: float
    transitions: float

    @property
    def budget(self) -> float:
        """ε, or the fraction just below it that exact coins take; a float has that exactly."""
        return float(exact_budget(self.epsilon)) if self.exact else self.epsilon

    @property
    def share(self) -> float:
        """Of questions about the next state; also exact."""
        return exact_share(self.transitions) / SHARES if self.exact else self.transitions

    @property
    def kind(self) -> str:
        """Of the certificate."""
        return RELEASE if self.exact and not self.words.seeded else SIMULATION

    def rounding(self, visits: int) -> float:
        """How far a sum of so many rewards may be off because of the grid."""
        return visits / (2.0 * GRIDS[0]) if self.exact else 0.0

    def coins(self, seed: np.random.SeedSequence, samplers: Samplers) -> ExactCoins:
        return samplers.coins(exact_budget(self.epsilon), self.words.start(seed))


def exact_budget(epsilon: float) -> Fraction:
    """ε of random answers, rounded down to what the coins take."""
    if not 1.0 / LARGEST <= epsilon <= LARGEST:
        raise InputError(f"epsilon: {epsilon:g} is not accepted; exact answers take 2^-30 to 2^30")
    return round_down_to(Fraction(float(epsilon)), LARGEST)


def exact_share(transitions: float) -> int:
    """The share of the first kind of question, in units of 1/SHARES."""
    units = round(Fraction(float(transitions)) * SHARES)
    if not 0 < units < SHARES:
        raise InputError(f"transitions: {transitions:g} is not accepted; exact coins take 2^-30 to 1 - 2^-30")
    return units


def is_exact(privatizer: object) -> bool:
    return isinstance(privatizer, ReleaseMode) and privatizer.exact
