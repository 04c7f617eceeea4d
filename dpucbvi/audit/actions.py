"""The attack on actions: one user's data from the policies that the other users are shown.

Joint differential privacy (Definition 2.2) protects a user from all the others together, who see what is
recommended to them and nothing else. Here the whole algorithm runs, compiled; one user's trajectory is put in
her place by hand (all rewards 1, or all 0: her data, whatever she is shown), and the attacker sees every policy
shown to the others afterwards. That is at least as much as their actions. She knows no likelihood of it: a rule
is learned from trials, and how often each of the next policies was seen is counted.

The released counters tell more than any policy made from them. What this attack finds is a lower bound, of one
attack, at one size.
"""

from typing import Any, NamedTuple

import numpy as np

from dpucbvi.audit.attack import Verdict, verdict
from dpucbvi.audit.drive import Tape, generators, on_tape
from dpucbvi.audit.released import is_gaussian, only_drawn_on_the_way
from dpucbvi.audit.scores import Score, count, learn
from dpucbvi.engine.compiled import jit
from dpucbvi.engine.fast import FastRun, processing, start
from dpucbvi.engine.kernel import deploy, process
from dpucbvi.engine.plans import plan
from dpucbvi.engine.projection import Rows
from dpucbvi.engine.releases import release
from dpucbvi.engine.state import Memory, Private, Processing, World
from dpucbvi.engine.twins import PLANS
from dpucbvi.errors import InputError
from dpucbvi.mdp import uniforms_per_episode
from dpucbvi.privatizers import Batches
from dpucbvi.privatizers.laplace import Words
from dpucbvi.protocol import Floats, Ints, Setup

MOST_EPISODES = 200
LOOKED_AT = 12  # later policies that a rule is learned from, spread evenly
AT_ONCE = 5  # at most so many of the next policies are counted together


class Arrays(NamedTuple):
    """Everything that a trial sets back."""

    state: Tape
    memory: Tape


def check(setup: Setup) -> None:
    """Raise InputError for what this attack is not made for."""
    if setup.certificate.model != "JDP":
        raise InputError("attack: actions is for JDP; under LDP every report is seen anyway")
    only_drawn_on_the_way(setup, "actions")
    if PLANS[type(setup.agent)].stochastic:
        raise InputError("attack: actions takes policies that choose one action per state")
    if setup.problem.K > MOST_EPISODES:
        raise InputError(f"K: {setup.problem.K} is not accepted; the attack on actions takes {MOST_EPISODES}")
    if setup.certificate.replace_one == 0.0:
        raise InputError("K: nothing is released before the last user; an audit needs a release")


def place(setup: Setup) -> int:
    """The user who is attacked, counted from 0: the first, whose data all later policies rest on."""
    return int(setup.privatizer.ends(setup.problem)[0]) - 1 if isinstance(setup.privatizer, Batches) else 0


def attack(setup: Setup, trials: int, rng: np.random.Generator) -> Verdict:
    """The lower bound on ε if the user is replaced, from the policies shown to all others."""
    check(setup)
    run = start(setup, 0)
    arrays = Arrays(on_tape(run.state), on_tape(run.memory))
    user = place(setup)

    def draw(which: int, n: int) -> Floats:
        return policies(run, arrays, user, (1.0, 0.0)[which], n, rng)[:, user + 1 :]

    def scores(one: Floats, other: Floats) -> list[Score]:
        later = one.shape[1]
        counted = [count(one, other, slice(0, n)) for n in range(1, min(AT_ONCE, later) + 1)]
        some = np.unique(np.linspace(0, later - 1, LOOKED_AT).astype(np.int64))
        return [*(score._replace(name="frequencies of policies") for score in counted), _Some(some, one, other)]

    return verdict(draw, scores, trials, setup.certificate.delta, is_gaussian(setup))


class _Some:
    """The learned rule on some of the policies."""

    def __init__(self, rows: Ints, one: Floats, other: Floats):
        self.rows, self.name = rows, "learned rule on policies"
        self._rule = learn(one[:, rows], other[:, rows])

    def __call__(self, seen: Floats) -> Floats:
        return self._rule(seen[:, self.rows])


def policies(
    run: FastRun, arrays: Arrays, user: int, reward: float, trials: int, rng: np.random.Generator
) -> Floats:
    """The policy shown to every user of every trial, [trial, user, h·s]; that of the attacked user is 0."""
    setup = run.setup
    H, S, _, K, *_ = setup.problem
    steps = processing(setup)
    out = np.zeros((trials, K, H * S), dtype=np.int8)
    width = uniforms_per_episode(H)
    play(
        run.world,
        setup.constants,
        arrays.state.state,
        arrays.state.now,
        arrays.state.blank,
        steps,
        PLANS[type(setup.agent)].lazy,
        run.private,
        arrays.memory.state,
        arrays.memory.now,
        arrays.memory.blank,
        run.scratch,
        Rows.empty(run.private.N_sa.size),
        generators(rng, trials),
        rng.random((trials, K, width), dtype=np.float64),
        user,
        reward,
        out,
    )
    return out.astype(np.float64)


@jit
def play(
    world: World,
    constants: Any,
    state: Any,
    state_now: Words,
    state_blank: Words,
    processing: Processing,
    lazy: bool,
    private: Private,
    memory: Memory,
    memory_now: Words,
    memory_blank: Words,
    scratch: Any,
    rows: Rows,
    generators: Words,
    uniforms: Floats,
    user: int,
    reward: float,
    out: Any,
) -> None:
    """Algorithm 1's loop (engine/kernel.py) with one user's rewards replaced and every policy kept."""
    K = uniforms.shape[1]
    for trial in range(out.shape[0]):
        state_now[:] = state_blank
        memory_now[:] = memory_blank
        private.flat[:] = 0.0
        private.N_sa[:] = 0.0
        private.N_sas[:] = 0.0
        private.sd[:] = 0.0
        state.generator[:] = generators[trial]
        new = True
        for k in range(K):
            if new or not lazy:
                if memory.ceiling.size > 0:  # no minimum with the last Q [D32]
                    memory.Q[:] = memory.ceiling
                plan(constants, private, memory, scratch)
            new = False
            deploy(world, memory, uniforms[trial, k])
            if k == user:
                memory.r[:] = reward
            else:
                i = 0
                for h in range(memory.pi.shape[0]):
                    for s in range(memory.pi.shape[1]):
                        out[trial, k, i] = memory.pi[h, s]
                        i += 1
            if k + 1 < K and release(state, k + 1, memory, private):
                new = True
                process(processing, private, rows)
