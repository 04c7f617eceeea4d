"""The fast engine: the compiled loop in chunks, with progress, checkpoints and a check of its LPs by cvxpy.

Memory does not grow with K: the trace has a fixed number of points and uniforms are drawn chunk by chunk.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from dpucbvi.baselines.private_ucb_po import PrivateUcbPoConstants
from dpucbvi.binary_mechanism import levels
from dpucbvi.confidence import counters
from dpucbvi.engine.compiled import SOURCES
from dpucbvi.engine.kernel import run_episodes
from dpucbvi.engine.lp_check import LpSample
from dpucbvi.engine.projection import Rows
from dpucbvi.engine.release import CentralState, LocalState, NonPrivateState
from dpucbvi.engine.state import EPISODE, Memory, Private, Record, World
from dpucbvi.factory import Setup
from dpucbvi.mdp import Floats, Ints, uniforms_per_episode
from dpucbvi.noise import LaplaceStream, seed_stream
from dpucbvi.planning import optimal_values
from dpucbvi.trace import Trace, recorded_episodes

CHECKPOINT_SECONDS = 60.0
CHUNK_COUNTERS = 20_000_000  # counters updated between two looks at the clock: some 0.2 s
CHUNK_MOST = 8192


class FastRun(NamedTuple):
    """A run's fixed data and its arrays."""

    setup: Setup
    world: World
    state: Any
    private: Private
    memory: Memory
    record: Record
    sample: LpSample

    def arrays(self) -> dict[str, np.ndarray]:
        """All that changes during the run, by name: what a checkpoint holds."""
        parts: dict[str, Any] = {
            "state": self.state,
            "private": self.private,
            "memory": self.memory,
            "record": self.record,
            "sample": self.sample,
        }
        return {
            f"{name}.{key}": value
            for name, part in parts.items()
            for key, value in part._asdict().items()
            if isinstance(value, np.ndarray)
        }


def run_fast(setup: Setup, seed: int, progress: Callable[[int], None], checkpoint: Path | None = None) -> Trace:
    """One run from its first episode, or from its checkpoint if there is one."""
    run = start(setup, seed)
    if checkpoint is not None and checkpoint.is_file():
        run = resume(run, checkpoint) or start(setup, seed)
        progress(int(run.memory.tally[EPISODE]))
    saved = time.monotonic()
    for done in run_chunks(run, seed):
        progress(done)
        if checkpoint is not None and time.monotonic() - saved > CHECKPOINT_SECONDS:
            save_checkpoint(run, checkpoint)
            saved = time.monotonic()
    return Trace(
        run.record.episodes[:-1],
        run.record.regret,
        run.record.changes,
        run.record.fallbacks,
        run.memory.N_visits,
        run.memory.Q.reshape(setup.mdp.r.shape),
        run.sample.check(setup.E),
    )


def start(setup: Setup, seed: int) -> FastRun:
    """The state before the first episode [Alg.1 L2]."""
    (H, S, A), K, G = setup.mdp.r.shape, setup.problem.K, setup.G
    pairs = S * A
    flat = np.zeros(counters(G, S, A))
    N_hat_sa, N_hat_sas, R = np.split(flat, [G * pairs, G * pairs * (1 + S)])
    hat = (N_hat_sa.reshape(G, pairs), N_hat_sas.reshape(S, G, pairs))
    processed = setup.config.postprocess.name != "none"
    tilde = (np.zeros_like(hat[0]), np.zeros_like(hat[1])) if processed else hat
    episodes = recorded_episodes(K, setup.config.trace_points)
    V_star = optimal_values(setup.mdp)[0][0]
    checks = setup.config.engine.lp_checks if processed else 0
    return FastRun(
        setup,
        World(setup.mdp.P, setup.mdp.r, setup.mdp.initial, V_star, setup.mdp.rewards == "bernoulli"),
        _release_state(setup, seed, flat.size),
        Private(flat, *hat, R.reshape(G, pairs), *tilde),
        Memory(
            Q=np.full((H, pairs), float(H)),
            V=np.zeros((H + 1, S)),
            pi=_first_policy(setup),
            V_pi=np.zeros((H + 1, S)),
            sigma=np.zeros(flat.size),
            cells=np.zeros(3 * H, dtype=np.int64),
            N_visits=np.zeros((H, S, A)),
            tally=np.zeros(4, dtype=np.int64),
            total=np.zeros(1),
            P=np.zeros((S, pairs)),
            mean=np.zeros(pairs),
            spread=np.zeros(pairs),
            gap_mean=np.zeros(pairs),
            gap=np.zeros(S),
            apart=np.zeros(pairs),
            middle=np.zeros(pairs),
        ),
        Record(
            np.append(episodes, 0),  # a last entry that no episode equals
            np.zeros(len(episodes)),
            np.zeros(len(episodes), dtype=np.int64),
            np.zeros(len(episodes), dtype=np.int64),
        ),
        LpSample.empty(checks or 0, S, K),
    )


