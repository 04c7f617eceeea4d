"""The k-ary tree with negative digits: private running sums of a stream with Laplace noise (pure DP).

"Count on Your Elders: Laplace vs Gaussian Noise", Andersson, Pagh, Steiner & Torkamani, FORC 2025 (arXiv
2408.07021). Let k be odd and h = (k-1)/2. Every t ≤ (k^L - 1)/2 is written with L digits from -h to h,

    t = Σ_{i<L} d_i k^i,    |d_i| ≤ h,       for k = 3:   5 = 9 - 3 - 1,   d = (-1, -1, 1).

Level i of the tree has the blocks of k^i items, block q = items (q-1)k^i + 1 .. q k^i. Walk from 0 to t,
largest level first: the walk reaches level i at the end of a block of level i+1, after mk blocks of level i,
and moves by d_i of them, forwards or back. So

    items 1..t = Σ_i   blocks mk + 1, ..., mk + d_i          if d_i > 0  (those after mk, added)
                     - blocks mk, mk - 1, ..., mk - |d_i| + 1   if d_i < 0  (those before mk, taken away).

Every block has one noise Lap(b), in every coordinate, drawn once and used with its block's sign:

    release t = (items 1..t) + Σ_i ±(noises of the |d_i| blocks of level i).

A block that is taken away reaches beyond t, as does a larger one that holds it: their items after t cancel and
have not arrived. That does not matter, because the release is the true sum plus noise, and a noise can be
drawn before its block is complete. Of each k blocks in a row the first h are only ever added, the last h only
taken away, and the middle one is never used.

Privacy. The rows of C say which items a block has, those of B which blocks a release uses (entries -1, 0, 1),
and B C = A, the lower triangular matrix of ones; releases are A x + B z. Each item lies in at most one used
block per level: a column of C has at most L ones. Suppose that item j is v or v', ‖v - v'‖₁ ≤ Δ, and that
every item may be chosen with the releases before it in view, v and v' by rules fixed in advance. Map the noise
z to

    z' = z + C e_j (v - v').

(1) B C e_j = A e_j is 0 before release j and 1 from j on, so releases before j are the same under z with v and
under z' with v'; hence v, v' are the same too. From j on, the releases are again the same, as v' + (v - v') =
v, and with them, one after the other, all later items. (2) v - v' depends on z only through releases before j,
that is through (B z)_1..j-1, which the map leaves alone: on each set of z on which these have given values it
is a translation, so it is one to one and keeps volumes (a shear). (3) ‖z' - z‖₁ ≤ ‖C e_j‖₁ Δ ≤ LΔ, so the
density of the noise at z is at most e^{LΔ/b} times that at z'. Together: every set of outputs has under v at
most e^{LΔ/b} times the probability it has under v'. Nothing here needs C to be lower triangular, that is,
blocks to be complete when their noise is used.

Recurrence. The digits are an odometer. When t grows by 1, the digits of levels 0..i-1 that are at h turn to
-h, and digit i, the first one below h, grows by 1. Level i keeps partial sums S_i[0..h] with S_i[0] = 0 such
that its part of a release is sign(d_i) S_i[|d_i|]:

    d_i turns to -h:        S_i[j] = S_i[j-1] + b·draw  for j = 1..h   (blocks mk, mk-1, ..., of the next m)
    d_i grows to d > 0:     S_i[d] = S_i[d-1] + b·draw                 (block mk + d)
    d_i grows to d ≤ 0:     nothing is drawn: S_i[|d|] is there, without its first block
    release:                total = 0;  for i = L-1, ..., 0:  total = total ± S_i[|d_i|] if d_i ≠ 0

Levels draw from 0 upwards, one vector per block. Live are S_i[1..|d_i|] of each level, so at most hL vectors
whatever t is: what lies above |d_i| belongs to blocks that no later release uses.

Formal guarantees, for at most (k^L - 1)/2 releases:
- B C = A and at most L ones in each column of C (exact), so the releases together are (LΔ/b)-DP, also for
  items chosen adaptively (idealised numerics; proof above);
- release t carries Σ_i |d_i(t)| ≤ hL independent noises (exact), its variance is 2b² times that;
- a full tree draws (k^L - 1)/2 vectors, one per release on average, and at most h(L-1) + 1 at once (exact).
"""

from typing import Any, NamedTuple

import numpy as np

from dpucbvi.errors import InputError, whole
from dpucbvi.mechanisms import TOO_MANY, add, add_to, subtract_from
from dpucbvi.privacy.draws import fill
from dpucbvi.protocol import Ints


def kary_levels(T: int, k: int) -> int:
    """The smallest L with T ≤ (k^L - 1)/2: the levels of a tree for T releases."""
    L = 0
    while T > (k**L - 1) // 2:
        L += 1
    return L


def most_terms(k: int, L: int) -> int:
    """hL: the largest number of noises in one release, that of t = (k^L - 1)/2."""
    return (k - 1) // 2 * L


def check_base(k: int) -> None:
    """Raise InputError for a k that is not odd, or too small."""
    if whole("k", k, 3) % 2 == 0:
        raise InputError(f"k: {k} is not accepted; it must be an odd integer >= 3")


class KaryTree(NamedTuple):
    """The digits of t and the partial sums S_i[0..h] of every level (module docstring)."""

    digits: Ints
    S: np.ndarray  # [i, j, counter]
    new: np.ndarray  # scratch
    total: np.ndarray


def start(size: int, k: int, L: int, dtype: type = np.float64) -> KaryTree:
    """The tree before its first release."""
    S: np.ndarray = np.zeros((L, (k - 1) // 2 + 1, size), dtype)
    return KaryTree(np.zeros(L, np.int64), S, np.zeros(size, dtype), np.zeros(size, dtype))


def next_noise(tree: KaryTree, source: Any) -> tuple[np.ndarray, float]:
    """The noise of the next release and how many noises it has (the recurrence above)."""
    digits, half, i = tree.digits, tree.S.shape[1] - 1, 0
    while i < digits.size and digits[i] == half:
        digits[i] = -half
        for j in range(1, half + 1):
            draw_block(tree, source, i, j)
        i += 1
    if i == digits.size:
        raise OverflowError(TOO_MANY)
    digits[i] += 1
    if digits[i] > 0:
        draw_block(tree, source, i, digits[i])
    total, terms = tree.total, 0
    total[:] = 0
    for level in range(digits.size - 1, -1, -1):  # largest block first
        d = digits[level]
        terms += abs(d)
        if d > 0:
            add_to(total, tree.S[level, d])
        elif d < 0:
            subtract_from(total, tree.S[level, -d])
    return total, float(terms)


def draw_block(tree: KaryTree, source: Any, i: int, j: int) -> None:
    """S_i[j] = S_i[j-1] + a new noise."""
    fill(source, tree.new)
    add(tree.S[i, j - 1], tree.new, tree.S[i, j])
