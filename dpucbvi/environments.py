"""The environments, by name: RiverSwim as published (twice), a chain, six arms, a grid world, random MDPs (two
kinds), a hard instance, one's own. Tables of gymnasium come in through gymnasium.py. Four rivers depend
on the step: counts that are pooled over the steps are wrong there, from a little to entirely.

RiverSwim is a chain of S states. `left` moves down for sure; `right` swims against the current. A
small reward waits at the left end, reward 1 at the right end, and only a policy that swims right
through many failures finds it.

    variant            s=0 stay/up   inside down/stay/up   last down/stay   r(0,left)   start
    chowdhury_zhou     .4 / .6       .05 / .6 / .35        .4 / .6          .005        s=0
    strehl_littman     .7 / .3       .1  / .6 / .3         .7 / .3          .0005       s=1 or 2

Sources: `chowdhury_zhou` is the environment of the paper's Section 7 (Chowdhury & Zhou, AAAI 2022,
after Osband et al., 2013); `strehl_littman` is the original (Strehl & Littman, JCSS 2008), its rewards
5 and 10000 divided by 10000. The other environments name theirs.
"""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dpucbvi.errors import InputError, Registry, check_name, check_number, one_line, refused, whole
from dpucbvi.mdp import TabularMDP

LEFT, RIGHT = 0, 1
COPIES = 3  # what it is made from, itself, and what an engine makes of it
SIX_ARMS = (50, 133, 300, 800, 1660, 6000)  # what they pay, before it is divided by the last
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
    """RiverSwim: a chain on which only a policy that swims right through many failures finds the reward 1.

    Parameters
    ----------
    S : int
        States, at least 2, and enough for the start of the variant.
    H : int
        Steps of an episode, at least 1.
    variant : str
        `chowdhury_zhou`, the river of the paper's Section 7, or `strehl_littman`, the original.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem.

    Raises
    ------
    InputError
        If S or H is out of range, the MDP does not fit into this machine, or a name is unknown.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> mdp = dp.riverswim(S=6, H=20)
    >>> mdp.S, mdp.A, mdp.H, mdp.stationary
    (6, 2, 20, True)
    """
    check_name("variant", variant, RIVERSWIM)
    current = RIVERSWIM[variant]
    least = max(2, 1 + max(current.start))
    _check_least(least, S=S)
    _check_room(H, S, 2)
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


# --- rivers that depend on the step ---------------------------------------------------------------------------


def flipping_river(S: int = 6, H: int = 20, at: int = 10, rewards: str = "deterministic") -> TabularMDP:
    """RiverSwim whose two actions change roles for good after `at` steps.

    Parameters
    ----------
    S : int
        States, at least 2.
    H : int
        Steps of an episode, at least 1.
    at : int
        After how many steps they change roles.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem.

    Raises
    ------
    InputError
        If a number is out of range, or the MDP does not fit into this machine.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> mdp = dp.flipping_river(S=3, H=6, at=2)
    >>> mdp.stationary, bool((mdp.P[0, :, 0] == mdp.P[2, :, 1]).all())
    (False, True)
    """
    whole("at", at, 1, whole("H", H, 2) - 1)
    return _swapped(S, H, np.arange(H) >= at, rewards, f"flipping-river-{at}")


