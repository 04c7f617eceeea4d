"""The constants as printed: which Q ever leaves H, and how many episodes it would take.

How many episodes until the literal bonus says anything: the least K at which it is below a given level.

Line 7's bonus at a cell that every episode visits, before the last step, with Ṽ_{h+1} constant (no variance)
and every count as large as Assumption 3.1 lets it be (Ñ_h(s,a) = K + E, Ñ_{h+1}(s') = K + A·E; KH for K if
pooled):

    b(K) = √(2ι/Ñ) + 20HSEι/Ñ + 4√(ι min{...}/Ñ),      ι and E being those of K

No cell before the last step has a smaller one, so a K below the result is too few for all of them. It is a
fixed point in K: ι grows like log K, E like (log K)² under JDP and like √K under LDP. Within 2ⁿ⁻¹ < K ≤ 2ⁿ the
tree has n levels and b falls with K; at 2ⁿ + 1 a level more lifts it, so the search goes from power to power.
"""

from bisect import bisect_left
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import dpucbvi as dp
from dpucbvi.bonus import BernsteinConstants, bernstein_bonus, next_value_gap
from dpucbvi.drawing.style import DOTTED, MARKER, QUIET, SMALL
from dpucbvi.privacy.certificate import at_most
from dpucbvi.protocol import Floats, Setup
from dpucbvi.simulate import set_up
from experiments.lab.assemble import environment, without_checksum
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Study
from experiments.studies.shared.style import PRIVACY, new_panels

EXACT = "exact"  # the panel of the arms that must agree
DRAWN = None  # the panel of the arms at the size of Figure 1
LEVELS = {1: "o", 10: "D"}  # b < H and b < H/10, and how they are marked
PRIVATE = tuple(kind(epsilon) for kind in (dp.Central, dp.Local) for epsilon in (1.0, 10.0, 100.0))
MOST_LEVELS = 62  # counts stay 64-bit integers
SHIFTS = {False: -0.17, True: 0.17}  # counts per step above, pooled below


def draw(experiment: StoredExperiment) -> Figure:
    """What has been learned at the end of the runs, step by step; then the episodes needed."""
    check_literal(experiment)
    check_engines_agree(experiment)
    arms = [arm for arm in experiment.arms if arm.panel is DRAWN]
    figure, (upper, lower) = new_panels([2.4, 2.5])
    _draw_learned(upper, arms)
    _draw_needed(lower, arms[0])
    return figure


def learned(arm: StoredArm) -> Floats:
    """For every step the share of pairs (s,a) whose final Q is below its greatest value, over all runs.

    That value is H, and H-h+1 for Private-UCB-VI, which cuts there. For the others Q never grows, so a final Q
    of H has been H in every episode.
    """
    H = len(arm.runs[0].trace.Q)
    remaining = arm.config["agent"]["name"] == "private_ucb_vi"
    most = np.arange(H, 0, -1.0) if remaining else np.full(H, float(H))
    return np.mean([run.trace.Q < most[:, None, None] for run in arm.runs], axis=(0, 2, 3))


def check_engines_agree(experiment: StoredExperiment) -> None:
    """The exact arms went through different code and have the same episodes, regrets and Q, bit for bit."""
    exact = [arm for arm in experiment.arms if arm.panel == EXACT]
    for arm in exact[1:]:
        for run, first in zip(arm.runs, exact[0].runs, strict=True):
            assert np.array_equal(run.trace.regret, first.trace.regret), f"{arm.key}: another regret"
            assert np.array_equal(run.trace.Q, first.trace.Q), f"{arm.key}: another Q"


def _draw_learned(axes: Axes, arms: list[StoredArm]) -> None:
    shares = np.array([learned(arm) for arm in arms])
    H = shares.shape[1]
    steps = (0.5, H + 0.5)
    # Grey, for no privacy is meant; the palest is for 0, so that a row is seen.
    axes.imshow(shares, aspect="auto", cmap="Greys", vmin=-0.08, vmax=1, extent=(*steps, len(arms) - 0.5, -0.5))
    for y in np.arange(len(arms) - 1) + 0.5:
        axes.axhline(y, color="white", linewidth=3)
    for row, share in enumerate(shares):
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL}
        if not share.any():
            axes.text(H / 2 + 0.5, row, "none, at any step", color=QUIET, **style)
        else:
            first, last = np.flatnonzero(share)[0] + 1, 100 * share[-1]
            axes.text(1.0, row, f"$h\\geq{first}$", **{**style, "ha": "left"})
            axes.text(H + 0.3, row, f"{last:.0f}%", color="white", **{**style, "ha": "right"})
    axes.set_yticks(range(len(arms)), [_name(arm) for arm in arms])
    axes.tick_params(axis="y", length=0, labelcolor="black")
    axes.set_xlabel("step $h$")
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.set_title(f"share of $(s,a)$ with $\\tilde Q_h<H$ at $K$ = {arms[0].K:,}", loc="right")


