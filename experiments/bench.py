"""How fast the compiled engine is, as ratios measured in one process; written to results/bench.json.

    python experiments/bench.py            about 2 minutes on 2 cores
    python experiments/bench.py --no-exp   without (g), the whole +exp=riverswim job

A machine's speed varies from minute to minute, so each ratio is the median of rounds that time both sides one
right after the other.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import argparse
import json
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import dpucbvi as dp
from dpucbvi.counts import counters
from dpucbvi.engine import fast
from dpucbvi.engine.exact import ExactLaplace
from dpucbvi.engine.kernel import run_episodes
from dpucbvi.engine.releases import kary_tree, toeplitz
from dpucbvi.privatizers.words import SeededWords, SystemWords, WordSource
from dpucbvi.projection import CvxpyPostprocess
from dpucbvi.protocol import Agent, Privatizer, Setup
from dpucbvi.simulate import set_up
from experiments.lab.store import Store

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 7
WORKERS = 2  # as runtime.workers has it
RIVERSWIM = dp.riverswim()
# ε = 100 and these factors make DP-UCBVI learn within the run: most Q̃ leave H, most rows leave the LP's band,
# the policy keeps changing. It is the dearest regime; with the literal constants an episode costs less.
LEARNS = dp.DPUCBVI(bonus_scale=0.001)
CENTRAL = dp.Central(epsilon=100.0, confidence_scale=0.001)
LOCAL = dp.Local(epsilon=100.0, confidence_scale=0.001)
BATCHES = dp.Batches(epsilon=8.0, confidence_scale=0.001)
KARY = dp.KaryTree(epsilon=100.0, confidence_scale=0.001)
TOEPLITZ = dp.Toeplitz(epsilon=100.0, confidence_scale=0.001)


def compiled(
    agent: Agent = LEARNS,
    privatizer: Privatizer = CENTRAL,
    mdp: dp.TabularMDP = RIVERSWIM,
    K: int = 8_000,
    known_support: bool = False,
) -> Setup:
    """A run for the compiled engine, without LPs that cvxpy would solve again."""
    return set_up(mdp, agent, privatizer, K, lp_checks=0, known_support=known_support)


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def episode_seconds(setup: Setup) -> float:
    """Seconds per episode of a whole compiled run (after compilation)."""
    run = fast.start(setup, 0)
    return seconds(lambda: list(fast.run_chunks(run, 0))) / setup.problem.K


def numpy_noise_seconds(size: int, draws: int = 1_000, gaussian: bool = False) -> float:
    """Seconds that numpy takes to draw one episode's noise."""
    rng = np.random.default_rng(0)
    one = rng.normal if gaussian else rng.laplace

    def draw() -> None:
        for _ in range(draws):
            one(0.0, 60.0, size)

    return seconds(draw) / draws


def noise_seconds(setup: Setup, next_noise: Callable[[Any], object], draws: int = 2_000) -> float:
    """Seconds that a compiled stream takes for the noise of one release."""
    state = fast.start(setup, 0).state

    def draw() -> None:
        for _ in range(draws):
            next_noise(state)

    return seconds(draw) / draws


def exact_seconds(words: WordSource, draws: int = 200_000) -> float:
    """Seconds per exact draw, discrete Laplace of scale 60."""
    sampler = ExactLaplace(Fraction(60), words)
    return seconds(lambda: sampler.draw(draws)) / draws


def ratio(above: Callable[[], float], below: Callable[[], float]) -> float:
    """The median over rounds of above/below, each round timing both; one unmeasured round first, to compile."""
    above(), below()
    return float(np.median([above() / below() for _ in range(ROUNDS)]))


def against_numpy(words: WordSource) -> float:
    """The time of an exact draw over that of numpy's Laplace draw."""
    return ratio(lambda: exact_seconds(words), lambda: numpy_noise_seconds(1_920) / 1_920)


def against_noise(setup: Setup) -> float:
    """An episode's time over the time numpy takes to draw its HSA(S+2) variates."""
    size = counters(setup.G, setup.mdp.S, setup.mdp.A)
    return ratio(lambda: episode_seconds(setup), lambda: numpy_noise_seconds(size))


