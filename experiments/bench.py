"""How fast the compiled engine is, as ratios of processor time, written into paper/results/speed.md.

    python experiments/bench.py     about 5 minutes

A machine's speed varies from minute to minute: a ratio is that of the least times of rounds that measure both
sides one right after the other. Some are against `frozen_episode`, a kernel that never changes: a change that
makes the engine slower is seen there. Who exceeds a bar is named in the end, and the exit code is 1.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from typing import Any, NamedTuple

import numba
import numpy as np

import dpucbvi as dp
from dpucbvi.counts import counters
from dpucbvi.engine import fast
from dpucbvi.engine.compiled import compiled as compile_plain
from dpucbvi.engine.exact import ExactLaplace
from dpucbvi.mechanisms import Next, blt, kary
from dpucbvi.privacy.words import SeededWords, SystemWords, WordSource
from dpucbvi.protocol import Agent, Privatizer, Setup
from dpucbvi.simulate import set_up
from experiments.studies.artifact.appendix import with_parts

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 7
FROZEN_UCBVI, FROZEN_CENTRAL, FROZEN_POOLED = 1.5, 4.0, 1.15
RIVERSWIM = dp.riverswim()
# ε = 100 and these factors make DP-UCBVI learn within the run: most Q̃ leave H, most rows leave the LP's band,
# the policy keeps changing. It is the dearest regime; with the literal constants an episode costs less.
NOISE: dict[str, Any] = {"epsilon": 100.0, "confidence_scale": 0.001}
LEARNS, CENTRAL, LOCAL = dp.DPUCBVI(bonus_scale=0.001), dp.Central(**NOISE), dp.Local(**NOISE)


def compiled(
    agent: Agent = LEARNS,
    privatizer: Privatizer = CENTRAL,
    mdp: dp.TabularMDP = RIVERSWIM,
    K: int = 8_000,
    known_support: bool = False,
) -> Setup:
    """A run for the compiled engine, without LPs that cvxpy would solve again."""
    return set_up(mdp, agent, privatizer, K, lp_checks=0, known_support=known_support)


UCBVI = compiled(dp.UCBVI(bonus_scale=0.01), dp.NonPrivate())

# --- measurements, each in seconds of processor time ----------------------------------------------------------


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def an_episode(setup: Setup) -> Callable[[], float]:
    """Of a whole compiled run."""

    def measured() -> float:
        run = fast.start(setup, 0)
        return seconds(lambda: list(fast.run_chunks(run, 0))) / setup.problem.K

    return measured


def repeated(action: Callable[[], object], times: int) -> Callable[[], float]:
    """Of one of so many calls."""
    return lambda: seconds(lambda: [action() for _ in range(times)]) / times


def numpys_noise(size: int, draws: int = 1_000, gaussian: bool = False) -> Callable[[], float]:
    """Of numpy drawing one episode's noise."""
    rng = np.random.default_rng(0)
    one = rng.normal if gaussian else rng.laplace
    return repeated(lambda: one(0.0, 60.0, size), draws)


def a_releases_noise(setup: Setup, next_noise: Next, draws: int = 2_000) -> Callable[[], float]:
    """Of a compiled stream making the noise of one release."""
    compiled_noise = compile_plain(next_noise)

    def measured() -> float:
        state = fast.start(setup, 0).state
        return repeated(lambda: compiled_noise(state.mechanism, state.source), draws)()

    return measured


def an_exact_draw(words: WordSource, draws: int = 200_000) -> Callable[[], float]:
    """Of discrete Laplace noise of scale 60."""
    sampler = ExactLaplace(Fraction(60), words)
    return lambda: seconds(lambda: sampler.draw(draws)) / draws


def reference_with_cvxpy(episodes: int = 12) -> float:
    """Of an episode of the reference engine, its LPs through cvxpy in one problem."""

    def run() -> None:
        dp.run(RIVERSWIM, LEARNS, CENTRAL, K=episodes, engine="reference", postprocess="cvxpy")

    return seconds(run) / episodes