def _draw_needed(axes: Axes, base: StoredArm) -> None:
    """For every model and ε the episodes that DP-UCBVI would need in the environment of the arm."""
    K, mdp = base.K, environment(without_checksum(base.config["env"]))
    for y, privatizer in enumerate([dp.NonPrivate(), *PRIVATE]):
        for pooled, shift in SHIFTS.items():
            setup = set_up(mdp, dp.DPUCBVI(pooled=pooled), privatizer, K, base.config["beta"])
            found = {part: episodes_needed(setup, mdp.H / part) for part in LEVELS}
            _draw_range(axes, y + shift, found, PRIVACY[privatizer.model], pooled)
    names = ["not private", *(f"{privatizer.model} ε = {privatizer.epsilon:g}" for privatizer in PRIVATE)]
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0, labelcolor="black")
    axes.set(xscale="log", ylim=(len(names) - 0.4, -0.6), xlabel="episodes $K$ needed")
    axes.axvline(K, color=QUIET, linewidth=0.9, linestyle=DOTTED, zorder=1)
    axes.annotate(f"K = {K:,}", (K, 0.45), (3, 0), textcoords="offset points", fontsize=SMALL, color=QUIET)
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_title("bonus below $H$ (●) and $H/10$ (◆)")


def _draw_range(axes: Axes, y: float, episodes: dict[int, int | None], hue: str, pooled: bool) -> None:
    """From b < H to b < H/10; hollow for pooled counts."""
    found = {part: K for part, K in episodes.items() if K is not None}
    axes.plot(list(found.values()), [y] * len(found), color=hue, linewidth=1.0, zorder=3)
    for part, K in found.items():
        look = {**MARKER, "markeredgecolor": hue, "markerfacecolor": "white"} if pooled else MARKER
        axes.plot(K, y, marker=LEVELS[part], color=hue, linestyle="", zorder=4, **look)


def _name(arm: StoredArm) -> str:
    model, epsilon, *_ = arm.certificate
    return f"{arm.label}, {'not private' if model == 'none' else f'{model} ε = {at_most(epsilon)}'}"


def least_bonus(setup: Setup) -> float:
    """b(K) of DP-UCBVI with this setup's constants and factors."""
    c, problem, E = setup.constants, setup.problem, setup.noise.E
    assert isinstance(c, BernsteinConstants)
    visits = problem.K * (problem.H // setup.G)
    gap = next_value_gap(visits + problem.A * E, c)
    certain = np.ones(1)  # one next state, reached for sure
    return bernstein_bonus(visits + E, certain, np.zeros(1), np.array([gap]), c)


def episodes_needed(setup: Setup, level: float) -> int | None:
    """The least K > 1 with b(K) < level, found by bisection; None if there is none up to 2⁶²."""

    def below(K: int) -> bool:
        return least_bonus(with_episodes(setup, K)) < level

    for n in range(1, MOST_LEVELS + 1):
        if below(2**n):
            there = range(2 ** (n - 1) + 1, 2**n + 1)
            return there[bisect_left(there, True, hi=len(there) - 1, key=below)]
    return None


def with_episodes(setup: Setup, K: int) -> Setup:
    """The same run set up for K episodes, which may be more than any engine would run."""
    problem = setup.problem._replace(K=K)
    noise = setup.privatizer.noise_of(problem, setup.G)
    return setup._replace(problem=problem, noise=noise, constants=setup.agent.constants(problem, noise))


def check_literal(experiment: StoredExperiment) -> None:
    """Both factors of every arm are 1: the constants are the paper's."""
    for arm in experiment.arms:
        config = arm.config
        assert config["bonus"]["scale"] == config["confidence"]["scale"] == 1.0, f"{arm.key}: a factor is not 1"


STUDY = Study(draw, ships_state=True)
