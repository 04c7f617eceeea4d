"""The constants as printed: which Q ever leaves H, and how many episodes it would take."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpucbvi.protocol import Floats
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Study
from experiments.studies.shared.arms import certificate_of, check_same_grid, config_of, episodes_of, runs_text
from experiments.studies.shared.episodes_needed import check_literal, episodes_needed, literal_setup
from experiments.studies.shared.sheet import PAGE, Margins, Sheet, lay_out, write_title
from experiments.studies.shared.style import DOTTED, MARKER, PRIVACY, QUIET, SMALL

EXACT = "exact"  # the panel of the arms that must agree
LEVELS = {1: "o", 10: "D"}  # b < H and b < H/10, and how they are marked
MODELS = {"non_private": "none", "central": "JDP", "local": "LDP"}
EPSILONS = (1.0, 10.0, 100.0)
SHIFTS = {False: -0.17, True: 0.17}  # counts per step above, pooled below


def draw(experiment: StoredExperiment, sheet: Sheet = PAGE) -> Figure:
    """What has been learned at the end of the runs, step by step; then the episodes needed."""
    check_same_grid(experiment)
    check_literal(experiment)
    check_engines_agree(experiment)
    arms = [arm for arm in experiment.arms if arm.panel != EXACT]
    margins = [Margins(left=1.72, right=0.12), Margins(left=0.95)]
    figure, (left, right) = lay_out(sheet, [2.0] * 2, 2, margins, _caption(experiment), ratios=(1.1, 1))
    _draw_learned(left, arms)
    _draw_needed(right, arms[0])
    return figure


def learned(arm: StoredArm) -> Floats:
    """For every step the share of pairs (s,a) whose final Q is below its greatest value, over all runs.

    That value is H, and H-h+1 for Private-UCB-VI, which cuts there. For the others Q never grows, so a final Q
    of H has been H in every episode.
    """
    H = len(arm.runs[0].trace.Q)
    remaining = config_of(arm)["agent"]["name"] == "private_ucb_vi"
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
    axes.spines[:].set_visible(False)
    write_title(axes, f"share of $(s,a)$ with $\\tilde Q_h<H$ at $K$ = {episodes_of(arms[0]):,}")


def _draw_needed(axes: Axes, base: StoredArm) -> None:
    """For every model and ε the episodes that DP-UCBVI would need in the environment of the arm."""
    K = episodes_of(base)
    rows = [
        (model, epsilon) for model in MODELS for epsilon in (EPSILONS if model != "non_private" else (1.0,))
    ]
    for y, (model, epsilon) in enumerate(rows):
        for pooled, shift in SHIFTS.items():
            found = _needed(base, pooled, model, epsilon)
            _draw_range(axes, y + shift, found, PRIVACY[MODELS[model]], pooled)
    names = ["not private" if m == "non_private" else f"{MODELS[m]} ε = {epsilon:g}" for m, epsilon in rows]
    axes.set_yticks(range(len(rows)), names)
    axes.tick_params(axis="y", length=0, labelcolor="black")
    axes.set(xscale="log", ylim=(len(rows) - 0.4, -0.6), xlabel="episodes $K$ needed")
    axes.axvline(K, color=QUIET, linewidth=0.9, linestyle=DOTTED, zorder=1)
    axes.annotate(f"K = {K:,}", (K, 0.45), (3, 0), textcoords="offset points", fontsize=SMALL, color=QUIET)
    axes.grid(True, axis="x")
    axes.spines[["top", "right", "left"]].set_visible(False)
    write_title(axes, "bonus below $H$ (●) and $H/10$ (◆)")


def _needed(base: StoredArm, pooled: bool, model: str, epsilon: float) -> dict[int, int | None]:
    """The episodes until b < H and b < H/10."""
    config = config_of(base)
    setup = literal_setup(config, pooled, model, epsilon)
    return {part: episodes_needed(setup, config["env"]["H"] / part) for part in LEVELS}


def _draw_range(axes: Axes, y: float, episodes: dict[int, int | None], hue: str, pooled: bool) -> None:
    """From b < H to b < H/10; hollow for pooled counts."""
    found = {part: K for part, K in episodes.items() if K is not None}
    axes.plot(list(found.values()), [y] * len(found), color=hue, linewidth=1.0, zorder=3)
    for part, K in found.items():
        look = {**MARKER, "markeredgecolor": hue, "markerfacecolor": "white"} if pooled else MARKER
        axes.plot(K, y, marker=LEVELS[part], color=hue, linestyle="", zorder=4, **look)


def _name(arm: StoredArm) -> str:
    model, epsilon, _ = certificate_of(arm)[:3]
    if model == "none":
        return f"{arm.label}, not private"
    return f"{arm.label}, {model} ε = {epsilon:g}"


def _caption(experiment: StoredExperiment) -> str:
    exact = [episodes_of(arm) for arm in experiment.arms if arm.panel == EXACT]
    return (
        f"RiverSwim, printed constants, {runs_text(experiment)} of each arm. First panel: the darker, the "
        "more, with the first step that has any and the share at the last; none where "
        "$\\tilde Q_h=H$ in every episode (Private-UCB-VI: $H-h+1$, its own limit, in the last). "
        "Second: DP-UCBVI at a pair that every episode visits; hollow: pooled counts. "
        f"Reference engine and cvxpy give the same {exact[0]} episodes, bit for bit. "
        "ε: if a user is added or removed."
    )


STUDY = Study(draw, ships_state=True)
