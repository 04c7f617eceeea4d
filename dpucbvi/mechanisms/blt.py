"""Buffered linear Toeplitz noise: private running sums of a stream with Gaussian noise and a few buffers.

The running sums of items x_1..x_T are A x, A the lower triangular matrix of ones. Write A = B C with B and C
lower triangular and Toeplitz (constant along diagonals, first columns b and c), and release

    A x + σ B z = B (C x + σ z),      z_1..z_T independent standard normals (one vector each).

The second form shows the privacy: Gaussian noise σ on C x, of which one item of ℓ2 norm Δ moves at most ‖C‖ Δ,
‖C‖ the largest norm of a column. The first one shows the error: release t has standard deviation σ ‖B_t‖, B_t
row t of B. Among lower triangular Toeplitz matrices the product ‖B_T‖ ‖C‖ is least for B = C = √A
(Fichtenberger, Henzinger & Upadhyay 2023): b_j = c_j = binom(2j, j)/4^j, whose noise needs all of z_1..z_t at
every t. Here b is a mixture of d exponentials (a buffered linear Toeplitz matrix: Dvijotham et al. 2024, arXiv
2404.16706),

    b_j = Σ_i w_i x_i^j,   0 < x_i < 1,  w_i > 0,      so   Σ_j b_{t-j} z_j = Σ_i w_i y_i(t),
                                                            y_i(t) = x_i y_i(t-1) + z_t:

d buffers, each as long as an item, whatever T is. C = B⁻¹A follows. With generating functions c(u) =
1/((1-u) b(u)), and with s(y) = Σ_i w_i/(y - x_i) it is a mixture of d exponentials again but for j = 0:

    c_0 = 1/b_0,   c_j = Σ_l r_l y_l^j  (j ≥ 1),   y_0 = 1,  r_0 = 1/s(1),
                                                   s(y_l) = 0,  r_l = -1/(y_l (1 - y_l) s'(y_l)),  l = 1..d-1.

The zeros y_l of s lie one between each two neighbours x_i and s' < 0, so all r_l > 0: b and c are positive, and

    ‖B_t‖² = Σ_{j<t} b_j²,      ‖C‖² = Σ_{j<T} c_j²    (column k is c moved down by k-1 and cut: none exceeds c)

are sums of positive geometric series, without cancellation for T up to 10¹². Everything is computed from the
gaps 1 - x_i, which a float next to 1 has exactly.

The numbers x and w (TABLE) were found by minimising ‖B_T‖ ‖C‖. Neither privacy nor the stated error rests on
that: both norms are always those of the actual numbers at the actual T.

How far ‖B_T‖ ‖C‖ lies above that of √A, and above ‖A‖_*/T (the nuclear norm), which no factorisation at all can
be below (Matoušek, Nikolov & Talwar 2020); between two lengths the first figure is below the one of the longer:

    T                     10      10²     10³     10⁴     5·10⁴   10⁵     10⁶     10⁷
    buffers d             2       3       4       4       5       5       6       7
    above √A              0.020%  0.038%  0.047%  0.341%  0.232%  0.260%  0.216%  0.189%
    above the bound       19.6%   16.3%   12.6%   10.4%   9.0%    8.6%    7.4%

Formal guarantees, for a stream of at most T items, one of them changed by at most Δ in ℓ2:
- A = B C, exactly, for the numbers as they are; `sensitivity` is at least ‖C‖ and at most 3e-10 above it;
- all releases together are μ-GDP with μ = ‖C‖ Δ/σ (idealised numerics), also if the items are chosen with the
  releases before them in view (Denisov et al. 2022, arXiv 2202.08312). Proof: as B is lower triangular and
  b_0 > 0, releases 1..t and the noisy values (C x + σ z)_1..t are functions of each other. Noisy value t is a
  Gaussian mechanism on x_1..x_t. If item k changes by v, ‖v‖ ≤ Δ, and the values before t came out the same,
  then all items after k are the same, and its mean moves by c_{t-k} v. These mechanisms compose adaptively to
  μ² = Σ_{t≥k} c_{t-k}² ‖v‖²/σ² ≤ ‖C‖² Δ²/σ²;
- release t carries noise N(0, σ² ‖B_t‖²) in each coordinate, coordinates independent (idealised numerics).
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.elementary import expm1, log1p
from dpucbvi.errors import whole
from dpucbvi.mechanisms import TOO_MANY
from dpucbvi.privacy.draws import fill, snapped
from dpucbvi.protocol import Floats, Ints

MARGIN = 1e-10  # by which a sensitivity is rounded up, relative; its own rounding is below 1e-12


class Blt(NamedTuple):
    """b_j = Σ_i w_i x_i^j; the x in (0, 1) and falling, the w positive."""

    x: tuple[float, ...]
    w: tuple[float, ...]

    @property
    def gaps(self) -> list[float]:
        """1 - x_i, without rounding from x_i = 1/2 on; smallest first."""
        return [1.0 - x for x in self.x]


# x and w by the longest stream they are meant for, b_0 = Σ w = 1.
TABLE: dict[int, Blt] = {
    10**1: Blt((0.9107211, 0.228769), (0.4030146, 0.5969854)),
    10**2: Blt((0.99023591, 0.851823, 0.236126), (0.1346192, 0.2741369, 0.5912439)),
    10**3: Blt((0.99899009, 0.9830949, 0.856997, 0.244837), (0.0434759, 0.0944121, 0.2617204, 0.6003916)),
    10**4: Blt((0.999875906, 0.99687126, 0.9464931, 0.376349), (0.0159354, 0.051561, 0.2112464, 0.7212572)),
    10**5: Blt(
        (0.9999878669, 0.999716003, 0.99562681, 0.9352132, 0.351143),
        (0.0049443, 0.0148799, 0.0575547, 0.221531, 0.7010901),
    ),
    10**6: Blt(
        (0.99999879819, 0.9999731221, 0.99961732, 0.99462809, 0.9270037, 0.335287),
        (0.0015492, 0.0044542, 0.0165022, 0.0618262, 0.2279119, 0.6877563),
    ),
    10**7: Blt(
        (0.999999880325, 0.99999740421, 0.9999649931, 0.999534302, 0.99382237, 0.9208584, 0.324499),
        (0.0004875, 0.0013584, 0.0048839, 0.0178117, 0.0648742, 0.2322012, 0.6783831),
    ),
}


def parameters(T: int) -> Blt:
    """The numbers for a stream of T releases: those of the smallest tabulated length ≥ T."""
    whole("T", T, 1, max(TABLE))
    return TABLE[min(length for length in TABLE if length >= T)]


def sensitivity(blt: Blt, T: int) -> float:
    """‖C‖ = (Σ_{j<T} c_j²)^½, rounded up: how far an item of ℓ2 norm 1 moves C x in ℓ2."""
    v, r = inverse(blt)
    # Σ_{1≤j<T} of (y_l y_m)^j, by the gap of the product
    square = 1.0 / math.fsum(blt.w) ** 2 + math.fsum(
        r[l] * r[m] * (1.0 - gap) * _geometric(gap, T - 1)
        for l in range(len(v))
        for m in range(len(v))
        for gap in [_gap(v[l], v[m])]
    )
    return math.sqrt(square) * (1.0 + MARGIN)


def error(blt: Blt, t: int) -> float:
    """‖B_t‖ = (Σ_{j<t} b_j²)^½: the standard deviation of release t for σ = 1."""
    g, d = blt.gaps, len(blt.x)
    return math.sqrt(
        math.fsum(blt.w[i] * blt.w[k] * _geometric(_gap(g[i], g[k]), t) for i in range(d) for k in range(d))
    )


def inverse(blt: Blt) -> tuple[list[float], list[float]]:
    """The gaps v_l = 1 - y_l and the weights r_l of c_j = Σ_l r_l (1 - v_l)^j, j ≥ 1."""
    g, w = blt.gaps, blt.w
    v, r = [0.0], [1.0 / math.fsum(w_i / g_i for w_i, g_i in zip(w, g, strict=True))]
    for low, high in pairwise(g):
        # In the gaps, s = Σ w_i/(g_i - v): from -∞ to +∞ between two neighbours
        while (middle := _middle(low, high)) not in (low, high):
            if math.fsum(w_i / (g_i - middle) for w_i, g_i in zip(w, g, strict=True)) < 0.0:
                low = middle
            else:
                high = middle
        zero = high if low in g else low
        slope = math.fsum(w_i / (g_i - zero) ** 2 for w_i, g_i in zip(w, g, strict=True))  # -s'
        v.append(zero)
        r.append(1.0 / ((1.0 - zero) * zero * slope))
    return v, r


def _gap(g: float, h: float) -> float:
    """1 - (1-g)(1-h)."""
    return g + h - g * h


def _geometric(gap: float, n: int) -> float:
    """Σ_{j<n} (1 - gap)^j."""
    return -expm1(n * log1p(-gap)) / gap if gap > 0.0 else float(n)


def _middle(low: float, high: float) -> float:
    """Halves the distance, or the number of digits if that is the larger step."""
    return math.sqrt(low * high) if high > 2.0 * low else low + (high - low) / 2.0


class Buffers(NamedTuple):
    """y_i of every coordinate, x_i^t, and Σ_{j<t} b_j², which is error(blt, t)² but for roundings."""

    t: Ints  # t[0]: releases so far
    y: Floats  # [i, coordinate]
    powers: Floats
    variance: Floats  # variance[0]
    x: Floats
    w: Floats
    new: Floats  # scratch
    total: Floats
    T: int  # releases that the sensitivity was for


def start(size: int, blt: Blt, T: int) -> Buffers:
    """The buffers before the first of T releases."""
    d = len(blt.x)
    y, new, total = np.zeros((d, size)), np.zeros(size), np.zeros(size)
    x, w = np.array(blt.x), np.array(blt.w)
    return Buffers(np.zeros(1, np.int64), y, np.ones(d), np.zeros(1), x, w, new, total, T)


def next_noise(buffers: Buffers, source: Any) -> tuple[Floats, float]:
    """σ B z, the row of the next release, and its variance for σ = 1."""
    if buffers.t[0] == buffers.T:
        raise OverflowError(TOO_MANY)
    buffers.t[0] += 1
    z, total, b = buffers.new, buffers.total, 0.0
    fill(source, z)
    total[:] = 0.0
    for i in range(buffers.x.size):
        y, x, w = buffers.y[i], buffers.x[i], buffers.w[i]
        for c in range(z.size):
            y[c] = y[c] * x + z[c]
            total[c] += w * y[c]
        b += w * buffers.powers[i]
        buffers.powers[i] *= x
    for c in range(total.size):
        total[c] = snapped(total[c])
    buffers.variance[0] += b * b
    return total, buffers.variance[0]
