"""Noise over time: mechanisms that release running sums again and again.

Each writes the running sums of T items as A = B·C, A the lower triangle of ones: noise z goes on C x, and what
is released at t is (A x)_t + (B z)_t, the running sums plus a noise that depends on no data. An item's column
of C says how much of the budget it costs, a row of B how large the noise of a release is:

    Laplace     ε = Σ_f L Δ_f/b_f,    L = the largest ℓ1 norm of a column of C
    Gaussian    μ² = Σ_f C² Δ_f²/σ_f²,  C = the largest ℓ2 norm of a column

    binary   the Binary Mechanism of the paper
    kary     a tree with k children and negative digits
    blt      √A approximated, in a few buffers

A state is a tuple of arrays. `next_noise(state, source)` works out from integers which noises are new, draws
into these (draws.fill), and returns the next row of B z with its Σ_j B_tj². It is a plain function: the
reference engine calls it, the fast engine compiles it. The noise is floats from a seed, or integers from an
exact source if the state was started with such a `dtype`; weights that are real, as those of blt, have floats.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

TOO_MANY = "there is noise for so many releases, not for more"
Next = Callable[[Any, Any], tuple[np.ndarray, float]]


# --- loops that compile to the fastest code -------------------------------------------------------------------


def add(one: np.ndarray, other: np.ndarray, out: np.ndarray) -> None:
    """out = one + other."""
    for c in range(out.size):
        out[c] = one[c] + other[c]


def add_to(total: np.ndarray, part: np.ndarray) -> None:
    """total += part; not `add`, whose loop is slow where two of its arrays are one."""
    for c in range(total.size):
        total[c] += part[c]


def subtract_from(total: np.ndarray, part: np.ndarray) -> None:
    """total -= part."""
    for c in range(total.size):
        total[c] -= part[c]
