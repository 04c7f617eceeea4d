"""Tabular MDPs as environments of gymnasium, so that agents written for that interface run on them."""

import re
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from dpucbvi.errors import InputError, check_flag, extra, refused
from dpucbvi.mdp import TabularMDP, draw


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
        The environment. If its observation tells all that P and r depend on, it also has the table `P[s][a]`
        and `initial_state_distrib` of gymnasium's toy-text environments, which `from_gymnasium` reads.

    Raises
    ------
    InputError
        If `mdp` is no TabularMDP, `with_step` is not True, False or None, or gymnasium is not installed.

    See Also
    --------
    from_gymnasium : The way back, from a table of gymnasium to an MDP.

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
            self.initial_state_distrib = np.zeros(self.observation_space.n)
            self.initial_state_distrib[: mdp.S] = mdp.initial

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

        @cached_property
        def P(self) -> dict[int, Any]:
            if not (self.with_step or self.mdp.stationary):
                raise AttributeError("P: it depends on the step, which is not observed")
            return _table(self.mdp, self.mdp.H if self.with_step else 0)

    return TabularEnv


def _table(mdp: TabularMDP, H: int) -> dict[int, Any]:
    """P[s][a] = [(probability, s', mean reward, ends)]; s is h·S + s for the steps below H, or s if H = 0."""
    S, table = mdp.S, {}
    for h in range(max(H, 1)):
        for s in range(S):
            after = (h + 1) * S if H else 0
            table[h * S + s] = {
                a: [
                    (float(mdp.P[h, s, a, i]), int(after + i), float(mdp.r[h, s, a]), h + 1 == H)
                    for i in np.flatnonzero(mdp.P[h, s, a])
                ]
                for a in range(mdp.A)
            }
    over = {H * S + s: {a: [(1.0, H * S + s, 0.0, True)] for a in range(mdp.A)} for s in range(S)}
    return {**table, **over} if H else table
