"""The tabular MDP of Section 2: P_h(s'|s,a), r_h(s,a), an initial distribution, and one episode of it.

The step axis h leads every array and is 0-based: `P[h, s, a, s']` is the paper's P_{h+1}(s'|s,a).
Rewards lie in [0, 1]; they are paid as they are (`deterministic`) or as a coin with that mean
(`bernoulli`).

Randomness enters through uniforms drawn outside, a fixed number per episode whatever the policy
does: two algorithms that get the same uniforms meet the same environment.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpucbvi.errors import InputError, check_name, one_line
from dpucbvi.protocol import Floats, Ints

SUM_ERROR = 1e-9  # by which the probabilities of a distribution may miss 1
REWARD_KINDS = ("deterministic", "bernoulli")
BLOCK = 2**16  # entries that are sorted at once


class Trajectory(NamedTuple):
    """One user's data (s_1, a_1, r_1, ..., s_{H+1}): `s` has H+1 entries, `a` and `r` have H."""

    s: Ints
    a: Ints
    r: Floats


@dataclass(frozen=True)
class TabularMDP:
    """A finite-horizon MDP; its arrays are read-only.

    A P that is the same at every step is kept once: `P` is then a view that repeats it.

    Parameters
    ----------
    P : array (H, S, A, S)
        P[h, s, a, s'] is the probability of s'. Every P[h, s, a] must be a distribution.
    r : array (H, S, A)
        Mean rewards, in [0, 1].
    initial : array (S,)
        The distribution of the first state.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.
    name : str
        What messages and figures call it.
    reward_range : tuple of float
        What the rewards 0 and 1 stand for, where they were mapped from others; only reports read it.

    Raises
    ------
    InputError
        If a shape, a distribution or a reward is wrong; the message has the first index that is.

    Examples
    --------
    >>> import numpy as np
    >>> import dpucbvi as dp
    >>> P = np.zeros((6, 2, 2, 2))  # H, S, A, S
    >>> P[:, :, 0, 0] = P[:, :, 1, 1] = 1.0  # action a leads to state a
    >>> mdp = dp.TabularMDP(P, r=np.full((6, 2, 2), 0.5), initial=[1.0, 0.0])
    >>> mdp.H, mdp.S, mdp.A
    (6, 2, 2)
    >>> dp.TabularMDP(P, r=np.full((6, 2, 2), 2.0), initial=[1.0, 0.0])
    Traceback (most recent call last):
    dpucbvi.errors.InputError: r[0, 0, 0] = 2.0: every entry must be in [0, 1]
    """

    P: Floats
    r: Floats
    initial: Floats
    rewards: str = "deterministic"
    name: str = "mdp"
    reward_range: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        for field in ("P", "r", "initial"):
            try:
                if np.iscomplexobj(getattr(self, field)):
                    raise TypeError("they are complex")
                array = np.asarray(getattr(self, field), dtype=np.float64)
            except (TypeError, ValueError, OverflowError) as error:
                raise InputError(f"{field}: it is no array of numbers ({one_line(error)})") from None
            once = field == "P" and array.ndim == 4 and _same_at_every_step(array)
            copy = np.array(array[:1] if once else array)
            copy.setflags(write=False)
            object.__setattr__(self, field, np.broadcast_to(copy, array.shape) if once else copy)
        self._check_shapes()
        check_name("rewards", self.rewards, REWARD_KINDS)
        _check_distribution("P", self.P_once)
        _check_distribution("initial", self.initial)
        _check_entries("r", self.r, (self.r >= 0) & (self.r <= 1), "in [0, 1]")

    def _check_shapes(self) -> None:
        P, r = self.P, self.r
        if P.ndim != 4 or P.shape[1] != P.shape[3] or 0 in P.shape:
            raise InputError(f"P: shape {P.shape} is not (H, S, A, S) with H, S, A >= 1")
        if r.shape != P.shape[:3]:
            raise InputError(f"r: shape {r.shape} is not (H, S, A) = {P.shape[:3]}")
        if self.initial.shape != (P.shape[1],):
            raise InputError(f"initial: shape {self.initial.shape} is not (S,) = ({P.shape[1]},)")

    @property
    def H(self) -> int:
        return self.P.shape[0]

    @property
    def S(self) -> int:
        return self.P.shape[1]

    @property
    def A(self) -> int:
        return self.P.shape[2]

    @property
    def sha256(self) -> str:
        """A hash of its numbers: the same MDP has the same."""
        digest = hashlib.sha256(repr(self.P.shape).encode())
        for array in (*self.P, self.r, self.initial):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    @property
    def stationary(self) -> bool:
        """True if P and r are the same at every step: pooling counts over h is then sound."""
        return len(self.P_once) == 1 and _same_at_every_step(self.r)

    @property
    def P_once(self) -> Floats:
        """P without repetitions: [1, s, a, s'] if it is the same at every step."""
        return self.P[:1] if self.P.strides[0] == 0 else self.P

    @cached_property
    def positive(self) -> tuple[Floats, Ints]:
        """The positive entries of `P_once` and their next states, [h, s, a, i], in their order.

        Every pair has as many as the one with most, some of them 0.
        """
        possible = self.P_once > 0.0
        successor = first_true(possible, int(possible.sum(axis=-1).max()))
        return np.take_along_axis(self.P_once, successor, axis=-1), successor


