"""Compiled twin of projection.py: the closed form of Eq.4 and the shift of Eq.5, all rows side by side.

Arrays have the next state first and the rows (h,s,a) last, so that the inner loops become SIMD code; each row
sees the same operations in the same order as in the reference. Rows are solved in blocks that stay in the
processor's cache while the passes of the LP go over them.
"""

from typing import NamedTuple

import numpy as np

from dpucbvi.protocol import Floats

BLOCK = 512  # rows that are solved together


class Rows(NamedTuple):
    """Scratch of the projection, one entry per row of a block."""

    threshold: Floats  # λ
    target: Floats  # what Σ max(y - λ, 0) must be; unused inside the band
    total: Floats
    number: Floats  # how many entries stay
    active: Floats  # the last `number`; -1 inside the band, where λ stays 0

    @staticmethod
    def empty() -> "Rows":
        return Rows(*(np.zeros(BLOCK) for _ in Rows._fields))


def closed_form(n: Floats, y: Floats, E: float, w: float, N_sa: Floats, x: Floats, work: Rows) -> int:
    """From N̂(s,a) = n, N̂(s,a,s') = y[s'] to Ñ(s,a), Ñ(s,a,s') = x[s']; returns how many LPs were infeasible."""
    fallbacks = 0
    for first in range(0, n.size, BLOCK):
        block = n[first : first + BLOCK]
        if start_rows(block, y, w, work, first):
            while michelot_step(y, block.size, work, first):
                pass
        shift(y, work.threshold, E, N_sa[first : first + BLOCK], x, first)
        for row in range(block.size):
            fallbacks += block[row] < -w
    return fallbacks


def shift(y: Floats, threshold: Floats, E: float, N_sa: Floats, x: Floats, first: int) -> None:
    """[Eq.4] and [Eq.5]: x = max(y - λ, 0) + E/(2S) and N = Σ max(y - λ, 0) + E/2."""
    S, rows = len(y), N_sa.size
    for row in range(rows):
        N_sa[row] = 0.0
    for s in range(S):
        y_s, x_s = y[s][first : first + rows], x[s][first : first + rows]
        for row in range(rows):
            value = y_s[row] - threshold[row]  # [Eq.4]
            value = value if value > 0.0 else 0.0
            N_sa[row] += value
            x_s[row] = value + E / (2 * S)  # [Eq.5]
    for row in range(rows):
        N_sa[row] += E / 2  # [Eq.5]


def start_rows(n: Floats, y: Floats, w: float, work: Rows, first: int) -> bool:
    """λ = 0 for rows within the band, -∞ (all entries stay) for the others; returns whether there are any."""
    S, rows = len(y), n.size
    total = work.total
    for row in range(rows):
        total[row] = 0.0
    for s in range(S):
        y_s = y[s][first : first + rows]
        for row in range(rows):
            total[row] += y_s[row] if y_s[row] > 0.0 else 0.0
    outside = 0
    for row in range(rows):
        middle = n[row] if n[row] > -w else -w
        inside = abs(total[row] - middle) <= w
        work.target[row] = middle + w if total[row] > middle else middle - w
        work.threshold[row] = 0.0 if inside else -np.inf
        work.active[row] = -1.0 if inside else S + 1.0
        outside += not inside
    return outside > 0


def michelot_step(y: Floats, rows: int, work: Rows, first: int) -> bool:
    """Drop the entries below λ and raise λ, in every row outside the band; returns whether any λ moved."""
    threshold, total, count, active = work.threshold, work.total, work.number, work.active
    for row in range(rows):
        total[row] = count[row] = 0.0
    for s in range(len(y)):
        y_s = y[s][first : first + rows]
        for row in range(rows):
            stays = y_s[row] >= threshold[row]
            total[row] += y_s[row] if stays else 0.0
            count[row] += 1.0 if stays else 0.0
    moved = 0
    for row in range(rows):
        moves = active[row] > count[row] and count[row] > 0.0
        threshold[row] = (total[row] - work.target[row]) / count[row] if moves else threshold[row]
        active[row] = count[row] if moves else active[row]
        moved += moves
    return moved > 0
