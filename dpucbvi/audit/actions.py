"""The attack on actions: one user's data from the policies that the other users are shown.

Joint differential privacy (Definition 2.2) protects a user from all the others together, who see what is
recommended to them and nothing else. Here the whole algorithm runs, compiled; one user's trajectory is put in
her place by hand (all rewards 1, or all 0: her data, whatever she is shown), and the attacker sees every policy
shown to the others afterwards. That is at least as much as their actions. She knows no likelihood of it: a rule
is learned from trials, and how often each of the next policies was seen is counted.

The released counters tell more than any policy made from them. What this attack finds is a lower bound, of one
attack, at one size.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.audit.attack import Bounded, bounds_of
from dpucbvi.audit.scores import Score, count, learn
from dpucbvi.audit.trials import generators, on_tape
from dpucbvi.engine.boxes import box, boxed_callback
from dpucbvi.engine.fast import FastRun, Loop, start
from dpucbvi.engine.state import Memory
from dpucbvi.errors import InputError
from dpucbvi.mdp import uniforms_per_episode
from dpucbvi.privatizers import Batches
from dpucbvi.privatizers.arrays import is_exact
from dpucbvi.protocol import Floats, Ints, Setup

MOST_EPISODES = 200
LOOKED_AT = 12  # later policies that a rule is learned from, spread evenly
AT_ONCE = 5  # at most so many of the next policies are counted together


class Arrays(NamedTuple):
    """Everything that a trial sets back."""

    state: Any
    memory: Memory


def check(setup: Setup) -> None:
    """Raise InputError for what this attack is not made for."""
    if setup.certificate.model != "JDP":
        raise InputError("attack: actions is for JDP; under LDP every report is seen anyway")
    if is_exact(setup.privatizer):
        raise InputError("attack: actions takes simulated noise; it must be released")
    if getattr(setup.agent, "stochastic", False):
        raise InputError("attack: actions takes policies that choose one action per state")
    if setup.problem.K > MOST_EPISODES:
        raise InputError(f"K: {setup.problem.K} is not accepted; the attack on actions takes {MOST_EPISODES}")
    if setup.certificate.replace_one == 0.0:
        raise InputError("K: nothing is released before the last user; an audit needs a release")


def place(setup: Setup) -> int:
    """The user who is attacked, counted from 0: the first, whose data all later policies rest on."""
    return int(setup.privatizer.ends(setup.problem)[0]) - 1 if isinstance(setup.privatizer, Batches) else 0


def attack(setup: Setup, trials: int, rng: np.random.Generator) -> Bounded:
    """The lower bound on ε if the user is replaced, from the policies shown to all others."""
    check(setup)
    run = start(setup, 0)
    user = place(setup)

    def draw(which: int, n: int) -> Floats:
        seen = policies(run, user, (1.0, 0.0)[which], n, rng)[:, user + 1 :]
        return seen.reshape(n, -1)

    width = setup.problem.H * setup.problem.S  # of one policy

    def scores(one: Floats, other: Floats) -> list[list[Score]]:
        later = one.shape[1] // width
        first = [np.arange(n * width) for n in range(1, min(AT_ONCE, later) + 1)]
        some = np.unique(np.linspace(0, later - 1, LOOKED_AT).astype(np.int64))
        spread = (some[:, None] * width + np.arange(width)).ravel()
        return [[*(on_some(count, at, one, other) for at in first), on_some(learn, spread, one, other)]]

    return bounds_of(draw, scores, trials, setup.certificate.delta, False)[0]


def on_some(make: Callable[[Floats, Floats], Score], columns: Ints, one: Floats, other: Floats) -> Score:
    """A score of some of the policies."""
    score = make(one[:, columns], other[:, columns])
    return Score(f"{score.name} of policies", lambda seen: score(seen[:, columns]))


def policies(run: FastRun, user: int, reward: float, trials: int, rng: np.random.Generator) -> Floats:
    """The policy shown to every user of every trial, [trial, user, h·s]; that of the attacked user is 0."""
    H, S, _, K, *_ = run.setup.problem
    out = np.zeros((trials, K, H * S), dtype=np.int8)
    seen, width = np.zeros((K, H * S)), uniforms_per_episode(H)
    arrays = on_tape(Arrays(run.state, run.memory))
    run = run._replace(state=arrays.state.state, memory=arrays.state.memory)
    loop, hook = Loop(run), box(run.memory, user, reward, seen)
    loop.call_after_each_user(boxed_callback(look, hook), hook)
    private = run.private
    words, uniforms = generators(rng, trials, arrays), rng.random((trials, K, width), dtype=np.float64)
    for trial in range(trials):
        arrays.now[:] = arrays.blank
        for part in (private.flat, private.N_sa, private.N_sas, private.sd):
            part[:] = 0.0
        arrays.now[arrays.seeds] = words[trial]
        loop.run(uniforms[trial])
        out[trial] = seen
    return out.astype(np.float64)


def look(memory: Memory, user: int, reward: float, seen: Floats, k: int) -> int:
    """Keep the policy shown to user k, or put the attacked user's rewards in the place of those she met."""
    H, S = memory.pi.shape
    for h in range(H):
        if k - 1 == user:
            memory.r[h] = reward
        else:
            for s in range(S):
                seen[k - 1, h * S + s] = memory.pi[h, s]
    return 0
