"""Mechanisms on a stream as their definitions have them: releases are A x + B z, z independent noises.

A is the matrix of running sums. B is written down here apart from the code that runs it; its columns are in the
order in which the noises are drawn.
"""

import math

import numpy as np
from scipy.special import gammaincc

from dpucbvi.errors import InputError
from dpucbvi.mechanisms.blt import parameters
from dpucbvi.privatizers import Batches, Central, KaryTree, Local, Toeplitz
from dpucbvi.protocol import Floats, Privatizer


def sums(T: int) -> Floats:
    """A: item j is in every release from j on."""
    return np.tril(np.ones((T, T)))


def binary_tree(T: int) -> Floats:
    """B: release t has the blocks that closed at t, at t without its lowest bit, and so on."""
    B = np.zeros((T, T))
    for t in range(1, T + 1):
        u = t
        while u:
            B[t - 1, u - 1] = 1.0
            u &= u - 1
    return B


def kary_tree(T: int, k: int) -> Floats:
    return kary_blocks(T, k)[0]


def kary_blocks(T: int, k: int) -> tuple[Floats, list[tuple[int, int]]]:
    """B, and of every column its block, as (level, number).

    At every level a release has so many blocks after (or before, with a minus) the end of the block above.
    """
    half, blocks, rows = (k - 1) // 2, [], []
    for t in range(1, T + 1):
        row, rest, size, level = {}, t, 1, 0
        while rest:
            digit = (rest + half) % k - half
            rest = (rest - digit) // k
            start = rest * k  # blocks of this level before the walk goes on
            for step in range(abs(digit)):
                number = start + step + 1 if digit > 0 else start - step
                row[level, number] = 1.0 if digit > 0 else -1.0
            size, level = size * k, level + 1
        new = sorted({level for level, _ in row})
        for level in new:
            blocks += [block for block in row if block[0] == level and block not in blocks]
        rows.append(row)
    B = np.zeros((T, len(blocks)))
    for t, row in enumerate(rows):
        for block, sign in row.items():
            B[t, blocks.index(block)] = sign
    return B, blocks


def toeplitz(T: int) -> Floats:
    """B: b_j = Σ_i w_i x_i^j along its diagonals."""
    blt = parameters(T)
    b = [math.fsum(w * x**j for x, w in zip(blt.x, blt.w, strict=True)) for j in range(T)]
    return np.array([[b[t - j] if t >= j else 0.0 for j in range(T)] for t in range(T)])


def exact_tail(y, n):
    """P(|Z| > y) for a sum Z of n Lap(1): a mixture of Erlang distributions (Kotz et al., 2001)."""
    j = np.arange(n)
    weights = [math.lgamma(n + i) - math.lgamma(n) - math.lgamma(i + 1) - (n + i - 1) * math.log(2) for i in j]
    return float(np.exp(weights) @ gammaincc(n - j, y))


def noises(privatizer: Privatizer, T: int) -> Floats:
    """B of a privatizer; InputError for one that adds no noise to running sums."""
    match privatizer:
        case Central():
            return binary_tree(T)
        case KaryTree():
            return kary_tree(T, privatizer.k)
        case Toeplitz():
            return toeplitz(T)
        case Local() | Batches():  # a new noise for every user, or batch
            return sums(T)
    raise InputError(f"privatizer: {type(privatizer).__name__} adds no noise to running sums")
