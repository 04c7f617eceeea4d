"""Regret against ε in both models, and the ε at which each algorithm has the regret printed in Figure 1.

Where a curve of regret against ε (or against the factor on the bonus) has a given regret.

Regret is known at x_1 < x_2 < ..., some runs each. Between neighbours the mean is interpolated, a straight
line of log regret against log x; the answer is the least x at which the line has the wanted regret. Its
interval is the percentile bootstrap: seeds are resampled, the same for all x_i (arms share their seeds); a
printed regret is read anew within the error of its digitisation; and half of the time one of the two points
beside the answer is left out, so that the error of interpolating is in the interval. With n runs it is narrow
by about √((n-1)/n).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpucbvi.drawing.style import BLACK, MARKER, QUIET, SMALL
from dpucbvi.protocol import Floats
from dpucbvi.stats import LEVEL, RESAMPLES, bootstrap, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Study
from experiments.studies.shared.arms import grouped
from experiments.studies.shared.printed import DIGITISATION, final_regrets
from experiments.studies.shared.style import ALGORITHMS, PRIVACY, band, entry, legend_below, new_panels
from experiments.studies.shared.tables import as_regret, finals

EPSILON, FACTOR = "privatizer.epsilon", "bonus.scale"
# The arms of +exp=epsilon that may have a printed curve's regret, by how the curve's name begins.
CANDIDATES = {
    "non_private": (FACTOR, ("ucbvi_scales", "pooled_ucbvi_scales")),
    "jdp": (EPSILON, ("dp_ucbvi_jdp", "pooled_jdp", "private_ucb_vi_jdp")),
    "ldp": (EPSILON, ("dp_ucbvi_ldp", "pooled_ldp", "private_ucb_vi_ldp")),
}


class Match(NamedTuple):
    """The matching x and its 95% interval, nan where resampled curves too often miss the wanted regret."""

    x: float
    low: float
    high: float


class PrintedMatch(NamedTuple):
    """Where an algorithm has the final regret of a printed curve: at which value of the setting."""

    curve: str
    label: str
    setting: str
    regret: float
    match: Match | None


def printed_matches(experiment: StoredExperiment) -> list[PrintedMatch]:
    """Every printed curve with every algorithm that may have its regret; none if K is not the printed one."""
    found, by_arm = [], grouped(experiment.arms, lambda arm: arm.of)
    for curve, wanted in final_regrets(experiment.arms[0].config).items():
        setting, arms = next(value for start, value in CANDIDATES.items() if curve.startswith(start))
        for of in arms:
            x, regret = series(by_arm[of], setting)
            at = match(x, regret, wanted, DIGITISATION)
            found.append(PrintedMatch(curve, by_arm[of][0].label, setting, wanted, at))
    return found


def match(x: Floats, regret: Floats, wanted: float, error: float = 0.0, seed: int = 0) -> Match | None:
    """The least x at which the mean regret is `wanted` ± `error`; None if the curve never has it.

    `regret` has a row per x, a column per seed.
    """
    found = crossing(x, regret.mean(axis=1), wanted)
    if found is None:
        return None
    rng, runs = np.random.default_rng(seed), regret.shape[1]
    picks = rng.integers(runs, size=(RESAMPLES, runs))
    reads = wanted + error * rng.uniform(-1.0, 1.0, RESAMPLES)
    right = int(np.clip(np.searchsorted(x, found), 1, len(x) - 1))
    beside = [i for i in (right - 1, right) if 0 < i < len(x) - 1]  # an end cannot be left out
    left_out = rng.choice([*beside, *[-1] * max(len(beside), 1)], RESAMPLES)  # -1: none
    kept = [np.arange(len(x)) != i for i in left_out]
    resampled = [
        r
        for pick, read, keep in zip(picks, reads, kept, strict=True)
        if (r := crossing(x[keep], regret[keep][:, pick].mean(axis=1), read)) is not None
    ]
    if len(resampled) < LEVEL * RESAMPLES:
        return Match(found, np.nan, np.nan)
    low, high = np.quantile(resampled, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0])
    return Match(found, float(low), float(high))


def crossing(x: Floats, y: Floats, wanted: float) -> float | None:
    """The least x at which the log-log polygon through (x, y) is at `wanted`; None outside its range."""
    log_x, gap = np.log(x), np.log(y) - np.log(wanted)
    for i in range(len(x) - 1):
        if gap[i] == 0.0:
            return float(x[i])
        if gap[i] * gap[i + 1] < 0.0:
            share = gap[i] / (gap[i] - gap[i + 1])
            return float(np.exp(log_x[i] + share * (log_x[i + 1] - log_x[i])))
    return float(x[-1]) if gap[-1] == 0.0 else None


def series(arms: Sequence[StoredArm], setting: str) -> tuple[Floats, Floats]:
    """An arm of the config along its grid: the setting's values in ascending order, the runs' final regrets."""
    points = sorted(arms, key=lambda arm: arm.point[setting])
    x = np.array([float(arm.point[setting]) for arm in points])
    return x, np.array([arm.finals for arm in points])


REFERENCE = "ucbvi"
REPLACED = 2.0  # the ε of a user who is replaced, in those of one added or removed
MODELS = {"JDP": "jdp", "LDP": "ldp"}  # a certificate's name, and how the keys of its arms and curves have it
CURVES = {  # the arms are <curve>_<model>
    "dp_ucbvi": "DP-UCBVI",
    "private_ucb_vi": "Private-UCB-VI",
    "pooled": "DP-UCBVI, pooled",
}
CROSS: dict[str, Any] = {"marker": "x", "markersize": 4.5, "markeredgewidth": 1.2, "color": BLACK, "zorder": 6}
ABOVE_BELOW = {"jdp_eps1": ("bottom", 1), "jdp_eps2": ("top", -1)}  # two names that would touch: points between


def draw(experiment: StoredExperiment) -> Figure:
    """A panel for each model, on the same regret axis."""
    check_certified(experiment)
    figure, panels = new_panels([2.6, 2.6])
    legend_below(figure, [entry(name, **_look(name, QUIET)) for name in CURVES.values()], len(CURVES))
    for axes, model in zip(panels, MODELS, strict=True):
        _draw_model(axes, experiment, model)
    means = [arm.mean for arm in experiment.arms]
    for axes in panels:
        axes.set_ylim(max(min(means), 1e-3) / 2.0, 4.0 * max(means))
        axes.set_ylabel(f"regret after {_reference(experiment).K:,} episodes")
    return figure


def check_certified(experiment: StoredExperiment) -> None:
    """The horizontal axis is what the runs certify if a user is replaced: twice the ε of the settings."""
    for arm in experiment.arms:
        if EPSILON in arm.point:
            _, add_remove, replace_one = arm.certificate[:3]
            assert np.isclose(add_remove, arm.point[EPSILON]), f"{arm.key}: certifies {add_remove}"
            assert np.isclose(replace_one, REPLACED * add_remove), (
                f"{arm.key}: certifies {replace_one} if replaced"
            )


def _draw_model(axes: Axes, experiment: StoredExperiment, model: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    by_arm = grouped(experiment.arms, lambda arm: arm.of)
    found = {name: series(by_arm[f"{curve}_{MODELS[model]}"], EPSILON) for curve, name in CURVES.items()}
    for name, (x, regret) in found.items():
        band(axes, REPLACED * x, *bootstrap(regret.T), **_look(name, PRIVACY[model]))
    reference = _reference(experiment)
    _draw_reference(axes, reference)
    for name, printed in final_regrets(reference.config).items():
        if name.startswith(MODELS[model]):
            _draw_printed(axes, name, printed, list(found.values()))
    axes.set_xlabel(f"certified {model} ε, a user replaced", labelpad=2)


def _look(name: str, hue: str) -> dict[str, Any]:
    """How an algorithm is drawn: hollow markers for pooled counts."""
    dashes, mark, hollow = ALGORITHMS[name]
    look = {**MARKER, "markerfacecolor": "white", "markeredgecolor": hue} if hollow else MARKER
    return {"color": hue, "marker": mark, "linestyle": dashes, "linewidth": 1.4, **look}


def _draw_reference(axes: Axes, arm: StoredArm) -> None:
    axes.axhline(arm.mean, color=BLACK, linewidth=1.2, zorder=2)
    axes.annotate(
        f"{arm.label}, {'pooled counts' if arm.config['agent'].get('pooled') else 'counts per step'}",
        (0.015, arm.mean),
        (0, -4),
        va="top",
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        fontsize=SMALL,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 2.0},
    )


def _draw_printed(axes: Axes, name: str, regret: float, found: list[tuple[Floats, Floats]]) -> None:
    """A tick for a printed final regret, a cross where a curve has it."""
    beside, (side, offset) = axes.get_yaxis_transform(), ABOVE_BELOW.get(name, ("center", 0))
    axes.plot([0.985, 1.015], [regret] * 2, transform=beside, color="black", clip_on=False)
    look: Any = {"xycoords": beside, "textcoords": "offset points", "fontsize": SMALL, "annotation_clip": False}
    axes.annotate(f"ε = {name[-1]}", (1.02, regret), (1, offset), va=side, **look)
    for x, runs in found:
        at = crossing(x, runs.mean(axis=1), regret)
        if at is not None:
            axes.plot(REPLACED * at, regret, **CROSS)


def _reference(experiment: StoredExperiment) -> StoredArm:
    return next(arm for arm in experiment.arms if arm.of == REFERENCE)


SETTINGS = {EPSILON: "ε (a user added or removed)", FACTOR: "factor on the bonus"}


def matches(experiment: StoredExperiment) -> Rows:
    """For every printed curve the ε (for UCBVI, the factor) at which an algorithm has its final regret.

    The final regrets, if the run has another size than the printed one.
    """
    found = printed_matches(experiment)
    if not found:
        return finals(experiment)
    rows: Rows = [("reported curve", "regret", "algorithm", "setting", "matches at", "95% interval")]
    for curve, label, setting, regret, at in found:
        x, low, high = map(three_digits, at or (0.0, 0.0, 0.0))
        answer = (x, f"{low} to {high}") if at else ("nowhere", "-")
        rows.append((curve, as_regret(regret), label, SETTINGS[setting], *answer))
    return rows


STUDY = Study(draw, matches)
