"""Environments of gymnasium that have a transition table as tabular MDPs, and tabular MDPs as its environments.

The toy-text environments (FrozenLake, Taxi, CliffWalking) hold P[s][a] = [(probability, s', reward, ends)]. An
episode here has exactly H steps, so a state in which one of theirs ends becomes absorbing and pays their 0.
Rewards are mapped to [0, 1] by r = (reward - low)/(high - low), low and high being the least and the largest of
the table and 0: the same for every step, absorbing ones too, so policies keep their order and a regret of 1 is
a loss of high - low. `reward_range` of the MDP keeps (low, high).
"""

import re
from functools import cache, partial
from typing import Any

import numpy as np

from dpucbvi.environments import ENVIRONMENTS, stationary_mdp
from dpucbvi.errors import InputError, check_flag, extra, one_line, refused
from dpucbvi.mdp import TabularMDP, draw


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
    to_gymnasium : From an MDP to an environment of gymnasium.

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


# --- the way back ---------------------------------------------------------------------------------------------


def to_gymnasium(mdp: TabularMDP, with_step: bool | None = None) -> Any:
    """Wrap an MDP as an environment of gymnasium whose episodes have H steps.

    The last of the H steps returns `terminated`: no reward follows, so an agent must not bootstrap from there.
    Nothing is ever truncated. Rewards are drawn as the MDP draws them, and `info` has the step h, from 0 to H.
    The best policy depends on h even if P and r do not; an agent that keeps no step of its own reaches V* only
    with `with_step=True`. Nothing here is private: the agent sees every user.

    Parameters
    ----------
    mdp : TabularMDP
        The problem. Its `reward_range` is left aside: rewards are in [0, 1].
    with_step : bool, optional
        False: the observation is the state s, in Discrete(S). True: it is h·S + s, in Discrete((H+1)·S), and
        `divmod(observation, S)` gives (h, s) back. Without a choice it is True if P or r depends on h, where s
        alone would hide a part of the state.

    Returns
    -------
    gymnasium.Env
        The environment.

    Raises
    ------
    InputError
        If `mdp` is no TabularMDP, `with_step` is not True, False or None, or gymnasium is not installed.

    See Also
    --------
    from_gymnasium : From a table of gymnasium to an MDP.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> env = dp.to_gymnasium(dp.riverswim(S=6, H=20))
    >>> state, info = env.reset(seed=0)
    >>> state, reward, terminated, truncated, info = env.step(1)
    >>> env.observation_space, info["h"], terminated
    (Discrete(6), 1, False)
    """
    if not isinstance(mdp, TabularMDP):
        raise InputError(f"mdp: {type(mdp).__name__} is not accepted; it must be a TabularMDP")
    if with_step is not None:
        check_flag("with_step", with_step)
    with extra("gymnasium", "to_gymnasium"):
        return _environment()(mdp, not mdp.stationary if with_step is None else with_step)


@cache
def _environment() -> type:
    """The class of the environments; made here, because gymnasium may be missing."""
    import gymnasium
    from gymnasium.envs.registration import EnvSpec

    class TabularEnv(gymnasium.Env):
        metadata = {"render_modes": []}  # noqa: RUF012  (as gymnasium declares it)

        def __init__(self, mdp: TabularMDP, with_step: bool) -> None:
            self.mdp, self.with_step = mdp, with_step
            self.observation_space = gymnasium.spaces.Discrete((mdp.H + 1) * mdp.S if with_step else mdp.S)
            self.action_space = gymnasium.spaces.Discrete(mdp.A)
            self.h, self.s = mdp.H, 0  # over, until it is reset
            name = re.sub(r"[^\w.-]+", "-", mdp.name) or "mdp"
            self.spec = EnvSpec(f"dpucbvi/{name}-v0", partial(to_gymnasium, mdp, with_step))

        def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[int, dict[str, Any]]:
            super().reset(seed=seed)
            self.h, self.s = 0, draw(self.mdp.initial, self.np_random.random())
            return self._observation(), {"h": 0}

        def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
            mdp, h, s = self.mdp, self.h, self.s
            if h == mdp.H:
                raise gymnasium.error.ResetNeeded("the episode is over: call reset()")
            if not self.action_space.contains(action):
                raise refused("action", action, f"an integer from 0 to {mdp.A - 1}")
            u_state, u_reward = self.np_random.random(2)
            mean = mdp.r[h, s, action]
            reward = mean if mdp.rewards == "deterministic" else u_reward < mean
            self.h, self.s = h + 1, draw(mdp.P[h, s, action], u_state)
            return self._observation(), float(reward), self.h == mdp.H, False, {"h": self.h}

        def _observation(self) -> int:
            return self.h * self.mdp.S + self.s if self.with_step else self.s

    return TabularEnv


ENVIRONMENTS.add("gymnasium", from_gymnasium)