def numpys_ucbvi(episodes: int = 300) -> float:
    """Of an episode of UCBVI-BF written with whole-array numpy operations, a loop over h and over k."""
    mdp, c = UCBVI.mdp, UCBVI.constants
    H, S, A = mdp.r.shape
    N_sas, R = np.zeros((H, S, A, S)), np.zeros((H, S, A))
    Q, V = np.full((H, S, A), float(H)), np.zeros((H + 1, S))
    rng, steps = np.random.default_rng(0), np.arange(H)

    def episode() -> None:
        N = N_sas.sum(axis=-1)
        P, r = N_sas / np.maximum(N, 1)[..., None], np.clip(R / np.maximum(N, 1), 0, 1)
        N_state = np.append(N.sum(axis=-1)[1:], np.full((1, S), np.inf), axis=0)
        gap = np.minimum(c.gap / np.maximum(N_state, 1e-9), c.gap_most)
        for h in range(H - 1, -1, -1):
            mean, n = P[h] @ V[h + 1], np.maximum(N[h], 1)
            spread = (P[h] * (V[h + 1] - mean[..., None]) ** 2).sum(axis=-1)
            b = (
                np.sqrt(c.variance * spread / n)
                + c.correction / n
                + np.sqrt(c.next_value * (P[h] @ gap[h]) / n)
            )
            Q[h] = np.where(N[h] > 0, np.minimum(Q[h], r[h] + mean + c.scale * b), Q[h])
            V[h] = Q[h].max(axis=-1)
        pi = Q.argmax(axis=-1)
        u, s = rng.random((H,)), np.zeros(H + 1, dtype=np.int64)
        for h in range(H):
            cumulative = mdp.P[h, s[h], pi[h, s[h]]].cumsum()
            s[h + 1] = min(np.searchsorted(cumulative, u[h], side="right"), S - 1)
        a = pi[steps, s[:-1]]
        N_sas[steps, s[:-1], a, s[1:]] += 1
        R[steps, s[:-1], a] += mdp.r[steps, s[:-1], a]
        dp.policy_values(mdp, pi)

    return repeated(episode, episodes)()


@numba.njit(error_model="numpy")
def frozen_episode(
    N: np.ndarray, N_sas: np.ndarray, r: np.ndarray, P: np.ndarray, Q: np.ndarray, V: np.ndarray
) -> None:
    """Plan UCBVI-BF once on counts [h, row] and [s', h, row], then evaluate it: never to be changed."""
    H, rows = N.shape
    S = len(N_sas)
    p, mean, spread = np.zeros((S, rows)), np.zeros(rows), np.zeros(rows)
    for h in range(H - 1, -1, -1):
        mean[:] = 0.0
        spread[:] = 0.0
        for s in range(S):
            V_s = V[h + 1, s]
            for row in range(rows):
                p[s, row] = N_sas[s, h, row] / N[h, row]
                mean[row] += p[s, row] * V_s
        for s in range(S):
            V_s = V[h + 1, s]
            for row in range(rows):
                spread[row] += p[s, row] * ((V_s - mean[row]) * (V_s - mean[row]))
        for row in range(rows):
            n = N[h, row]
            b = np.sqrt(8.0 * spread[row] / n) + 14.0 / n + np.sqrt(8.0 / n)
            Q[h, row] = min(r[h, row] + mean[row] + 0.01 * b, float(H))
        for s in range(S):
            best = 0 if Q[h, 2 * s] >= Q[h, 2 * s + 1] else 1
            V[h, s] = r[h, 2 * s + best]
            for after in range(S):
                V[h, s] += P[s, best, after] * V[h + 1, after]


def frozen() -> Callable[[], float]:
    """Of `frozen_episode` at RiverSwim's size."""
    H, S, A = RIVERSWIM.r.shape
    rng = np.random.default_rng(0)
    N_sas = rng.random((S, H, S * A)) * 100.0
    arrays = N_sas.sum(axis=0), N_sas, rng.random((H, S * A)), np.array(RIVERSWIM.P[0])
    Q, V = np.zeros((H, S * A)), np.zeros((H + 1, S))
    return repeated(lambda: frozen_episode(*arrays, Q, V), 2_000)


