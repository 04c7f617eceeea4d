"""The fast engine: the compiled loop in chunks, and a check of its LPs by cvxpy.

Memory does not grow with K: the trace has a fixed number of points and uniforms are drawn chunk by chunk.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.agents.own import OwnAgent, checked_plan
from dpucbvi.agents.plans import Counted, Values, first_values
from dpucbvi.counts import FAMILIES, Rounding, counters, shape_of, zero_counts
from dpucbvi.engine.boxes import Box, box, boxed_callback
from dpucbvi.engine.compiled import cacheable, is_the_packages
from dpucbvi.engine.exact import compiled_draws
from dpucbvi.engine.kernel import Parts, release_of, run_episodes
from dpucbvi.engine.lp_check import LpSample
from dpucbvi.engine.own import (
    CALLS,
    Checked,
    Part,
    own_name,
    planner_part,
    planning,
    python_release,
)
from dpucbvi.engine.projection import Rows
from dpucbvi.engine.state import (
    EPISODE,
    FALLBACKS,
    RELEASED,
    Memory,
    Private,
    Processing,
    Record,
    World,
)
from dpucbvi.errors import InputError
from dpucbvi.mdp import Trajectory, uniforms_per_episode
from dpucbvi.planning import optimal_values
from dpucbvi.privacy.laplace import privacy_stream, seed_stream
from dpucbvi.privatizers.arrays import AddedNoise, check_policy, has_take, is_exact, take_of
from dpucbvi.projection import band
from dpucbvi.protocol import Counts, Episode, Floats, Ints, Noisy, Plan, Setup
from dpucbvi.trace import Trace, recorded_episodes

CHUNK_COUNTERS = 20_000_000  # counters updated in one call, which Ctrl-C waits for: some 0.2 s
CHUNK_MOST = 8192


class FastRun(NamedTuple):
    """A run's fixed data and its arrays."""

    setup: Setup
    world: World
    state: Any  # of the release; one of one's own, if that is not made of arrays
    private: Private
    memory: Memory
    record: Record
    sample: LpSample


def run_fast(setup: Setup, seed: int, watch: Callable[[int, Plan, Counts], object] | None = None) -> Trace:
    """One run, whose every plan and counts are given to `watch`."""
    run = start(setup, seed)
    loop = Loop(run)
    if watch is None:
        for _ in run_chunks(run, seed, loop=loop):
            pass
    else:
        for k, plan, counts, _, _ in episodes(run, seed, loop):
            watch(k, plan, counts)
    return trace(run, loop.report)


def trace(run: FastRun, own_parts: str = "") -> Trace:
    """What a finished run leaves behind; its sample of LPs is solved by cvxpy here."""
    setup, record = run.setup, run.record
    return Trace(
        record.episodes[:-1],
        record.regret,
        record.changes,
        record.fallbacks,
        run.memory.N_visits,
        run.memory.Q.reshape(setup.mdp.r.shape),
        {**run.sample.check(setup.noise.E), **({"own_parts": own_parts} if own_parts else {})},
        setup.certificate,
        setup.noise.scale,
        setup.noise.E,
        policy=run.memory.pi.copy(),
    )


def start(setup: Setup, seed: int) -> FastRun:
    """The state before the first episode [Alg.1 L2]."""
    (H, S, A), K, mdp = setup.mdp.r.shape, setup.problem.K, setup.mdp
    D = setup.problem.next_states
    private, ceiling = no_counts(setup), first_Q(setup)
    values = first_values(ceiling, S, A, policy_is_random(setup))
    return FastRun(
        setup,
        World(*mdp.positive, mdp.r, mdp.initial, optimal_values(mdp)[0][0], mdp.rewards == "bernoulli"),
        first_state(setup, seed),
        private,
        Memory(
            Q=values.Q,
            ceiling=np.zeros(0) if getattr(setup.agent, "minimum", True) else ceiling,
            V=values.V,
            pi=values.pi,
            last_pi=values.pi.copy(),
            V_pi=np.zeros((H + 1, S)),
            s=np.zeros(H + 1, dtype=np.int64),
            a=np.zeros(H, dtype=np.int64),
            r=np.zeros(H),
            place=np.zeros(H, dtype=np.int64),
            rounding=Rounding.start(setup.privatizer.families, H, seed),
            N_visits=np.zeros((H, S, A)),
            tally=np.zeros(6, dtype=np.int64),
            total=np.zeros(1),
        ),
        Record.empty(recorded_episodes(K, setup.trace_points)),
        LpSample.empty(setup.lp_checks if setup.postprocess == "closed_form" else 0, D, K),
    )


