"""The three panels, and which run stands for which printed curve.

Panel a has the ε of the printed legend, panel b the noise and the factors of the hypothesis that is nearest to
the printed curves, panel c the ε of the printed legend with other privatizers, certified for a user who is
replaced. The panel `matched`, in the table only, has the ε at which the regret is the printed one. An algorithm
is named by its arms' label. A curve's colour says the printed curve that is meant, its line the algorithm.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.stats import summarise, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.shared.arms import laplace_of
from experiments.studies.shared.printed import printed_beside
from experiments.studies.shared.style import DASHED, HUES, QUIET, SMALL, band, set_ticks
from experiments.studies.shared.tables import as_regret


class Variant(NamedTuple):
    """A comparison of four curves as in the printed figure."""

    private: str  # label of the private arms
    reference: dict[str, str]  # label of the non-private arm, by panel


PER_STEP = Variant("DP-UCBVI", {"a": "UCBVI", "matched": "UCBVI", "b": "DP-UCBVI, not private"})
# In panel a the pooled runs are compared with UCBVI per step: that has the factor which was calibrated.
POOLED = Variant("DP-UCBVI, pooled", {"a": "UCBVI", "matched": "UCBVI, pooled"})
PRIVATE_UCB_VI = Variant("Private-UCB-VI", {"a": "UCBVI", "matched": "UCBVI"})
LITERAL = Variant("DP-UCBVI, literal", {"a": "UCBVI, literal"})
OTHERS = Variant("DP-UCBVI, pooled, other privatizers", {"c": "DP-UCBVI, pooled, not private"})

LINES: dict[str, tuple[float, Any]] = {  # how a variant is drawn: width, dashes
    PER_STEP.private: (1.6, "-"),
    POOLED.private: (1.1, (0, (6, 1.5, 1.2, 1.5))),
    PRIVATE_UCB_VI.private: (1.3, (0, (1, 1.3))),
    LITERAL.private: (0.6, "-"),
    OTHERS.private: (1.9, (0, (6, 1.2, 1.2, 1.2))),
}
LEGEND = {"jdp_eps2": "JDP ε = 2", "jdp_eps1": "JDP ε = 1", "ldp_eps2": "LDP ε = 2"}  # as printed
LOCAL = "ldp_eps2"
BARE = {"jdp_eps1": 1.0, "jdp_eps2": 0.5}  # b of Lap(b) in a node, if it is 1/ε for the printed ε
BELOW_LABELS: dict[str, float] = {"b": 27.0, "c": 36.0}  # points from label to label: two and three lines


def find(experiment: StoredExperiment, panel: str, variant: Variant, curve: str) -> StoredArm | None:
    """The arm that stands for a printed curve, if there is one."""
    label = variant.private if curve != "non_private" else variant.reference.get(panel)
    arms = [arm for arm in experiment.arms if (arm.panel, arm.label, arm.printed) == (panel, label, curve)]
    assert len(arms) <= 1, f"panel {panel}: {label} stands for {curve} twice"
    return arms[0] if arms else None


def certified(arm: StoredArm) -> str:
    """Model and ε: of panel c if a user is replaced, of the others if one is added or removed."""
    certificate = arm.certificate
    epsilon = certificate.replace_one if arm.panel == "c" else certificate.add_remove
    return f"{certificate.model} ε = {three_digits(rounded_up(epsilon, 3))}"


def as_printed(experiment: StoredExperiment, panel: str) -> bool:
    """Whether every private arm of the panel certifies what the printed legend says."""
    arms = [arm for arm in experiment.arms if arm.panel == panel and arm.printed != "non_private"]
    return bool(arms) and all(certified(arm) == LEGEND[str(arm.printed)] for arm in arms)


def nothing_learnt(experiment: StoredExperiment) -> bool:
    """Whether per-step counts and the literal constants have straight lines: half of their regret by K/2."""
    straight = [
        find(experiment, "a", variant, curve)
        for variant in (PER_STEP, PRIVATE_UCB_VI, LITERAL)
        for curve in HUES
        if variant is LITERAL or curve != "non_private"
    ]
    ends = [arm.half_and_full for arm in straight if arm is not None]
    shares = [np.mean(half) / np.mean(full) for half, full in ends]
    return bool(shares) and all(abs(share - 0.5) < 0.03 for share in shares)


def is_bare(experiment: StoredExperiment) -> bool:
    """Whether both JDP arms of panel b have Lap(1/ε) in their nodes, for the printed ε."""
    arms = [find(experiment, "b", PER_STEP, curve) for curve in BARE]
    scales = [arm.runs[0].trace.noise_scale for arm in arms if arm is not None]
    return len(scales) == len(BARE) and np.allclose(scales, list(BARE.values()))


def draw_proven(axes: Axes, experiment: StoredExperiment) -> None:
    """Panel a: the noise that is proven private, at the ε of the printed legend."""
    axes.set_title("(a) noise as proven" + ", ε as printed" * as_printed(experiment, "a"))
    for variant in (LITERAL, PER_STEP, POOLED, PRIVATE_UCB_VI):
        _draw_means(axes, experiment, "a", variant)
    _set_log_axes(axes, [arm for arm in experiment.arms if arm.panel == "a"], 500)
    _name_those_apart(axes, experiment)
    if nothing_learnt(experiment):
        text = "on one line, linear, nothing learnt:\nall but pooled counts and UCBVI"
        axes.text(0.03, 0.97, text, transform=axes.transAxes, fontsize=SMALL, color=QUIET, va="top")


def draw_explained(axes: Axes, experiment: StoredExperiment) -> None:
    """Panel b: one set of constants and the noise that explain the printed curves, which are dashed."""

    def names(arm: StoredArm) -> tuple[str, str]:
        """What the arm certifies; below, the printed ε."""
        curve = str(arm.printed)
        return (
            ("DP-UCBVI", "not private")
            if curve == "non_private"
            else (certified(arm), f"printed as ε = {curve[-1]}")
        )

    local = find(experiment, "b", PER_STEP, LOCAL)
    users = "" if local is None else f", LDP: {laplace_of(local)}"
    axes.set_title(f"(b) JDP: Lap(1/ε){users}, fitted" if is_bare(experiment) else "(b) fitted to the figure")
    _draw_beside_printed(axes, experiment, "b", PER_STEP, names, list(HUES))
    _write_below(axes, _factors(experiment))


def draw_certified(axes: Axes, experiment: StoredExperiment) -> None:
    """Panel c: the ε of the printed legend, certified for a user who is replaced, with other privatizers."""

    def names(arm: StoredArm) -> tuple[str, str]:
        """What the arm certifies; below, by which privatizer, and its last mean."""
        privatizer, delta = arm.config["privatizer"]["name"].replace("_", " "), arm.certificate.delta
        return certified(arm), f"{privatizer}{f', δ = {delta:g}' * bool(delta)}\nends at {as_regret(arm.mean)}"

    axes.set_title("(c) " + "ε as printed, " * as_printed(experiment, "c") + "other privatizers")
    _draw_beside_printed(axes, experiment, "c", OTHERS, names, list(LEGEND))
    reference = find(experiment, "c", OTHERS, "non_private")
    if reference is not None:  # far below: it would squeeze the others
        _write_below(axes, f"without privacy: ends at\n{as_regret(reference.mean)}, below this axis")


def _draw_beside_printed(
    axes: Axes,
    experiment: StoredExperiment,
    panel: str,
    variant: Variant,
    names: Callable[[StoredArm], tuple[str, str]],
    shown: list[str],
) -> None:
    """A variant's curves, the printed ones dashed, and a label at the end of those that are `shown` in full."""
    _draw_means(axes, experiment, panel, variant)
    arms = [arm for curve in HUES if (arm := find(experiment, panel, variant, curve)) is not None]
    highest = 0.0
    for arm in arms:
        printed = printed_beside(arm)
        if printed is not None:
            axes.plot(*printed, color=HUES[str(arm.printed)], linestyle=DASHED, linewidth=1.3, zorder=5)
            highest = max(highest, float(printed.regret.max()))
    labelled = [arm for arm in arms if arm.printed in shown]
    low, high = _set_log_axes(axes, labelled, 50)
    axes.set_ylim(low, 1.3 * max(high, highest))  # the highest label stays below the title
    set_ticks(axes)
    labels = [EndLabel(*names(arm), HUES[str(arm.printed)], "", arm.K, arm.mean) for arm in labelled]
    if labels:
        draw_end_labels(axes, labels, BELOW_LABELS[panel])


