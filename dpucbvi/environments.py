"""The environments, by name: RiverSwim as published (twice), random MDPs (two kinds), a hard instance, one's
own.

RiverSwim is a chain of S states. `left` moves down for sure; `right` swims against the current. A
small reward waits at the left end, reward 1 at the right end, and only a policy that swims right
through many failures finds it.

    variant            s=0 stay/up   inside down/stay/up   last down/stay   r(0,left)   start
    chowdhury_zhou     .4 / .6       .05 / .6 / .35        .4 / .6          .005        s=0
    strehl_littman     .7 / .3       .1  / .6 / .3         .7 / .3          .0005       s=1 or 2

Sources: `chowdhury_zhou` is the environment of the paper's Section 7 (Chowdhury & Zhou, AAAI 2022,
after Osband et al., 2013); `strehl_littman` is the original (Strehl & Littman, JCSS 2008), its rewards
5 and 10000 divided by 10000.
"""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np

from dpucbvi.errors import InputError, check_number, whole
from dpucbvi.mdp import TabularMDP
from dpucbvi.registry import Registry

LEFT, RIGHT = 0, 1
ENVIRONMENTS: Registry[Callable[..., TabularMDP]] = Registry("env.name")


class Current(NamedTuple):
    """How the river treats `right`: (stay, up) at the left end, (down, stay, up) inside, (down, stay) last."""

    first: tuple[float, float]
    inside: tuple[float, float, float]
    last: tuple[float, float]
    left_reward: float
    start: tuple[int, ...]


RIVERSWIM = {
    "chowdhury_zhou": Current((0.4, 0.6), (0.05, 0.6, 0.35), (0.4, 0.6), 0.005, (0,)),
    "strehl_littman": Current((0.7, 0.3), (0.1, 0.6, 0.3), (0.7, 0.3), 0.0005, (1, 2)),
}


def riverswim(
    S: int = 6, H: int = 20, variant: str = "chowdhury_zhou", rewards: str = "deterministic"
) -> TabularMDP:
    """RiverSwim with S states (at least 2, and enough for the variant's start) and horizon H."""
    if variant not in RIVERSWIM:
        raise InputError(f"variant: {variant!r} is not one of {', '.join(RIVERSWIM)}")
    current = RIVERSWIM[variant]
    least = max(2, 1 + max(current.start))
    _check_least(least, S=S)
    P = np.zeros((S, 2, S))
    r = np.zeros((S, 2))
    for s in range(S):
        P[s, LEFT, max(s - 1, 0)] = 1.0
    P[0, RIGHT, :2] = current.first
    for s in range(1, S - 1):
        P[s, RIGHT, s - 1 : s + 2] = current.inside
    P[S - 1, RIGHT, S - 2 :] = current.last
    r[0, LEFT] = current.left_reward
    r[S - 1, RIGHT] = 1.0
    initial = np.zeros(S)
    initial[list(current.start)] = 1.0 / len(current.start)
    return stationary_mdp(P, r, initial, H, rewards, f"riverswim-{variant}")


def random_mdp(S: int = 5, A: int = 3, H: int = 10, seed: int = 0, rewards: str = "bernoulli") -> TabularMDP:
    """P_h(.|s,a) uniform on the simplex, r_h(s,a) uniform on [0,1], a new draw for every step; s_1 = 0."""
    _check_least(1, S=S, A=A, H=H)
    _check_least(0, seed=seed)
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(S), size=(H, S, A))
    r = rng.random((H, S, A))
    initial = np.zeros(S)
    initial[0] = 1.0
    return TabularMDP(P, r, initial, rewards, f"random-{seed}")


def garnet(
    S: int = 6, A: int = 2, H: int = 20, branching: int = 3, seed: int = 0, rewards: str = "deterministic"
) -> TabularMDP:
    """A random MDP that does not depend on the step (Garnet: Archibald et al., JORS 1995); s_1 = 0.

    Every pair leads to `branching` states, drawn without replacement, with probabilities cut by uniform points;
    r(s,a) is uniform on [0,1].
    """
    _check_least(1, S=S, A=A)
    whole("branching", branching, 1, S)
    _check_least(0, seed=seed)
    rng = np.random.default_rng(seed)
    P = np.zeros((S, A, S))
    for s, a in np.ndindex(S, A):
        cuts = np.concatenate([[0.0], np.sort(rng.random(branching - 1)), [1.0]])
        P[s, a, rng.choice(S, branching, replace=False)] = np.diff(cuts)
    return stationary_mdp(P, rng.random((S, A)), np.eye(S)[0], H, rewards, f"garnet-{seed}")


