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

Formal guarantees: exact for the ideal mechanism (real-valued noise); see laplace.py for what floating point and
seeding take away. Central certifies the DP of the released counters; JDP of the actions follows by
post-processing and the billboard lemma (Hsu et al., 2014), as in the proof of Lemma 5.1.
"""

import math
from typing import NamedTuple

from dpucbvi.errors import InputError, check_number

FAMILIES = 3  # N_h(s,a), N_h(s,a,s'), R_h(s,a): each is given a third of the budget
SENSITIVITY_FACTOR = {"paper": 1, "replace_one": 2}


class Certificate(NamedTuple):
    """The pure ε (δ = 0) that the released counters have, by neighbour relation."""

    model: str  # "JDP", "LDP" or "none"
    add_remove: float
    replace_one: float

    def __str__(self) -> str:
        if math.isinf(self.add_remove):
            return "no privacy is certified"
        return (
            f"{self.model}: pure ε = {self.add_remove:.4g} if a user is added or removed, "
            f"{self.replace_one:.4g} if her trajectory is replaced"
        )


def sensitivity(kind: str, H: int) -> int:
    """Δ of one family: H as the paper calibrates, or 2H."""
    return SENSITIVITY_FACTOR[kind] * H


def laplace_certificate(model: str, change: float, scale: float) -> Certificate:
    """`change`: the total ℓ1 change of all noisy values when a user is added; twice that if replaced."""
    if change == 0.0:
        return Certificate(model, 0.0, 0.0)  # K = 1: nothing is ever released
    epsilon = change / scale if scale > 0.0 else math.inf
    return Certificate(model, epsilon, 2.0 * epsilon)


def check_laplace(epsilon: float, sensitivity: str, confidence_scale: float, printed: float | None) -> None:
    """Raise InputError for what neither Central nor Local accepts."""
    check_number("epsilon", epsilon, _positive, "a number > 0")
    if sensitivity not in tuple(SENSITIVITY_FACTOR):
        accepted = ", ".join(SENSITIVITY_FACTOR)
        raise InputError(f"sensitivity: {sensitivity} is not accepted; it must be one of {accepted}")
    check_number("confidence_scale", confidence_scale, lambda scale: scale >= 0.0, "a number >= 0")
    if printed is not None:
        check_number("printed_constant", printed, _positive, "a number > 0")


def _positive(value: float) -> bool:
    return value > 0.0