def run_chunks(run: FastRun, seed: int) -> Iterator[int]:
    """Go on to the end, chunk by chunk; yields how many episodes each had."""
    setup, tally, K = run.setup, run.memory.tally, run.setup.problem.K
    width, S = uniforms_per_episode(setup.mdp.H), setup.mdp.S
    environment = np.random.PCG64(seed_stream(seed, "environment"))
    environment.advance(int(tally[EPISODE]) * width)  # one step of PCG64 per uniform
    uniforms = np.random.Generator(environment)
    chunk = max(1, min(CHUNK_MOST, CHUNK_COUNTERS // run.private.flat.size))
    rows = Rows.empty(run.private.N_sa.size)
    while (done := int(tally[EPISODE])) < K:
        ahead = run.sample.moments[run.sample.moments > done]
        stop = min(done + chunk, K, *ahead[:1])
        run_episodes(
            run.world,
            setup.constants,
            run.state,
            setup.E,
            setup.config.postprocess.name != "none",
            run.private,
            run.memory,
            run.record,
            uniforms.random((stop - done, width)),
            K,
            rows,
        )
        if stop in ahead[:1]:
            x = run.private.N_sas - setup.E / (2 * S)  # without the shift of Eq.5
            run.sample.take(stop, seed, run.private.N_hat_sa, run.private.N_hat_sas, x)
        yield stop - done


def save_checkpoint(run: FastRun, path: Path) -> None:
    """All arrays of the run in one file, complete or not there at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez(file, sources=np.array(SOURCES), **run.arrays())  # type: ignore[arg-type]
    os.replace(partial, path)


def resume(run: FastRun, path: Path) -> FastRun | None:
    """The run as its checkpoint has it; None if the file is damaged or was written by other code."""
    try:
        with np.load(path, allow_pickle=False) as saved:
            if str(saved["sources"]) != SOURCES:
                return None
            for name, array in run.arrays().items():
                array[...] = saved[name]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    return run


def _first_policy(setup: Setup) -> Ints | Floats:
    """Actions, or for Private-UCB-PO the uniform probabilities."""
    H, S, A = setup.mdp.r.shape
    if isinstance(setup.constants, PrivateUcbPoConstants):
        return np.full((H, S, A), 1.0 / A)
    return np.zeros((H, S), dtype=np.int64)


def _release_state(setup: Setup, seed: int, size: int) -> NonPrivateState | CentralState | LocalState:
    total = np.zeros(size)
    if setup.config.privatizer.name == "non_private":
        return NonPrivateState(total)
    generator = LaplaceStream(seed_stream(seed, "privacy")).state()
    words = np.zeros(size, dtype=np.uint64)
    if setup.config.privatizer.name == "local":
        return LocalState(total, generator, words, setup.noise_scale)
    noise = np.zeros((levels(setup.problem.K), size))
    return CentralState(total, noise, generator, words, setup.noise_scale)
