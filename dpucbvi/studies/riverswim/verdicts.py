"""The four sentences of Section 7 about Figure 1, each measured on stored runs.

A sentence is a list of contrasts: numbers that every run gives (arms share their seeds, so run i of one arm is
compared with run i of another) and that are positive where the sentence holds. With the 95% interval of each
mean contrast (lab/stats.py), the sentence

    reproduces       if every interval is above 0,
    does not         if one is below 0,
    cannot be told   otherwise.

U, J1, J2, L: the regret of UCBVI, of DP-UCBVI under JDP where the legend says ε = 1 and ε = 2, and under LDP
where it says ε = 2; C = J - U the cost of privacy; K the last episode.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dpucbvi.lab.stats import summarise
from dpucbvi.protocol import Floats

# The part of its final value that √k gains between K/2 and K; a constant gains nothing, a straight line half.
SQRT_SHARE = 1.0 - 1.0 / np.sqrt(2.0)
JDP, LDP = ("jdp_eps1", "jdp_eps2"), "ldp_eps2"
REPRODUCES, DOES_NOT, CANNOT = "reproduces", "does not", "cannot be told"


class Regret(NamedTuple):
    """A curve's regret at K/2 and at K, an entry per run; named by the printed curve it stands for."""

    half: Floats
    full: Floats


Curves = Mapping[str, Regret]


def ucbvi_is_best(curves: Curves) -> list[Floats]:
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
    """L(K) > J2(K), the same ε in the legend; and L(K) - L(K/2) > J2(K) - J2(K/2): it converges later."""
    J2, L = curves["jdp_eps2"], curves[LDP]
    return [L.full - J2.full, (L.full - L.half) - (J2.full - J2.half)]


SENTENCES = {
    "the non-private UCBVI has the best performance": ucbvi_is_best,
    "the cost of privacy under JDP is a small constant": jdp_cost_is_a_small_constant,
    "larger ε has smaller regret": larger_epsilon_has_smaller_regret,
    "under LDP the cost of privacy remains high": ldp_cost_stays_high,
}


def verdict(contrasts: list[Floats]) -> str:
    """What the 95% intervals of the contrasts say together."""
    intervals = [summarise(contrast) for contrast in contrasts]
    if any(mean + half < 0.0 for mean, half in intervals):
        return DOES_NOT
    if all(mean - half > 0.0 for mean, half in intervals):
        return REPRODUCES
    return CANNOT


def verdicts(curves: Curves) -> dict[str, str]:
    """Every sentence with its verdict."""
    return {sentence: verdict(contrasts(curves)) for sentence, contrasts in SENTENCES.items()}