# --- measurements in processes of their own -------------------------------------------------------------------


def printed_by(code: str, **environment: str) -> float:
    """The number that a process of its own prints."""
    command, env = [sys.executable, "-c", code], {**os.environ, **environment}
    return float(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=env).stdout)


def peak_megabytes(setup: str) -> float:
    """Peak resident memory of a process that makes one run."""
    return printed_by(
        f"import resource; from experiments import bench; bench.an_episode({setup})();"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )


LARGE = "bench.compiled(bench.dp.DPUCBVI(1e-7, pooled=True), bench.dp.Central(1e5, confidence_scale=1e-6), "
LARGE += "bench.dp.garnet(1_000, 2, 50, 3), 1_000, True)"


def memory_growth() -> float:
    """Peak memory of ten times the episodes."""
    return peak_megabytes("bench.compiled(K=1_000_000)") / peak_megabytes("bench.compiled(K=100_000)")


def large_milliseconds() -> float:
    """An episode of S = 1,000, H = 50, pooled, known support."""
    return printed_by(f"from experiments import bench; print(1e3 * bench.an_episode({LARGE})())")


def compiled_here_over_cached() -> float:
    """Local's episode over numpy's noise, where it was compiled / in a process that has it from the cache."""
    code = "from experiments import bench; print(bench.ratio(*bench.against_noise(privatizer=bench.LOCAL)))"
    with tempfile.TemporaryDirectory() as folder:
        here, cached = (printed_by(code, XDG_CACHE_HOME=folder) for _ in range(2))
    return here / cached


# --- all of them ----------------------------------------------------------------------------------------------


Time = Callable[[], float]
INF = float("inf")


class Figure(NamedTuple):
    """What is measured, and between which bars it should be."""

    what: str
    measure: Time
    bars: tuple[float, float] = (0.0, INF)


def ratio(above: Time, below: Time) -> float:
    """Of the least times, both sides by turns; one unmeasured round first, to compile."""
    above(), below()
    times = np.array([(above(), below()) for _ in range(ROUNDS)])
    return float(times[:, 0].min() / times[:, 1].min())


def per(what: str, above: Time, below: Time, bars: tuple[float, float] = (0.0, INF)) -> Figure:
    return Figure(what, lambda: ratio(above, below), bars)


def against_noise(agent: Agent = LEARNS, privatizer: Privatizer = CENTRAL) -> tuple[Time, Time]:
    """An episode, and numpy drawing its HSA(S+2) variates."""
    setup = compiled(agent, privatizer)
    return an_episode(setup), numpys_noise(counters(setup.G, setup.mdp.S, setup.mdp.A))


def against_numpys_stream(privatizer: Privatizer, next_noise: Next, gaussian: bool) -> tuple[Time, Time]:
    """The noise of a release, and numpy drawing as much; N(s,a) is not released."""
    setup = compiled(privatizer=privatizer)
    size = counters(setup.G, setup.mdp.S, setup.mdp.A) - setup.mdp.r.size
    return a_releases_noise(setup, next_noise), numpys_noise(size, gaussian=gaussian)