def alternating_river(S: int = 6, H: int = 20, every: int = 5, rewards: str = "deterministic") -> TabularMDP:
    """RiverSwim whose two actions change roles after every `every` steps.

    Parameters
    ----------
    S : int
        States, at least 2.
    H : int
        Steps of an episode, at least 1.
    every : int
        Steps between two changes.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem.

    Raises
    ------
    InputError
        If a number is out of range, or the MDP does not fit into this machine.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> mdp = dp.alternating_river(S=3, H=6, every=2)
    >>> bool((mdp.P[0] == mdp.P[4]).all()), bool((mdp.P[0] == mdp.P[2]).all())
    (True, False)
    """
    whole("every", every, 1, whole("H", H, 2) - 1)
    return _swapped(S, H, np.arange(H) // every % 2 == 1, rewards, f"alternating-river-{every}")


def _swapped(S: int, H: int, steps: np.ndarray, rewards: str, name: str) -> TabularMDP:
    """RiverSwim with `left` and `right` exchanged in these steps."""
    river = riverswim(S, H)
    P, r = river.P.copy(), river.r.copy()
    P[steps], r[steps] = P[steps][:, :, ::-1], r[steps][:, :, ::-1]
    return TabularMDP(P, r, river.initial, rewards, name)


def drifting_river(S: int = 6, H: int = 20, drift: float = 0.2, rewards: str = "deterministic") -> TabularMDP:
    """RiverSwim whose current grows: from step to step, inside the river, `right` moves up less and down more.

    The probability `drift` goes from up to down in equal parts over the H steps.

    Parameters
    ----------
    S : int
        States, at least 2.
    H : int
        Steps of an episode, at least 1.
    drift : float
        How much probability goes from up to down, in all.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem.

    Raises
    ------
    InputError
        If a number is out of range, or the MDP does not fit into this machine.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> mdp = dp.drifting_river(S=4, H=5, drift=0.2)
    >>> bool(mdp.P[0, 1, 1, 2] > mdp.P[4, 1, 1, 2])
    True
    """
    whole("H", H, 2)
    most = RIVERSWIM["chowdhury_zhou"].inside[2]
    check_number("drift", drift, lambda drift: 0.0 < drift <= most, f"a number in (0, {most}]")
    river = riverswim(S, H)
    P = river.P.copy()
    for h, s in np.ndindex(H, S):
        if 0 < s < S - 1:
            P[h, s, RIGHT, [s - 1, s + 1]] += [drift * h / (H - 1), -drift * h / (H - 1)]
    return TabularMDP(P, river.r, river.initial, rewards, "drifting-river")


def hidden_shortcut(S: int = 6, H: int = 20, at: int = 8, rewards: str = "deterministic") -> TabularMDP:
    """RiverSwim with one surprise: after `at` steps, and only then, `left` in s=1 leads to the last state.

    A swimmer has passed s=1 by then, and at every other step `left` in s=1 leads to s=0.

    Parameters
    ----------
    S : int
        States, at least 2.
    H : int
        Steps of an episode, at least 1.
    at : int
        The step of the surprise.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem.

    Raises
    ------
    InputError
        If a number is out of range, or the MDP does not fit into this machine.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> mdp = dp.hidden_shortcut(S=4, H=6, at=3)
    >>> float(mdp.P[3, 1, 0, 3]), float(mdp.P[2, 1, 0, 3])
    (1.0, 0.0)
    """
    _check_least(3, S=S)
    whole("at", at, 1, whole("H", H, 2) - 1)
    river = riverswim(S, H)
    P = river.P.copy()
    P[at, 1, LEFT] = np.eye(S)[S - 1]
    return TabularMDP(P, river.r, river.initial, rewards, f"hidden-shortcut-{at}")


# --- others ---------------------------------------------------------------------------------------------------


def chain(S: int = 5, H: int = 20, slip: float = 0.2, rewards: str = "deterministic") -> TabularMDP:
    """The chain (Dearden et al., AAAI 1998; slipping: Strens, ICML 2000), its rewards 2 and 10 divided by 10.

    Action 0 goes on, and pays 10 where it stays, in the last state; action 1 goes back to s=0 and pays 2. With
    probability `slip` the other one happens, and pays; r(s,a) is the mean.

    Parameters
    ----------
    S : int
        States, at least 2.
    H : int
        Steps of an episode, at least 1.
    slip : float
        The probability that the other action happens.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem.

    Raises
    ------
    InputError
        If a number is out of range, or the MDP does not fit into this machine.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> dp.chain(S=5, H=20, slip=0.2).r[0, 4].round(2).tolist()
    [0.84, 0.36]
    """
    _check_least(2, S=S)
    _check_room(H, S, 2)
    check_number("slip", slip, lambda slip: 0.0 <= slip < 0.5, "a number in [0, 0.5)")
    on, back = np.eye(S)[[*range(1, S), S - 1]], np.eye(S)[[0] * S]
    paid_on, paid_back = np.eye(S)[S - 1], np.full(S, 0.2)
    P = np.stack([(1 - slip) * on + slip * back, slip * on + (1 - slip) * back], axis=1)
    r = np.stack([(1 - slip) * paid_on + slip * paid_back, slip * paid_on + (1 - slip) * paid_back], axis=1)
    return stationary_mdp(P, r, np.eye(S)[0], H, rewards, "chain")


def six_arms(H: int = 20, rewards: str = "deterministic") -> TabularMDP:
    """SixArms (Strehl & Littman, JCSS 2008, Section 5), its rewards divided by 6000: rare arms pay more.

    From s=0 action i leads to s=i+1 with probability 1, 0.15, 0.1, 0.05, 0.03 or 0.01, else nowhere. There it
    is pulled again by the same action, s=1 by any but the fifth, for 50, 133, 300, 800, 1660 or 6000; every
    other action leads back to s=0.

    Parameters
    ----------
    H : int
        Steps of an episode, at least 1.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem.

    Raises
    ------
    InputError
        If a number is out of range, or the MDP does not fit into this machine.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> mdp = dp.six_arms(H=10)
    >>> mdp.S, mdp.A
    (7, 6)
    """
    P, r = np.zeros((7, 6, 7)), np.zeros((7, 6))
    P[1:, :, 0] = 1.0
    for a, (found, paid) in enumerate(zip((1, 0.15, 0.1, 0.05, 0.03, 0.01), SIX_ARMS, strict=True)):
        P[0, a, a + 1], P[0, a, 0] = found, 1.0 - found
        for again in (0, 1, 2, 3, 5) if a == 0 else (a,):
            P[a + 1, again] = np.eye(7)[a + 1]
            r[a + 1, again] = paid / SIX_ARMS[-1]
    return stationary_mdp(P, r, np.eye(7)[0], H, rewards, "six-arms")


def grid_world(
    rows: int = 4, columns: int = 4, H: int = 20, slip: float = 0.2, rewards: str = "deterministic"
) -> TabularMDP:
    """From one corner of a grid to the opposite one, which pays 1 at every step and is not left.

    Actions 0 to 3 go up, right, down and left; with probability slip/2 each the agent goes to one of the two
    sides instead, and against a wall it stays (Russell & Norvig, Artificial Intelligence, Section 17.1).

    Parameters
    ----------
    rows : int
        Rows of the grid.
    columns : int
        Columns of the grid.
    H : int
        Steps of an episode, at least 1.
    slip : float
        The probability of going to a side.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem.

    Raises
    ------
    InputError
        If a number is out of range, or the MDP does not fit into this machine.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> mdp = dp.grid_world(rows=2, columns=3, H=5)
    >>> mdp.S, mdp.A
    (6, 4)
    """
    _check_least(1, rows=rows)
    _check_least(2, columns=columns)
    _check_room(H, rows * columns, 4)
    check_number("slip", slip, lambda slip: 0.0 <= slip <= 1.0, "a number in [0, 1]")
    S, moves = rows * columns, ((-1, 0), (0, 1), (1, 0), (0, -1))
    P, r = np.zeros((S, 4, S)), np.zeros((S, 4))
    for s, a in np.ndindex(S, 4):
        for turn, probability in ((0, 1.0 - slip), (1, slip / 2), (-1, slip / 2)):
            down, right = moves[(a + turn) % 4]
            row, column = s // columns + down, s % columns + right
            inside = 0 <= row < rows and 0 <= column < columns
            P[s, a, row * columns + column if inside else s] += probability
    P[S - 1], r[S - 1] = np.eye(S)[S - 1], 1.0
    return stationary_mdp(P, r, np.eye(S)[0], H, rewards, f"grid-{rows}x{columns}")


def random_mdp(S: int = 5, A: int = 3, H: int = 10, seed: int = 0, rewards: str = "bernoulli") -> TabularMDP:
    """P_h(.|s,a) uniform on the simplex, r_h(s,a) uniform on [0,1], a new draw for every step; s_1 = 0.

    Parameters
    ----------
    S : int
        States.
    A : int
        Actions.
    H : int
        Steps of an episode, at least 1.
    seed : int
        Of the draw.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem.

    Raises
    ------
    InputError
        If a number is out of range, or the MDP does not fit into this machine.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> dp.random_mdp(S=3, A=2, H=4, seed=1).stationary
    False
    """
    _check_least(1, S=S, A=A)
    _check_room(H, S, A, once=False)
    _check_least(0, seed=seed)
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(S), size=(H, S, A))
    r = rng.random((H, S, A))
    return TabularMDP(P, r, np.eye(S)[0], rewards, f"random-{seed}")