def vectorised_ucbvi_seconds(setup: Setup, episodes: int = 300) -> float:
    """Seconds per episode of UCBVI-BF written with whole-array numpy operations, a loop over h and over k."""
    mdp, c = setup.mdp, setup.constants
    H, S, A = mdp.r.shape
    N_sas, R = np.zeros((H, S, A, S)), np.zeros((H, S, A))
    Q, V, V_star = np.full((H, S, A), float(H)), np.zeros((H + 1, S)), dp.optimal_values(mdp)[0][0]
    rng, steps, regret = np.random.default_rng(0), np.arange(H), 0.0

    def episode() -> float:
        N = N_sas.sum(axis=-1)
        P, r = N_sas / np.maximum(N, 1)[..., None], np.clip(R / np.maximum(N, 1), 0, 1)
        N_state = np.append(N.sum(axis=-1)[1:], np.full((1, S), np.inf), axis=0)
        gap = np.minimum(c.gap / np.maximum(N_state, 1e-9), c.gap_most)
        for h in range(H - 1, -1, -1):
            mean = P[h] @ V[h + 1]
            spread = (P[h] * (V[h + 1] - mean[..., None]) ** 2).sum(axis=-1)
            n = np.maximum(N[h], 1)
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
        return float(V_star[0] - dp.policy_values(mdp, pi)[0, 0])

    def run() -> None:
        nonlocal regret
        for _ in range(episodes):
            regret += episode()

    return seconds(run) / episodes


def reference_cvxpy_seconds(episodes: int = 12) -> float:
    """Seconds per episode of the reference engine with the LPs through cvxpy."""

    def run() -> None:
        dp.run(RIVERSWIM, LEARNS, CENTRAL, K=episodes, engine="reference", postprocess="cvxpy")

    return seconds(run) / episodes


def single_lps_seconds() -> float:
    """Seconds of one episode's 240 LPs through cvxpy, one small problem after another."""
    rows, S = RIVERSWIM.r.size, RIVERSWIM.S
    rng, one = np.random.default_rng(0), CvxpyPostprocess(canonical=False)
    y, n = rng.laplace(5.0, 20.0, (rows, S)), rng.laplace(30.0, 20.0, rows)
    return seconds(lambda: [one.solve(y[i : i + 1], n[i : i + 1], 5.0) for i in range(rows)])


def growth(factor: str) -> float:
    """By how much an episode's time (for K: a run's time) grows when S, H or K doubles."""
    small = compiled(K=4_000)
    large = {
        "S": compiled(mdp=dp.riverswim(S=12), K=4_000),
        "H": compiled(mdp=dp.riverswim(H=40), K=4_000),
        "K": compiled(K=8_000),
    }[factor]
    return ratio(lambda: run_seconds(large), lambda: run_seconds(small))


def support_gain(mdp: dp.TabularMDP) -> float:
    """By how much an episode is shorter if only possible transitions are counted."""
    K = 4_000_000 // counters(*mdp.r.shape)
    every, possible = compiled(mdp=mdp, K=K), compiled(mdp=mdp, K=10 * K, known_support=True)
    return ratio(lambda: episode_seconds(every), lambda: episode_seconds(possible))


def run_seconds(setup: Setup) -> float:
    return episode_seconds(setup) * setup.problem.K


def peak_megabytes(K: int) -> float:
    """Peak resident memory of a process that makes one run of K episodes."""
    return printed_by(
        "import resource; from experiments import bench;"
        f"bench.episode_seconds(bench.compiled(K={K}));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )


def printed_by(code: str, **environment: str) -> float:
    """The number that a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    return float(done.stdout)


def compiled_here_over_cached() -> float:
    """Local's episode in the process that compiled it / in one that has it from the cache.

    Each is measured against numpy's noise: between the two a machine may have become slower.
    """
    code = "from experiments import bench; print(bench.against_noise(bench.compiled(privatizer=bench.LOCAL)))"
    with tempfile.TemporaryDirectory() as folder:
        here, cached = (printed_by(code, XDG_CACHE_HOME=folder) for _ in range(2))
    return here / cached


def cache_condition() -> str:
    """Whether what was measured in this process came from the cache of compiled code."""
    stats = run_episodes.stats
    cached, compiled = sum(stats.cache_hits.values()), sum(stats.cache_misses.values())
    return f"{cached} of {cached + compiled} kernels came from the cache, {compiled} were compiled here"


def experiment_seconds() -> tuple[float, float]:
    """Wall time of the whole +exp=riverswim job into an empty folder, and its floor.

    The floor is the time numpy takes to draw the noise of all private runs, shared by the cores.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "experiments/run.py", "+exp=riverswim", f"runtime.results={folder}"]
        wall = seconds(lambda: subprocess.run(command, capture_output=True, check=True, cwd=ROOT))
        runs = [run for arm in Store(Path(folder)).load_experiment("riverswim").arms for run in arm.runs]
    floor = 0.0
    for run in runs:
        if run.certificate.model != "none":
            H, S, A = run.trace.Q.shape
            size = counters(1 if run.config["agent"]["pooled"] else H, S, A)
            floor += run.config["K"] * numpy_noise_seconds(size, 200)
    return wall, floor / WORKERS