def hard_tree(
    depth: int = 1, A: int = 2, H: int = 20, gap: float = 0.25, rewards: str = "deterministic"
) -> TabularMDP:
    """A hard instance of the lower bound Ω(√(SAH²T)) (Domingues et al., ALT 2021, Section 3).

    s=0 waits (action 0, for the first H/3 steps) or enters an A-ary tree of the given depth. Leaves lead to a
    good state, paying 1 at every step of the last part, or to a bad one, each with probability 1/2; but for one
    leaf, one action and one moment the good one has probability 1/2 + gap. Only that triple is better than any
    other, and there are (H/3)·A^(depth+1) to try.
    """
    check_number("gap", gap, lambda gap: 0.0 < gap <= 0.5, "a number in (0, 0.5]")
    _check_least(2, A=A)
    _check_least(1, depth=depth, H=H)
    waiting = max(1, H // 3)
    first_paid = waiting + depth + 1
    if first_paid >= H:
        raise InputError(f"H: {H} is not accepted; hard_tree of depth {depth} needs H > {first_paid}")
    nodes = (A ** (depth + 1) - 1) // (A - 1)  # states 1..nodes, breadth first; the last A^depth are leaves
    S = nodes + 3
    leaves = range(nodes - A**depth + 1, nodes + 1)
    good, bad = nodes + 1, nodes + 2
    P, r = np.zeros((H, S, A, S)), np.zeros((H, S, A))
    P[:, 0, :, 1] = 1.0
    P[: waiting - 1, 0, 0] = np.eye(S)[0]
    for node in range(1, leaves[0]):
        for a in range(A):
            P[:, node, a, A * (node - 1) + 2 + a] = 1.0
    for leaf in leaves:
        P[:, leaf, :, good] = P[:, leaf, :, bad] = 0.5
    P[waiting + depth, leaves[-1], A - 1, [good, bad]] += [gap, -gap]  # entered at the last waiting step
    P[:, good, :, good] = P[:, bad, :, bad] = 1.0
    r[first_paid:, good] = 1.0
    initial = np.eye(S)[0]
    return TabularMDP(P, r, initial, rewards, f"hard-tree-{depth}")


def from_file(path: str = "", rewards: str = "deterministic") -> TabularMDP:
    """The user's own MDP: an .npz file with arrays P (H,S,A,S), r (H,S,A) and initial (S,)."""
    if not Path(path).is_file():
        raise InputError(f"path: no file {path!r}; it must be an .npz with P, r and initial")
    try:
        with np.load(path, allow_pickle=False) as data:
            P, r, initial = (data[key].astype(np.float64, casting="same_kind") for key in ("P", "r", "initial"))
    except (KeyError, TypeError, ValueError, OSError, EOFError, BadZipFile, zlib.error) as error:
        raise InputError(f"path: {path!r} is not an .npz with P, r and initial ({error})") from None
    return TabularMDP(P, r, initial, rewards, Path(path).stem)


def stationary_mdp(
    P: np.ndarray, r: np.ndarray, initial: np.ndarray, H: int, rewards: str, name: str
) -> TabularMDP:
    """The MDP whose every step has the same P[s,a,s'] and r[s,a]."""
    _check_least(1, H=H)
    return TabularMDP(np.tile(P, (H, 1, 1, 1)), np.tile(r, (H, 1, 1)), initial, rewards, name)


def _check_least(least: int, **values: int) -> None:
    for key, value in values.items():
        whole(key, value, least)


ENVIRONMENTS.add("riverswim", riverswim)
ENVIRONMENTS.add("random", random_mdp)
ENVIRONMENTS.add("garnet", garnet)
ENVIRONMENTS.add("hard_tree", hard_tree)
ENVIRONMENTS.add("file", from_file)