def _same_at_every_step(array: Floats) -> bool:
    return len(array) > 0 and (array.strides[0] == 0 or all(np.array_equal(array[0], at) for at in array[1:]))


def first_true(possible: NDArray[np.bool_], D: int) -> Ints:
    """Where each row is true, and then the lowest other places, D in all; in blocks, for little memory."""
    rows = possible.reshape(-1, possible.shape[-1])
    blocks = np.array_split(rows, 1 + rows.size // BLOCK)
    found = np.concatenate([np.argsort(~block, axis=-1, kind="stable")[:, :D].copy() for block in blocks])
    return found.reshape(*possible.shape[:-1], D)


def uniforms_per_episode(H: int) -> int:
    """1 for s_1, then (action, next state, reward) for each step, whether used or not."""
    return 1 + 3 * H


def rollout(mdp: TabularMDP, pi: NDArray, u: Floats) -> Trajectory:
    """Run one episode of the policy on the uniforms `u` (inverse CDF, lowest index first).

    `pi[h, s]` is an action, or `pi[h, s, a]` a probability.
    """
    s = np.zeros(mdp.H + 1, dtype=np.int64)
    a = np.zeros(mdp.H, dtype=np.int64)
    r = np.zeros(mdp.H)
    s[0] = draw(mdp.initial, u[0])
    for h in range(mdp.H):
        u_action, u_state, u_reward = u[1 + 3 * h : 4 + 3 * h]
        a[h] = pi[h, s[h]] if pi.ndim == 2 else draw(pi[h, s[h]], u_action)
        mean = mdp.r[h, s[h], a[h]]
        r[h] = mean if mdp.rewards == "deterministic" else float(u_reward < mean)
        s[h + 1] = draw(mdp.P[h, s[h], a[h]], u_state)
    return Trajectory(s, a, r)


def draw(p: Floats, u: float) -> int:
    """The smallest i with u < p_0 + ... + p_i; the last i of positive mass if rounding leaves none."""
    cumulative = 0.0
    last = 0
    for i in range(len(p)):
        if p[i] > 0.0:
            cumulative += p[i]
            last = i
            if u < cumulative:
                break
    return last


def _check_entries(name: str, array: Floats, good: NDArray, accepted: str) -> None:
    if not good.all():
        index = tuple(int(i) for i in np.argwhere(~good)[0])
        raise InputError(f"{name}{list(index)} = {array[index]}: every entry must be {accepted}")


def _check_distribution(name: str, p: Floats) -> None:
    _check_entries(name, p, p >= 0, "a number >= 0")
    total = p.sum(axis=-1)
    bad = np.abs(total - 1) > SUM_ERROR
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0]) if p.ndim > 1 else ()
        where = f"{name}{list(index)}" if index else name
        raise InputError(f"{where} sums to {total[index]:.12g}: it must sum to 1")