def _draw_means(axes: Axes, experiment: StoredExperiment, panel: str, variant: Variant) -> None:
    """The means over runs of a variant; their 95% intervals where the curves are few enough."""
    width, dashes = LINES[variant.private]
    for curve, hue in HUES.items():
        arm = find(experiment, panel, variant, curve)
        if arm is None:
            continue
        mean, half_width = summarise(arm.regret)
        if variant not in (PER_STEP, OTHERS):
            half_width = np.full_like(mean, np.nan)
        band(axes, arm.episodes, mean, half_width, color=hue, linewidth=width, linestyle=dashes)


def _set_log_axes(axes: Axes, arms: list[StoredArm], shown: float) -> tuple[float, float]:
    """The last 1 - 1/shown of all episodes, and what the runs have there; the limits of regret."""
    K = arms[0].K if arms else 1
    first = max(1.0, K / shown)
    traces = [run.trace for arm in arms for run in arm.runs]
    values = np.concatenate([np.ones(0), *(trace.regret[trace.episodes >= first] for trace in traces)])
    axes.set(xscale="log", yscale="log", xlim=(first, max(K, 2)))
    if values.size:
        axes.set_ylim(0.8 * values[values > 0].min(initial=values.max()), 1.15 * values.max())
    low, high = axes.get_ylim()
    return low, high


def _write_below(axes: Axes, text: str) -> None:
    """In the lower right corner: the curves begin at the left."""
    axes.text(0.985, 0.03, text, ha="right", transform=axes.transAxes, fontsize=SMALL, color=QUIET)


def _factors(experiment: StoredExperiment) -> str:
    """The factors that all arms of panel b share; E has none without privacy."""
    configs = [arm.config for arm in experiment.arms if arm.panel == "b"]
    private = [config for config in configs if config["privatizer"]["name"] != "non_private"]
    bonus, confidence = (
        ", ".join(f"{value:g}" for value in sorted(values))
        for values in (
            {config["bonus"]["scale"] for config in configs},
            {config["confidence"]["scale"] for config in private},
        )
    )
    return f"bonus × {bonus}, $E$ × {confidence}"


def _name_those_apart(axes: Axes, experiment: StoredExperiment) -> None:
    """The two curves that lie by themselves have their names beside them."""
    places: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "fontsize": SMALL}
    reference, pooled = (
        find(experiment, "a", PER_STEP, "non_private"),
        find(experiment, "a", POOLED, "jdp_eps2"),
    )
    if reference is not None:
        axes.annotate("UCBVI, calibrated", (0.985, reference.mean), (0, 4), ha="right", va="bottom", **places)
    if pooled is not None:
        at, text = (0.985, pooled.mean), f"pooled\n{certified(pooled)}"
        axes.annotate(text, at, (0, -5), ha="right", va="top", color=HUES["jdp_eps2"], **places)