def a_counter(mdp: dp.TabularMDP) -> Time:
    """Of one counter in an episode of Central."""
    n = counters(*mdp.r.shape)
    episode = an_episode(compiled(mdp=mdp, K=40_000_000 // n))  # many: the first ones touch new memory
    return lambda: episode() / n


def figures() -> list[Figure]:
    """All of them. Bars on the frozen kernel are a fifth above what was measured."""
    central, ucbvi, kernel = an_episode(compiled()), an_episode(UCBVI), frozen()
    pooled = an_episode(compiled(dp.DPUCBVI(bonus_scale=0.001, pooled=True)))
    free, batches = (
        compiled(privatizer=dp.NonPrivate()),
        compiled(privatizer=dp.Batches(8.0, confidence_scale=0.001)),
    )
    S24, S96 = (dp.garnet(S, A=2, H=20, branching=3) for S in (24, 96))
    seeded, system = an_exact_draw(SeededWords(np.random.SeedSequence(0))), an_exact_draw(SystemWords())
    a_draw = numpys_noise(1_000)
    toeplitz = against_numpys_stream(dp.Toeplitz(**NOISE), blt.next_noise, True)
    tree = against_numpys_stream(dp.KaryTree(**NOISE), kary.next_noise, False)
    literal = against_noise(dp.DPUCBVI(), dp.Central(epsilon=1.0))
    known = an_episode(compiled(mdp=S96, known_support=True))
    return [
        per("a DP-UCBVI episode, Central / numpy drawing its noise", *against_noise(), (0.0, 1.0)),
        per("the same with the literal constants, ε = 1", *literal, (0.0, 1.0)),
        per("the same, Local", *against_noise(privatizer=LOCAL), (0.0, 1.0)),
        per("a UCBVI episode / the frozen kernel", ucbvi, kernel, (0.0, FROZEN_UCBVI)),
        per("a Central episode / the frozen kernel", central, kernel, (0.0, FROZEN_CENTRAL)),
        per("a pooled Central episode / the frozen kernel", pooled, kernel, (0.0, FROZEN_POOLED)),
        per("UCBVI in vectorised numpy / compiled", numpys_ucbvi, ucbvi, (100.0, INF)),
        per("the reference with cvxpy / compiled", reference_with_cvxpy, central, (5_000.0, INF)),
        per("an episode with batches / without privacy", an_episode(batches), an_episode(free), (0.0, 1.3)),
        per("the noise of a release, Toeplitz / numpy drawing as much", *toeplitz, (0.0, 1.3)),
        per("the same, k-ary tree", *tree, (0.0, 1.3)),
        per("an exact Laplace draw, seeded words / numpy's float draw", seeded, lambda: a_draw() / 1_000),
        per("the same, the operating system's words", system, lambda: a_draw() / 1_000),
        per(
            "growth of an episode when S doubles",
            an_episode(compiled(mdp=dp.riverswim(S=12))),
            central,
            (0.0, 4.0),
        ),
        per(
            "growth of an episode when H doubles",
            an_episode(compiled(mdp=dp.riverswim(H=40))),
            central,
            (0.0, 2.1),
        ),
        per("a counter at S = 96 / at S = 24", a_counter(S96), a_counter(S24), (0.0, 1.3)),
        per("all next states / a known support of 3, S = 96", an_episode(compiled(mdp=S96, K=20)), known),
        Figure("peak memory at K = 10⁶ / at K = 10⁵", memory_growth, (0.0, 1.1)),
        Figure(
            "S = 1,000, H = 50, pooled, known support: peak MB", lambda: peak_megabytes(LARGE), (0.0, 200.0)
        ),
        Figure("the same: milliseconds an episode", large_milliseconds, (0.0, 1.0)),
        Figure("Local where it was compiled / from the cache", compiled_here_over_cached, (0.0, 1.2)),
    ]


def main() -> None:
    rows, beyond = ["| ratio | measured | bar |", "|---|--:|--:|"], []
    for what, measure, (least, most) in figures():
        value = measure()
        bar = f"≥ {least:,g}" if least else f"≤ {most:g}" if most < INF else ""
        rows.append(f"| {what} | {f'{value:,.0f}' if value >= 100 else f'{value:.3g}'} | {bar} |")
        print(f"{value:12,.3f}  {bar:>8}  {what}", flush=True)
        beyond += [what] * (not least <= value <= most)
    page = ROOT / "paper" / "results" / "speed.md"
    when = f"Measured on {date.today()}: {platform.system()}, {platform.machine()}"
    page.write_text(with_parts(page.read_text("utf-8"), {"bench": "\n".join([when, "", *rows])}), "utf-8")
    print(f"written to {page.relative_to(ROOT)}")
    if beyond:
        sys.exit(f"beyond the bar: {'; '.join(beyond)}")


if __name__ == "__main__":
    main()