class Loop:
    """The compiled loop of a run with its plan and its release, which may be of one's own (own.py)."""

    def __init__(self, run: FastRun):
        self._run, self._plan, self._release = run, plan_part(run), release_part(run)
        self._processing, self._lazy = processing(run.setup), getattr(run.setup.agent, "lazy", False)
        self._rows = Rows.empty()
        self._hook = Part(0)
        self._boxed_for: tuple[Parts, tuple[int, ...]] | None = None
        self._run_episodes = boxed_callback(run_episodes, self._box(np.zeros((0, 0)))).ctypes

    def _box(self, uniforms: Floats) -> Box:
        run, parts = self._run, (self._plan, self._release, self._hook)
        addresses = Parts(*(word for part in parts for word in (part.address, part.box_address)))
        if self._boxed_for != (addresses, uniforms.shape):  # else it is the last box, with other numbers in it
            self._boxed_for, self._uniforms = (addresses, uniforms.shape), np.empty(uniforms.shape)
            steps = (self._processing, self._lazy, run.private)
            self._boxed = box(run.world, addresses, *steps, run.memory, run.record, self._uniforms, self._rows)
        self._uniforms[:] = uniforms
        return self._boxed

    @property
    def settled(self) -> bool:
        return self._plan.settled and self._release.settled

    @property
    def report(self) -> str:
        """What of one's own ran how; empty for a run of the package's parts."""
        return "; ".join(part.report for part in (self._plan, self._release) if part.report is not None)

    def call_after_each_user(self, function: Any, arguments: Box) -> None:
        """Let this C function look at every user, before her data is released."""
        self._hook = Part(function.address, arguments)

    def run(self, uniforms: Floats) -> None:
        """One episode per row of `uniforms`."""
        arguments, (K, tally) = self._box(uniforms), (self._run.setup.problem.K, self._run.memory.tally)
        if self._run_episodes(arguments.address, K) < 0:
            for part in (self._plan, self._release):
                part.fail(int(tally[EPISODE]))
            raise RuntimeError("a part of the run failed compiled, and not in Python")
        for part, array in ((self._plan, self._run.memory.Q), (self._release, self._run.private.flat)):
            if part.report is not None and not np.isfinite(array).all():
                raise InputError(f"{part.report.partition(':')[0]}: it gave numbers that are not finite")
            part.settle()


def plan_part(run: FastRun) -> Part:
    agent, memory, counts = run.setup.agent, run.memory, by_step(run.setup, run.private)
    values = Values(memory.Q, memory.V, memory.pi)
    if isinstance(agent, OwnAgent):
        return planner_part(run.setup, ((), counts, values))
    plan = agent.plan  # type: ignore[attr-defined]
    name = None if cacheable(plan) else own_name(agent)
    return _part(planning(plan), (run.setup.constants, counts, values), name)


def release_part(run: FastRun) -> Part:
    privatizer: Any = run.setup.privatizer
    if not has_take(privatizer):
        return python_release(run.setup, run.state, run.memory, run.private)
    arguments = (run.state, run.memory, Noisy(run.private.flat, run.private.sd), _after(run.setup))
    take = take_of(privatizer)
    name = None if is_the_packages(take) else f"the privatizer {type(privatizer).__name__}"
    return _part(release_of(take), arguments, name)


def _part(plain: Callable[..., int], arguments: tuple[Any, ...], own: str | None) -> Part:
    """A plain function compiled; one of one's own, which has a name, is compared with Python first."""
    if own is not None:
        return Checked(plain, plain, arguments, own)
    boxed = box(*arguments)
    return Part(boxed_callback(plain, boxed).address, boxed)


def first_state(setup: Setup, seed: int) -> Any:
    """The state of the release before the first user."""
    privatizer, start = setup.privatizer, (setup.problem, setup.G, privacy_stream(setup, seed))
    if not has_take(privatizer):
        return privatizer.release(*start)
    check_policy(privatizer, policy_is_random(setup))
    drawn = (compiled_draws,) if is_exact(privatizer) and isinstance(privatizer, AddedNoise) else ()
    return privatizer.start(*start, *drawn)  # type: ignore[attr-defined]


def first_Q(setup: Setup) -> Floats:
    """Q⁰ of every step; nobody reads that of a planner."""
    H = setup.problem.H
    return np.full(H, float(H)) if isinstance(setup.agent, OwnAgent) else setup.agent.ceiling(H)  # type: ignore[attr-defined]


def policy_is_random(setup: Setup) -> bool:
    """Whether the agent's policies are probabilities; of a planner's first plan, if it is one."""
    if not isinstance(setup.agent, OwnAgent):
        return setup.agent.stochastic  # type: ignore[attr-defined]
    assert setup.agent.planner is not None
    made = setup.agent.planner(zero_counts(setup.G, setup.problem.S, setup.problem.A))
    return checked_plan(made, 1, setup.mdp).pi.ndim == 3