def garnet(
    S: int = 6, A: int = 2, H: int = 20, branching: int = 3, seed: int = 0, rewards: str = "deterministic"
) -> TabularMDP:
    """A random MDP that does not depend on the step (Garnet: Archibald et al., JORS 1995); s_1 = 0.

    Every pair leads to `branching` states, drawn without replacement, with probabilities cut by uniform points;
    r(s,a) is uniform on [0,1].

    Parameters
    ----------
    S : int
        States.
    A : int
        Actions.
    H : int
        Steps of an episode, at least 1.
    branching : int
        Next states of a pair, at most S.
    seed : int
        Of the draw.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem.

    Raises
    ------
    InputError
        If a number is out of range, or the MDP does not fit into this machine.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> mdp = dp.garnet(S=8, A=2, H=5, branching=3)
    >>> int((mdp.P[0, 0, 0] > 0).sum())
    3
    """
    _check_least(1, S=S, A=A)
    _check_room(H, S, A)
    whole("branching", branching, 1, S)
    _check_least(0, seed=seed)
    rng = np.random.default_rng(seed)
    P = np.zeros((S, A, S))
    for s, a in np.ndindex(S, A):
        cuts = np.concatenate([[0.0], np.sort(rng.random(branching - 1)), [1.0]])
        P[s, a, rng.choice(S, branching, replace=False)] = np.diff(cuts)
    return stationary_mdp(P, rng.random((S, A)), np.eye(1, S)[0], H, rewards, f"garnet-{seed}")


