"""How fast the compiled engine is, as ratios of processor time, written into paper/results/speed.md.

    python experiments/bench.py     about 80 seconds of processor time, twice that if it has to compile

A machine's speed varies from minute to minute. Every round therefore measures both sides of a ratio one right
after the other, and the least time of each side counts. Some ratios are against `frozen_episode`, a kernel that
never changes, and show whether the engine became slower. Ratios beyond their bar are named at the end, and the
exit code is then 1.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import numba
import numpy as np

import dpucbvi as dp
from dpucbvi.counts import counters
from dpucbvi.engine import fast
from dpucbvi.engine.compiled import compiled
from dpucbvi.engine.projection import Rows, closed_form
from dpucbvi.projection import CvxpyPostprocess
from dpucbvi.simulate import set_up
from experiments.lab.process import parser
from experiments.studies.artifact.appendix import with_parts

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 9
RIVERSWIM = dp.riverswim()
# ε = 100 and these factors make DP-UCBVI learn within the run: most Q̃ leave H, most rows leave the LP's band,
# the policy keeps changing. It is the dearest regime; with the literal constants an episode costs less.
NOISE: dict[str, Any] = {"epsilon": 100.0, "confidence_scale": 0.001}
LEARNS, POOLED = dp.DPUCBVI(bonus_scale=0.001), dp.DPUCBVI(bonus_scale=0.001, pooled=True)
CENTRAL, BATCHES = dp.Central(**NOISE), dp.Batches(8.0, confidence_scale=0.001)

Time = Callable[[], float]  # seconds of processor time


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def repeated(action: Callable[[], object], times: int) -> Time:
    """Of one of so many calls."""
    return lambda: seconds(lambda: [action() for _ in range(times)]) / times


def episode(
    privatizer: Any = CENTRAL, agent: Any = LEARNS, mdp: dp.TabularMDP = RIVERSWIM, K: int = 4_000
) -> Time:
    """Of an episode of a whole compiled run, after its set-up."""
    setup = set_up(mdp, agent, privatizer, K, lp_checks=0)

    def measured() -> float:
        run = fast.start(setup, 0)
        loop = fast.Loop(run)
        return seconds(lambda: list(fast.run_chunks(run, 0, loop=loop))) / K

    return measured


def exact(privatizer: Any, agent: Any = LEARNS) -> Time:
    """With noise to publish."""
    return episode(replace(privatizer, noise="exact"), agent)


def counter(S: int) -> Time:
    """Of one counter in an episode of Central, whose mean is over many: the first ones touch new memory."""
    n = counters(20, S, 2)
    whole = episode(mdp=dp.garnet(S, A=2, H=20, branching=3), K=40_000_000 // n)
    return lambda: whole() / n


compiled_form = compiled(closed_form)


def lps() -> tuple[Time, Time, Time]:
    """Of an episode's LPs: in closed form, as one problem of cvxpy, and as one problem each."""
    rng, (rows, S) = np.random.default_rng(0), (RIVERSWIM.r.size, RIVERSWIM.S)
    y, n, w = rng.laplace(5.0, 20.0, (rows, S)), rng.laplace(30.0, 20.0, rows), 5.0
    by_cvxpy, alone = (CvxpyPostprocess(canonical=False) for _ in range(2))
    ours, times = numba.njit(solved), 2_000
    arguments = n, np.ascontiguousarray(y.T), 4 * w, w, np.zeros(rows), np.zeros((S, rows)), Rows.empty()
    return (
        lambda: seconds(lambda: ours(times, *arguments)) / times,
        repeated(lambda: by_cvxpy.solve(y, n, w), 5),
        lambda: rows * repeated(lambda: alone.solve(y[:1], n[:1], w), 20)(),
    )


def solved(times: int, *arguments: Any) -> None:
    for _ in range(times):
        compiled_form(*arguments)


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


def frozen() -> Time:
    """Of `frozen_episode` at RiverSwim's size."""
    H, S, A = RIVERSWIM.r.shape
    rng = np.random.default_rng(0)
    N_sas = rng.random((S, H, S * A)) * 100.0
    arrays = N_sas.sum(axis=0), N_sas, rng.random((H, S * A)), np.array(RIVERSWIM.P[0])
    Q, V = np.zeros((H, S * A)), np.zeros((H + 1, S))
    return repeated(lambda: frozen_episode(*arrays, Q, V), 2_000)