def processed(setup: Setup) -> bool:
    return setup.postprocess != "none"


def processing(setup: Setup) -> Processing:
    """What happens between N̂ and Ñ."""
    families, E = FAMILIES[setup.privatizer.families], setup.noise.E
    known = setup.mdp.r[: setup.G].ravel() if setup.known_rewards else np.zeros(0)
    w = band(E, str(setup.postprocess))
    counted = families.summed, families.centred, families.joint
    return Processing(E, processed(setup), w, setup.zero, *counted, known)


def no_counts(setup: Setup) -> Private:
    G, S, A, cells = shape_of(setup.problem, setup.G, setup.privatizer.families)
    rows, flat = G * S * A, np.zeros(counters(G, S, A, cells))
    N_hat_sa, N_hat_sas, R = np.split(flat, [rows, rows * (1 + cells)])
    hat = (N_hat_sa, N_hat_sas.reshape(cells, rows)[: setup.problem.next_states])
    tilde = (np.zeros_like(hat[0]), np.zeros_like(hat[1])) if processed(setup) else hat
    return Private(flat, *hat, R, *tilde, np.zeros(rows))


def by_step(setup: Setup, private: Private) -> Counted:
    """The private counts as a plan reads them: the same arrays."""
    G, S, A, D = setup.problem.shape(setup.G)
    N_sa, N_sas, R = private.N_sa, private.N_sas, private.R
    return Counted(N_sa.reshape(G, S * A), N_sas.reshape(D, G, S * A), R.reshape(G, S * A), _after(setup))


def copied_counts(setup: Setup, private: Private) -> Counts:
    """A copy of the private counts in the shapes of the package."""
    G, S, A, D = setup.problem.shape(setup.G)
    N_sas = np.moveaxis(private.N_sas.reshape(D, G, S, A), 0, -1)
    N_sas = N_sas.copy() if setup.support is None else setup.support.spread(N_sas)
    return Counts(private.N_sa.reshape(G, S, A).copy(), N_sas, private.R.reshape(G, S, A).copy())


def _after(setup: Setup) -> Ints:
    if setup.support is None:
        return np.zeros(0, dtype=np.int64)
    G, S, A, D = setup.support.next.shape
    return np.ascontiguousarray(np.moveaxis(setup.support.next.reshape(G, S * A, D), -1, 1))


def run_chunks(run: FastRun, seed: int, most: int | None = None, loop: Loop | None = None) -> Iterator[int]:
    """Go on to the end, chunk by chunk of at most `most` episodes; yields how many each had."""
    setup, tally, K = run.setup, run.memory.tally, run.setup.problem.K
    width, D = uniforms_per_episode(setup.mdp.H), setup.problem.next_states
    uniforms = _uniforms(seed, int(tally[EPISODE]) * width)
    chunk = max(1, min(CHUNK_MOST, CHUNK_COUNTERS // run.private.flat.size, *[] if most is None else [most]))
    loop = Loop(run) if loop is None else loop
    while (done := int(tally[EPISODE])) < K:
        ahead = run.sample.moments[run.sample.moments > done]
        stop = min(done + (chunk if loop.settled else min(chunk, CALLS)), K, *ahead[:1])
        loop.run(uniforms.random((stop - done, width)))
        if stop in ahead[:1] and tally[RELEASED]:
            x = run.private.N_sas - setup.noise.E / (2 * D)  # without the shift of Eq.5
            run.sample.take(stop, seed, run.private.N_hat_sa, run.private.N_hat_sas, x)
        yield stop - done


def _uniforms(seed: int, drawn: int) -> np.random.Generator:
    """The environment's stream after so many uniforms: one step of PCG64 each."""
    environment = np.random.PCG64(seed_stream(seed, "environment"))
    environment.advance(drawn)
    return np.random.Generator(environment)


def episodes(run: FastRun, seed: int, loop: Loop | None = None) -> Iterator[Episode]:
    """The run episode by episode, each with the counts it was planned on, for `watch`."""
    setup, (H, S, A) = run.setup, run.setup.mdp.r.shape
    chunks = run_chunks(run, seed, 1, loop)
    while (k := int(run.memory.tally[EPISODE]) + 1) <= setup.problem.K:
        counts, fallbacks = copied_counts(setup, run.private), int(run.memory.tally[FALLBACKS])
        next(chunks)
        memory = run.memory
        plan = Plan(memory.pi.copy(), memory.Q.reshape(H, S, A).copy(), memory.V.copy())
        trajectory = Trajectory(memory.s.copy(), memory.a.copy(), memory.r.copy())
        yield Episode(k, plan, counts, trajectory, fallbacks)