def hard_tree(
    depth: int = 1, A: int = 2, H: int = 20, gap: float = 0.25, rewards: str = "deterministic"
) -> TabularMDP:
    """A hard instance of the lower bound Ω(√(SAH²T)) (Domingues et al., ALT 2021, Section 3).

    s=0 waits (action 0, for the first H/3 steps) or enters an A-ary tree of the given depth. Leaves lead to a
    good state, which pays 1 at every step of the last part, or to a bad one, each with probability 1/2. At one
    leaf, for one action and at one moment, the good state has probability 1/2 + gap. Only that triple is better
    than the others, and there are (H/3)·A^(depth+1) to try.

    Parameters
    ----------
    depth : int
        Of the tree.
    A : int
        Actions.
    H : int
        Steps of an episode, at least 1.
    gap : float
        How much better the one triple is.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem.

    Raises
    ------
    InputError
        If a number is out of range, or the MDP does not fit into this machine.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> dp.hard_tree(depth=1, A=2, H=20).S
    6
    """
    check_number("gap", gap, lambda gap: 0.0 < gap <= 0.5, "a number in (0, 0.5]")
    _check_least(2, A=A)
    _check_least(1, depth=depth, H=H)
    waiting = max(1, H // 3)
    first_paid = waiting + depth + 1
    if first_paid >= H:
        raise InputError(f"H: {H} is not accepted; hard_tree of depth {depth} needs H > {first_paid}")
    _check_room(H, 10.0 ** min(depth * math.log10(A), 100.0), A, once=False)
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
    return TabularMDP(P, r, np.eye(S)[0], rewards, f"hard-tree-{depth}")


def from_file(path: str = "", rewards: str = "deterministic") -> TabularMDP:
    """The user's own MDP: an .npz file with arrays P (H,S,A,S), r (H,S,A) and initial (S,).

    Parameters
    ----------
    path : str
        The file.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem.

    Raises
    ------
    InputError
        If the file is not there, or its arrays are no MDP; the message names the first entry that is wrong.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> import tempfile, pathlib, numpy as np
    >>> mdp = dp.riverswim(S=3, H=4)
    >>> path = str(pathlib.Path(tempfile.mkdtemp()) / "river.npz")
    >>> np.savez(path, P=mdp.P, r=mdp.r, initial=mdp.initial)
    >>> dp.from_file(path).sha256 == mdp.sha256
    True
    """
    if not isinstance(path, str | os.PathLike):
        raise refused("path", path, "the name of an .npz")
    if not Path(path).is_file():
        raise InputError(f"path: no file {path!r}; it must be an .npz with P, r and initial")
    try:
        with np.load(path, allow_pickle=False) as data:
            P, r, initial = (data[key].astype(np.float64, casting="same_kind") for key in ("P", "r", "initial"))
    except Exception as error:  # a file can be wrong in more ways than can be listed
        raise InputError(f"path: {path!r} is not an .npz with P, r and initial ({one_line(error)})") from None
    return TabularMDP(P, r, initial, rewards, Path(path).stem)


def stationary_mdp(
    P: np.ndarray, r: np.ndarray, initial: np.ndarray, H: int, rewards: str, name: str
) -> TabularMDP:
    """The MDP whose every step has the same P[s,a,s'] and r[s,a]."""
    _check_room(H, *r.shape)
    return TabularMDP(np.broadcast_to(P, (H, *P.shape)), np.tile(r, (H, 1, 1)), initial, rewards, name)


def _check_room(H: int, S: float, A: int, once: bool = True) -> None:
    """Raise InputError if an MDP of these sizes, and what is made of it, does not fit into this machine.

    `once`: P is the same at every step, and stored once.
    """
    whole("H", H, 1)
    memory = 1e-9 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    size = 8e-9 * COPIES * float(S) * A * (float(S) * (1 if once else H) + H)
    if size > memory:
        sizes = f"H = {H:,.3g}, S = {S:,.3g}, A = {A:,.3g}"
        raise InputError(f"env: an MDP of {sizes} takes {size:,.3g} GB, this machine has {memory:,.3g}")


def _check_least(least: int, **values: int) -> None:
    for key, value in values.items():
        whole(key, value, least)


ENVIRONMENTS.add("riverswim", riverswim)
ENVIRONMENTS.add("chain", chain)
ENVIRONMENTS.add("six_arms", six_arms)
ENVIRONMENTS.add("grid_world", grid_world)
ENVIRONMENTS.add("random", random_mdp)
ENVIRONMENTS.add("garnet", garnet)
ENVIRONMENTS.add("hard_tree", hard_tree)
ENVIRONMENTS.add("flipping_river", flipping_river)
ENVIRONMENTS.add("alternating_river", alternating_river)
ENVIRONMENTS.add("drifting_river", drifting_river)
ENVIRONMENTS.add("hidden_shortcut", hidden_shortcut)
ENVIRONMENTS.add("file", from_file)
