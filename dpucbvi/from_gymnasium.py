"""Environments of gymnasium that have a transition table, as tabular MDPs.

The toy-text environments (FrozenLake, Taxi, CliffWalking) hold P[s][a] = [(probability, s', reward, ends)]. An
episode here has exactly H steps, so a state in which one of theirs ends becomes absorbing and pays their 0.
Rewards are mapped to [0, 1] by r = (reward - low)/(high - low), low and high being the least and the largest of
the table and 0: the same for every step, absorbing ones too, so policies keep their order and a regret of 1 is
a loss of high - low. `reward_range` of the MDP keeps (low, high).
"""

from typing import Any

import numpy as np

from dpucbvi.environments import ENVIRONMENTS, stationary_mdp
from dpucbvi.errors import InputError, extra, one_line
from dpucbvi.mdp import TabularMDP


def from_gymnasium(id: str, H: int, rewards: str = "deterministic") -> TabularMDP:
    """Read the table of an environment of gymnasium as an MDP with H steps.

    r(s,a) is the mean over s' of the reward, mapped to [0, 1]; states in which episodes end become absorbing.

    Parameters
    ----------
    id : str or gymnasium.Env
        Its id, such as FrozenLake-v1, or the environment itself.
    H : int
        Steps of an episode, at least 1.
    rewards : str
        `deterministic`: r(s,a) is paid as it is. `bernoulli`: a coin with that mean is paid.

    Returns
    -------
    TabularMDP
        The problem; its `reward_range` says what the rewards 0 and 1 stand for.

    Raises
    ------
    InputError
        If gymnasium is not installed, there is no such environment, or it has no table or pays nothing.

    See Also
    --------
    to_gymnasium : The way back.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> mdp = dp.from_gymnasium("FrozenLake-v1", H=30)
    >>> mdp.S, mdp.A, mdp.reward_range
    (16, 4, (0.0, 1.0))
    """
    env: Any = _made(id) if isinstance(id, str) else id
    if not hasattr(env, "unwrapped"):
        raise InputError(
            f"id: {type(env).__name__} is not accepted; it must be an id or an environment of gymnasium"
        )
    table, initial = (getattr(env.unwrapped, key, None) for key in ("P", "initial_state_distrib"))
    name = env.spec.id if getattr(env, "spec", None) else type(env.unwrapped).__name__
    if table is None or initial is None:
        raise InputError(f"id: {name} has no transition table; FrozenLake, Taxi and CliffWalking have")
    try:
        P, paid, ends = _arrays(table)
        initial = np.asarray(initial, dtype=np.float64)
    except (TypeError, ValueError, LookupError) as error:
        raise InputError(f"id: the transition table of {name} cannot be read ({one_line(error)})") from None
    if P.size == 0 or initial.shape != (len(P),) or not initial.sum() > 0.0:
        raise InputError(f"id: the table of {name} has no states, or its first states are not among them")
    low, high = min(paid.min(), 0.0), max(paid.max(), 0.0)
    if low == high:
        raise InputError(f"id: {name} pays nothing, so every policy is as good as any other")
    P, paid, initial = _absorbing(P, paid, ends, initial)
    r = ((P * (paid - low) / (high - low)).sum(axis=-1)).clip(0.0, 1.0)
    made = stationary_mdp(P, r, initial / initial.sum(), H, rewards, name)
    return TabularMDP(made.P, made.r, made.initial, rewards, name, (float(low), float(high)))


def _made(id: str) -> Any:
    with extra("gymnasium", "from_gymnasium"):
        import gymnasium
    try:
        return gymnasium.make(id)
    except (gymnasium.error.Error, ImportError) as error:  # the latter for a module named before a colon
        raise InputError(f"id: {id!r} is no environment of gymnasium ({error})") from None


def _arrays(table: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P[s,a,s'], the mean reward of that transition, and the probability that it ends the episode."""
    S, A = len(table), len(table[0])
    P, paid, ends = np.zeros((3, S, A, S))
    for s in range(S):
        for a in range(A):
            for probability, s_next, reward, terminated in table[s][a]:
                if not 0 <= s_next < S:
                    raise ValueError(f"state {s} leads to {s_next}, and there are {S}")
                P[s, a, s_next] += probability
                paid[s, a, s_next] += probability * reward
                ends[s, a, s_next] += probability * terminated
    return P, np.divide(paid, P, out=np.zeros_like(paid), where=P > 0), ends


def _absorbing(
    P: np.ndarray, paid: np.ndarray, ends: np.ndarray, initial: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The states in which episodes end made absorbing, for 0; or one more, if some can also go on there."""
    S = len(P)
    last, goes_on = ends.any(axis=(0, 1)), initial > 0
    while not np.array_equal(more := goes_on | (P - ends > 1e-12)[goes_on].any(axis=(0, 1)), goes_on):
        goes_on = more
    if (last & goes_on).any():
        P, paid, ends = (np.pad(x, ((0, 1), (0, 0), (0, 1))) for x in (P, paid, ends))
        sent = ends.sum(axis=-1)
        mean = np.divide((ends * paid).sum(axis=-1), sent, out=np.zeros_like(sent), where=sent > 0)
        P, paid[..., S], initial = P - ends, mean, np.append(initial, 0.0)
        P[..., S] = sent
        last = np.arange(S + 1) == S
    P[last], paid[last] = 0.0, 0.0
    P[last, :, last] = 1.0
    return P, paid, initial


ENVIRONMENTS.add("gymnasium", from_gymnasium)
