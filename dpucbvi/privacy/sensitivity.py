"""How far one user can move the counters: ℓ1 and squared ℓ2 sensitivities of each family.

A user has H visits. Let c be her visits by cell, so Σc = H, and V the largest Σc² that there is:

    per step                 V = H            a cell (h,s,a) is visited at most once
    pooled                   V = H²           all visits may fall into one cell
    pooled, clipped to m     V = q m² + ρ²    H = q m + ρ: Σc² is convex, so it is largest at the corner
                                              where q cells have m visits and one has the rest

    family                      added or removed (ℓ1, ℓ2²)    replaced (ℓ1, ℓ2²)
    N(s,a), N(s,a,s')           H,   V                        2H, 2V
    R(s,a) = Σ r, r in [0,1]    H,   V                        2H, 2V
    R(s,a) = Σ (r - ½)          H/2, V/4                      H,  V
    Y(s,a,s',b)                 H,   V                        2H, 2V        the place of all three

Proof. Added or removed: a count is at most c, a centred reward at most c/2 in size. Replaced, ℓ1: twice that by
the triangle inequality. A visit is one symbol (s',b), so that Y is a count. Replaced, ℓ2²: for vectors u, v ≥ 0
is ‖u - v‖² ≤ ‖u‖² + ‖v‖² ≤ 2V; a centred reward moves a cell that the two users visit c and c' times by at most
(c + c')/2, and Σ((c + c')/2)² ≤ Σ(c² + c'²)/2 ≤ V. Each is attained: two users in different cells; for the
centred ones, one cell with rewards 1 against 0. (With clipping, if there are cells enough.) ∎

Two traps. Pooled counts cost Gaussian noise √H more, Laplace noise nothing. And centred rewards have a ratio of
4, not 2, between the relations, in ℓ2².

The families together: ℓ1 losses are attained at once, so that sums of ε are exact. Squared ℓ2 losses are not
(N(s,a,s') wants the users apart, centred R together): of the sum of μ² of the tuned families, noise for a user
who is replaced, only a share is reached (`reached_together`; proof in paper/PRIVACY.md),

    per step   7/8 + ⌈H/2⌉/(8H)        pooled, H ≥ 2   7/8        clipped   not less than 1 for every m and H
"""

from fractions import Fraction
from typing import NamedTuple

from dpucbvi.counts import Families
from dpucbvi.errors import InputError

SENSITIVITY_FACTOR = {"paper": 1, "replace_one": 2}  # the paper calibrates for a user who is added or removed


class ByFamily(NamedTuple):
    """A number for each of N(s,a), N(s,a,s') and R(s,a); 0 for one that is not released."""

    N: Fraction
    M: Fraction
    R: Fraction


def l1(families: Families, H: int, replaced: bool) -> ByFamily:
    """ℓ1 sensitivity of each family."""
    times = 2 if replaced else 1
    count, reward = Fraction(times * H), Fraction(times * H, 2 if families.centred else 1)
    return _of_released(families, count, reward)


def l2_squared(families: Families, V: int, replaced: bool) -> ByFamily:
    """Squared ℓ2 sensitivity of each family, V from `largest_square`."""
    count = Fraction(2 * V if replaced else V)
    reward = (Fraction(V) if replaced else Fraction(V, 4)) if families.centred else count
    return _of_released(families, count, reward)


def _of_released(families: Families, count: Fraction, reward: Fraction) -> ByFamily:
    nothing = Fraction(0)
    return ByFamily(nothing if families.summed else count, count, nothing if families.joint else reward)


def reached_together(families: Families, sensitivity: str, H: int, G: int, clip: int | None) -> Fraction:
    """The largest Σ_f share_f ‖change of f‖²/Δ_f² that one user who is replaced can reach."""
    known = families.summed and families.centred and SENSITIVITY_FACTOR[sensitivity] == 2 and clip is None
    if not known:
        return Fraction(1)
    return Fraction(7, 8) + (Fraction((H + 1) // 2, 8 * H) if G > 1 or H == 1 else 0)


def largest_square(H: int, G: int, clip: int | None = None) -> int:
    """V: the largest Σc² of one user's visits by cell."""
    if clip is None:
        return H if G > 1 else H * H
    q, rest = divmod(H, clip)
    return q * clip * clip + rest * rest


def check_clip(clip: int | None, H: int, G: int) -> None:
    """Raise InputError for a clip that does nothing."""
    if clip is not None and G > 1:
        raise InputError("clip: has no effect on counts per step; it is for pooled counts")
    if clip is not None and clip >= H:
        raise InputError(f"clip: {clip} has no effect; it must be an integer from 1 to H - 1 = {H - 1}")
