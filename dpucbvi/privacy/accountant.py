"""What a run certifies: the exact pure ε of its releases under both neighbour relations.

Laplace noise Lap(b) on a vector whose value changes by at most Δ in ℓ1 is exactly (Δ/b)-DP: the ratio of
densities is at most e^{Δ/b}, attained where Δ is. A user's trajectory enters three families of counters, each
with ℓ1 sensitivity

    add_remove   H    the user is there or not (her statistics against zeros)
    replace_one  2H   her trajectory against any other, as Definitions 2.2 (JDP) and 2.3 (LDP) have it:
                      H visits leave their cells and H others gain one

whether the counters are kept per step or pooled over h. Under Central each family is released through L levels
of a tree, under Local once. The paper calibrates b with H and so certifies ε under add_remove and 2ε under
replace_one [D8].

Formal guarantees: exact for the ideal mechanism (real-valued noise); see noise.py for what floating point and
seeding take away. Central certifies the DP of the released counters; JDP of the actions follows by
post-processing and the billboard lemma (Hsu et al., 2014), as in the proof of Lemma 5.1.
"""

import math
from typing import NamedTuple

from dpucbvi.binary_mechanism import levels
from dpucbvi.confidence import FAMILIES

SENSITIVITY_FACTOR = {"paper": 1, "replace_one": 2}


class Certificate(NamedTuple):
    """The pure ε that the released counters have, by neighbour relation."""

    model: str  # "JDP", "LDP" or "none"
    add_remove: float
    replace_one: float


def sensitivity(kind: str, H: int) -> int:
    """Δ of one family: H as the paper calibrates, or 2H."""
    return SENSITIVITY_FACTOR[kind] * H


def certify_central(scale: float, H: int, K: int) -> Certificate:
    """ε = 3 families × L levels × Δ / b."""
    return _certificate("JDP", FAMILIES * levels(K) * H, scale)


def certify_local(scale: float, H: int) -> Certificate:
    """ε = 3 families × Δ / b, for each user by herself."""
    return _certificate("LDP", FAMILIES * H, scale)


def certify_non_private() -> Certificate:
    return Certificate("none", math.inf, math.inf)


def _certificate(model: str, change: float, scale: float) -> Certificate:
    """`change`: the total ℓ1 change of all noisy values when a user is added; twice that if replaced."""
    if change == 0.0:
        return Certificate(model, 0.0, 0.0)  # K = 1: nothing is ever released
    epsilon = change / scale if scale > 0.0 else math.inf
    return Certificate(model, epsilon, 2.0 * epsilon)
