"""What a compiled run holds, as tuples of arrays that outlive a call.

A run can be stopped and saved between any two calls of the kernel and go on as if nothing had happened. The
pairs (s,a) are one axis here, `row` = s·A + a, and the next state leads (see counts.as_counts).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.counts import Rounding
from dpucbvi.protocol import Floats, Ints

# Slots of Memory.tally. PLANNED counts the releases that the last plan has seen.
EPISODE, CHANGES, FALLBACKS, RECORDED, RELEASED, PLANNED = range(6)


class World(NamedTuple):
    """The MDP, its optimal values at the first step, and whether rewards are coins.

    P[h, s, a, i] is the probability of the state next[h, s, a, i]: of the positive ones alone, in their order.
    One step is there if all are the same (`step`).
    """

    P: Floats
    next: Ints
    r: Floats
    initial: Floats
    V_star: Floats
    bernoulli: bool


class Private(NamedTuple):
    """What the algorithm may see: the noisy counts and Ñ, all rows of all steps on one axis.

    `flat` is what was released, of which N_hat_sa, N_hat_sas and R are views. Without post-processing N_sa and
    N_sas are N̂ itself. N(s,a,s') has s' first, or the d of the next states that are counted (support.Support).
    """

    flat: Floats
    N_hat_sa: Floats  # [row]
    N_hat_sas: Floats  # [s', row]
    R: Floats
    N_sa: Floats
    N_sas: Floats
    sd: Floats  # of the noise of N(s,a,s')


class Processing(NamedTuple):
    """What happens between N̂ and Ñ."""

    E: float
    lp: bool
    w: float  # the band of Eq.4
    zero: float  # τ
    summed: bool
    centred: bool
    joint: bool
    rewards: Floats  # r(s,a) of all rows if they are known; else empty


class Memory(NamedTuple):
    """Everything else that lasts from one episode to the next."""

    Q: Floats  # [h, row]
    ceiling: Floats  # Q⁰ [h] if every plan starts from it; else empty
    V: Floats  # [h, s]
    pi: Ints | Floats  # actions [h, s], or probabilities [h, s, a]
    last_pi: Ints | Floats  # of the last plan
    V_pi: Floats  # [h, s]
    s: Ints  # the last user's trajectory
    a: Ints
    r: Floats
    place: Ints  # her moves as places of her pairs' cells (protocol.User), if they are not her states
    rounding: Rounding
    N_visits: Floats  # true visits N_h(s,a), for the trace only
    tally: Ints
    total: Floats  # total[0]: the regret so far


class Record(NamedTuple):
    """The trace: values after the episodes of `episodes`."""

    episodes: Ints
    regret: Floats
    changes: Ints
    fallbacks: Ints

    @staticmethod
    def empty(episodes: Ints) -> "Record":
        """An empty record whose last entry no episode equals."""
        n = len(episodes)
        return Record(np.append(episodes, 0), np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64))


def arrays_of(name: str, part: Any) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of a tuple and of the tuples in it, by name."""
    if isinstance(part, np.ndarray):
        yield name, part
    elif isinstance(part, tuple):
        for key, value in zip(getattr(part, "_fields", range(len(part))), part, strict=True):
            yield from arrays_of(f"{name}.{key}", value)
