"""The four sentences of Section 7 about Figure 1, each measured on stored runs.

A sentence is a list of contrasts: numbers that every run gives (arms share their seeds, so run i of one arm
is compared with run i of another) and whose mean is positive where the sentence holds. Every contrast has the
p of the sign-flip test (dpucbvi/stats.py) that its mean is 0, after Holm's correction over all contrasts of the
table. The sentence

    reproduces       if every contrast is positive with p < 0.05,
    does not         if one is negative with p < 0.05,
    cannot be told   otherwise.

U, J1, J2, L: the regret without privacy, under JDP where the legend says ε = 1 and ε = 2, and under LDP where
it says ε = 2; C = J - U or L - U the cost of privacy; K the last episode.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dpucbvi.protocol import Floats
from dpucbvi.stats import holm, permutation_p

# The part of its final value that √k gains between K/2 and K; a constant gains nothing, a straight line half.
SQRT_SHARE = 1.0 - 1.0 / np.sqrt(2.0)
JDP, LDP = ("jdp_eps1", "jdp_eps2"), "ldp_eps2"
REPRODUCES, DOES_NOT, CANNOT = "reproduces", "does not", "cannot be told"
LEVEL = 0.05


class Regret(NamedTuple):
    """A curve's regret at K/2 and at K, an entry per run; named by the printed curve it stands for."""

    half: Floats
    full: Floats


Curves = Mapping[str, Regret]


def non_private_is_best(curves: Curves) -> list[Floats]:
    """J1(K), J2(K), L(K) > U(K)."""
    return [curves[name].full - curves["non_private"].full for name in (*JDP, LDP)]


def jdp_cost_is_a_small_constant(curves: Curves) -> list[Floats]:
    """C(K) - C(K/2) < (1 - 1/√2) C(K): slower than √k; and C(K) < U(K): the regret is not doubled."""
    U = curves["non_private"]
    contrasts = []
    for name in JDP:
        cost, half = curves[name].full - U.full, curves[name].half - U.half
        contrasts += [SQRT_SHARE * cost - (cost - half), U.full - cost]
    return contrasts


def larger_epsilon_has_smaller_regret(curves: Curves) -> list[Floats]:
    """J1(K) > J2(K)."""
    return [curves["jdp_eps1"].full - curves["jdp_eps2"].full]


def ldp_cost_stays_high(curves: Curves) -> list[Floats]:
    """C(K) > U(K) under LDP: the regret is more than doubled; and L(K) - L(K/2) > J2(K) - J2(K/2): it converges
    later than under JDP."""
    U, J2, L = curves["non_private"], curves["jdp_eps2"], curves[LDP]
    return [(L.full - U.full) - U.full, (L.full - L.half) - (J2.full - J2.half)]


SENTENCES = {
    "the non-private UCBVI has the best performance": non_private_is_best,
    "the cost of privacy under JDP is a small constant": jdp_cost_is_a_small_constant,
    "larger ε has smaller regret": larger_epsilon_has_smaller_regret,
    "under LDP the cost of privacy remains high, and it converges later": ldp_cost_stays_high,
}


def judge(columns: Mapping[str, Curves]) -> dict[str, dict[str, str]]:
    """Every sentence's verdict in every column, Holm's correction over all contrasts of all columns."""
    contrasts = {
        (column, sentence, i): contrast
        for column, curves in columns.items()
        for sentence, rule in SENTENCES.items()
        for i, contrast in enumerate(rule(curves))
    }
    p = [permutation_p(contrast, np.zeros(len(contrast))) for contrast in contrasts.values()]
    signs: dict[tuple[str, str], list[int]] = {}
    for (column, sentence, _), contrast, value in zip(
        contrasts, contrasts.values(), holm(np.array(p)), strict=True
    ):
        told = int(np.sign(contrast.mean())) if value < LEVEL else 0
        signs.setdefault((column, sentence), []).append(told)
    return {
        column: {sentence: verdict(signs[column, sentence]) for sentence in SENTENCES} for column in columns
    }


def verdict(signs: list[int]) -> str:
    """Of contrasts told to be positive (1), negative (-1) or neither (0)."""
    if -1 in signs:
        return DOES_NOT
    return REPRODUCES if all(sign == 1 for sign in signs) else CANNOT
