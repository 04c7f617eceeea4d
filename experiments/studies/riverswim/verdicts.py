"""The four sentences of Section 7 about Figure 1, each measured on stored runs.

A sentence is a list of contrasts: numbers that every run gives (arms share their seeds, so run i of one arm
is compared with run i of another) and whose mean is positive where the sentence holds. Some are of shape, how
a curve grows; the others of level, where it ends, which says nothing where settings were fitted to the printed
ends. Every contrast has the p of the sign-flip test (dpucbvi/stats.py) that it is symmetric about 0, after
Holm's correction over all contrasts of the table. The sentence

    reproduces       if every contrast is positive with p < 0.05,
    does not         if one is negative with p < 0.05,
    cannot be told   otherwise,
    fitted           if none is left that is evidence.

Two curves of which neither settles have learnt nothing, and how they are ordered decides nothing.

U, J1, J2, L: the regret without privacy, under JDP where the legend says ε = 1 and ε = 2, and under LDP where
it says ε = 2; C = J - U or L - U the cost of privacy; K the last episode.
"""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np

from dpucbvi.protocol import Floats
from dpucbvi.stats import holm, permutation_p

# The part of its final value that √k gains between K/2 and K; a constant gains nothing, a straight line half.
SQRT_SHARE = 1.0 - 1.0 / np.sqrt(2.0)
JDP, LDP = ("jdp_eps1", "jdp_eps2"), "ldp_eps2"
REPRODUCES, DOES_NOT, CANNOT, FITTED = "reproduces", "does not", "cannot be told", "fitted"
P_LEVEL = 0.05
LEVEL, SHAPE = "level", "shape"


class Regret(NamedTuple):
    """A curve's regret at K/2 and at K, an entry per run; named by the printed curve it stands for."""

    half: Floats
    full: Floats

    @property
    def settles(self) -> bool:
        """Whether its mean grows at most as √k from K/2 on."""
        return (self.full - self.half).mean() <= SQRT_SHARE * self.full.mean()


Curves = Mapping[str, Regret]
Contrasts = list[tuple[str, Floats]]  # LEVEL or SHAPE, and an entry per run


def non_private_is_best(curves: Curves) -> Contrasts:
    """J1(K), J2(K), L(K) > U(K)."""
    return [(LEVEL, curves[name].full - curves["non_private"].full) for name in (*JDP, LDP)]


def jdp_cost_is_a_small_constant(curves: Curves) -> Contrasts:
    """C(K) - C(K/2) < (1 - 1/√2) C(K): slower than √k; and C(K) < U(K): the regret is not doubled."""
    U, contrasts = curves["non_private"], []
    for name in JDP:
        cost, half = curves[name].full - U.full, curves[name].half - U.half
        contrasts += [(SHAPE, SQRT_SHARE * cost - (cost - half)), (LEVEL, U.full - cost)]
    return contrasts


def ordered(one: Regret, other: Regret, contrast: Floats) -> Floats:
    """A contrast that orders two private curves; 0 if neither settles."""
    return contrast if one.settles or other.settles else np.zeros_like(contrast)


def larger_epsilon_has_smaller_regret(curves: Curves) -> Contrasts:
    """J1(K) > J2(K)."""
    J1, J2 = (curves[name] for name in JDP)
    return [(LEVEL, ordered(J1, J2, J1.full - J2.full))]


def ldp_cost_stays_high(curves: Curves) -> Contrasts:
    """C(K) > U(K) under LDP: the regret is more than doubled; and L(K) - L(K/2) > J2(K) - J2(K/2): it converges
    later than under JDP."""
    U, J2, L = curves["non_private"], curves["jdp_eps2"], curves[LDP]
    later = (L.full - L.half) - (J2.full - J2.half)
    return [(LEVEL, (L.full - U.full) - U.full), (SHAPE, ordered(L, J2, later))]


SENTENCES: dict[str, Callable[[Curves], Contrasts]] = {
    "the non-private UCBVI has the best performance": non_private_is_best,
    "the cost of privacy under JDP is a small constant": jdp_cost_is_a_small_constant,
    "larger ε has smaller regret": larger_epsilon_has_smaller_regret,
    "under LDP the cost of privacy remains high, and it converges later": ldp_cost_stays_high,
}


def contrasts(columns: Mapping[str, Curves], fitted: Collection[str]) -> dict[tuple[str, str], list[Floats]]:
    """By column and sentence what is evidence; in a fitted column that is shape only."""
    return {
        (column, sentence): [values for of, values in rule(curves) if of == SHAPE or column not in fitted]
        for column, curves in columns.items()
        for sentence, rule in SENTENCES.items()
    }


def judge(columns: Mapping[str, Curves], fitted: Collection[str] = ()) -> dict[str, dict[str, str]]:
    """Every sentence's verdict in every column, Holm's correction over all contrasts of all columns."""
    found = contrasts(columns, fitted)
    flat = [(key, contrast) for key, many in found.items() for contrast in many]
    p = holm(np.array([permutation_p(contrast, np.zeros(len(contrast))) for _, contrast in flat]))
    signs: dict[tuple[str, str], list[int]] = {key: [] for key in found}
    for (key, contrast), value in zip(flat, p, strict=True):
        signs[key].append(int(np.sign(contrast.mean())) if value < P_LEVEL else 0)
    return {
        column: {sentence: verdict(signs[column, sentence]) for sentence in SENTENCES} for column in columns
    }


def verdict(signs: list[int]) -> str:
    """Of contrasts told to be positive (1), negative (-1) or neither (0)."""
    if not signs:
        return FITTED
    if -1 in signs:
        return DOES_NOT
    return REPRODUCES if all(sign == 1 for sign in signs) else CANNOT