def measure(with_experiment: bool) -> dict[str, object]:
    figures: dict[str, object] = {}
    learning, literal = compiled(), compiled(dp.DPUCBVI(), dp.Central(epsilon=1.0))
    ucbvi = compiled(dp.UCBVI(bonus_scale=0.01), dp.NonPrivate())

    def put(key: str, value: float, text: str) -> None:
        figures[key] = {"value": round(value, 4), "what": text}
        print(f"{value:12.2f}  {key:24s} {text}", flush=True)

    put(
        "a_central",
        against_noise(learning),
        "(a) DP-UCBVI Central episode / numpy drawing its noise, at most 1",
    )
    put("a_central_literal", against_noise(literal), "    the same with the literal constants, ε = 1")
    put(
        "b_local",
        against_noise(compiled(privatizer=LOCAL)),
        "(b) DP-UCBVI Local episode / numpy drawing its noise, at most 1",
    )
    put(
        "c_numpy",
        ratio(lambda: vectorised_ucbvi_seconds(ucbvi), lambda: episode_seconds(ucbvi)),
        "(c) UCBVI in vectorised numpy / compiled, at least 100",
    )
    put(
        "d_reference_cvxpy",
        ratio(reference_cvxpy_seconds, lambda: episode_seconds(learning)),
        "(d) reference with cvxpy, an episode's LPs in one problem / compiled, at least 5000",
    )
    put(
        "d_single_lps",
        ratio(single_lps_seconds, lambda: episode_seconds(learning)),
        "    an episode's LPs one by one through cvxpy / whole compiled episode",
    )
    free = compiled(privatizer=dp.NonPrivate())
    put(
        "h_batches",
        ratio(lambda: episode_seconds(compiled(privatizer=BATCHES)), lambda: episode_seconds(free)),
        "(h) DP-UCBVI episode with batches / without privacy, at most 1.3",
    )
    for key, privatizer, next_noise, gaussian in (
        ("i_toeplitz", TOEPLITZ, toeplitz.next_noise, True),
        ("i_kary", KARY, kary_tree.next_noise, False),
    ):
        setup = compiled(privatizer=privatizer)
        size = counters(setup.G, setup.mdp.S, setup.mdp.A) - setup.mdp.r.size  # N(s,a) is not released

        def numpys(size: int = size, gaussian: bool = gaussian) -> float:
            return numpy_noise_seconds(size, gaussian=gaussian)

        def ours(setup: Setup = setup, next_noise: Callable[[Any], object] = next_noise) -> float:
            return noise_seconds(setup, next_noise)

        name = type(privatizer).__name__
        put(key, ratio(ours, numpys), f"(i) noise of a release, {name} / numpy drawing as much, at most 1.3")
    for letter, most in (("S", 4), ("H", 2), ("K", 2)):
        put(f"e_{letter}", growth(letter), f"(e) growth when {letter} doubles, at most {most}")
    for mdp in (*(dp.garnet(S, A=2, H=20, branching=3) for S in (24, 48, 96)), dp.grid_world(7, 7)):
        what = f"{mdp.name}, S = {mdp.S}, A = {mdp.A}"
        put(f"j_{mdp.name}_{mdp.S}", support_gain(mdp), f"(j) all next states / known support, {what}")
    put(
        "k_cache",
        compiled_here_over_cached(),
        "(k) DP-UCBVI Local episode where it was compiled / from the cache, at most 1.2",
    )
    small, large = peak_megabytes(100_000), peak_megabytes(1_000_000)
    put("f_memory", large / small, f"(f) peak memory, K = 10^6 / K = 10^5 ({small:.0f} MB), at most 1.1")
    for key, words, whose in (
        ("seeded", SeededWords(np.random.SeedSequence(0)), "seeded words"),
        ("system", SystemWords(), "the operating system's words"),
    ):
        put(f"h_exact_{key}", against_numpy(words), f"(h) exact Laplace draws, {whose} / numpy's float draws")
    if with_experiment:
        wall, floor = experiment_seconds()
        put("g_floor", wall / floor, f"(g) +exp=riverswim ({wall:.0f} s) / numpy's drawing of its noise")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-exp", action="store_true", help="leave out (g), the whole +exp=riverswim job")
    figures = measure(not parser.parse_args().no_exp)
    target = ROOT / "results" / "bench.json"
    target.parent.mkdir(exist_ok=True)
    told = {"machine": platform.platform(), "rounds": ROUNDS, "cache": cache_condition(), "figures": figures}
    target.write_text(json.dumps(told, indent=2))
    print(told["cache"])
    print(f"written to {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