LARGE = """
import re, time
import dpucbvi as dp
from dpucbvi.engine import fast
from dpucbvi.simulate import set_up
agent, privatizer = dp.DPUCBVI(1e-7, pooled=True), dp.Central(1e5, confidence_scale=1e-6)
mdp = dp.garnet(1_000, 2, 50, 3)
run = fast.start(set_up(mdp, agent, privatizer, 1_000, lp_checks=0, known_support=True), 0)
loop, start = fast.Loop(run), time.process_time()
for _ in fast.run_chunks(run, 0, loop=loop): pass
seconds, status = time.process_time() - start, open("/proc/self/status").read()
print(seconds, int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 1024)  # ru_maxrss may be the parent's
"""


def large() -> list[float]:
    """Milliseconds an episode and peak MB of a run of 1,000 episodes, in a process that need not compile."""
    command = [sys.executable, "-c", LARGE]
    for _ in range(2):
        made = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return [float(number) for number in made.stdout.split()]


def ratios() -> list[tuple[str, Time, Time, float]]:
    """What is measured, above and below, and its bar: with the frozen kernel, a fifth above what it was."""
    size, kernel, rng = counters(*RIVERSWIM.r.shape), frozen(), np.random.default_rng(0)
    noise = repeated(lambda: rng.laplace(0.0, 60.0, size), 1_000)
    closed, together, alone = lps()
    ucbvi = episode(dp.NonPrivate(), dp.UCBVI(bonus_scale=0.01))
    return [
        ("a UCBVI episode / the frozen kernel", ucbvi, kernel, 1.5),
        ("a Central episode / the frozen kernel", episode(), kernel, 4.0),
        ("a pooled Central episode / the frozen kernel", episode(agent=POOLED), kernel, 1.15),
        ("a Central episode / numpy drawing its noise", episode(), noise, 1.0),
        ("an episode with batches / without privacy", episode(BATCHES), episode(dp.NonPrivate()), 1.3),
        ("exact noise / simulated, Central", exact(CENTRAL), episode(), 6.0),
        ("the same, Central, pooled", exact(CENTRAL, POOLED), episode(agent=POOLED), 3.0),
        ("the same, batches", exact(BATCHES), episode(BATCHES), 3.0),
        ("an episode's LPs, in closed form / one by one by cvxpy", closed, alone, 1 / 5_000),
        ("the same / all in one problem of cvxpy", closed, together, 1 / 5_000),
        ("an episode of S = 12 / of S = 6", episode(mdp=dp.riverswim(S=12)), episode(), 4.0),
        ("an episode of H = 40 / of H = 20", episode(mdp=dp.riverswim(H=40)), episode(), 2.1),
        ("a counter at S = 96 / at S = 24", counter(96), counter(24), 1.3),
    ]


def ratio(above: Time, below: Time) -> float:
    """Of the least times, both sides by turns; one unmeasured round first, to compile."""
    above(), below()
    times = np.array([(above(), below()) for _ in range(ROUNDS)])
    return float(times[:, 0].min() / times[:, 1].min())


def shown(value: float) -> str:
    return f"{value:.3g}" if value > 0.01 else f"1/{1 / value:,.0f}"


def main() -> None:
    parser(__doc__).parse_args()
    rows, beyond = ["| ratio | measured | bar |", "|---|--:|--:|"], []

    def add(what: str, value: float, most: float) -> None:
        rows.append(f"| {what} | {shown(value)} | ≤ {shown(most)} |")
        print(f"{shown(value):>9} ≤ {shown(most):8} {what}", flush=True)
        beyond.extend([what] * (value > most))

    for what, above, below, most in ratios():
        add(what, ratio(above, below), most)
    milliseconds, megabytes = large()
    add("S = 1,000, H = 50, pooled, known support: milliseconds an episode", milliseconds, 1.0)
    add("the same: peak MB", megabytes, 200.0)
    page = ROOT / "paper" / "results" / "speed.md"
    when = f"Measured on {date.today()}: {platform.system()}, {platform.machine()}"
    page.write_text(with_parts(page.read_text("utf-8"), {"bench": "\n".join([when, "", *rows])}), "utf-8")
    print(f"written to {page.relative_to(ROOT)}")
    if beyond:
        sys.exit(f"beyond the bar: {'; '.join(beyond)}")


if __name__ == "__main__":
    main()
