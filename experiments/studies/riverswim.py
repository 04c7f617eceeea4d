"""The paper's Figure 1, regret on RiverSwim, and the table beside it: as proven, as explained, and certified.

Panel a has the ε of the printed legend. Panel b has the noise and the factors that are nearest to the printed
curves, which +exp=explain_fit finds on other seeds. Panel c has the ε of the printed legend again, certified
for a user who is replaced, with privatizers that are not in the paper. The panel `matched`, in the table only,
has the ε at which the regret is the printed one. An algorithm is named by its arms' label. A curve's colour
says the printed curve that is meant, its line the algorithm.
"""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpucbvi.drawing.end_labels import EndLabel, draw_end_labels
from dpucbvi.errors import InputError
from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.stats import summarise, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Stored, Study
from experiments.studies.epsilon import FACTOR
from experiments.studies.shared.arms import check_same_grid
from experiments.studies.shared.printed import final_regrets, printed_beside
from experiments.studies.shared.style import DASHED, HUES, QUIET, SMALL, band, new_panels, set_ticks
from experiments.studies.shared.tables import as_regret, markdown, write_page


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


def draw_proven(axes: Axes, experiment: StoredExperiment) -> None:
    """Panel a: the noise that is proven private, at the ε of the printed legend."""
    axes.set_title("(a) noise as proven, ε as printed")
    for variant in (LITERAL, PER_STEP, POOLED, PRIVATE_UCB_VI):
        _draw_means(axes, experiment, "a", variant)
    _set_log_axes(axes, [arm for arm in experiment.arms if arm.panel == "a"], 500)
    _name_those_apart(axes, experiment)
    if not experiment.changed:
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

    axes.set_title("(b) JDP: Lap(1/ε), LDP: Lap(0.075), fitted")
    _draw_beside_printed(axes, experiment, "b", PER_STEP, names, list(HUES))
    _write_below(axes, "bonus × 0.0105, $E$ × 0.0001")


def draw_certified(axes: Axes, experiment: StoredExperiment) -> None:
    """Panel c: the ε of the printed legend, certified for a user who is replaced, with other privatizers."""

    def names(arm: StoredArm) -> tuple[str, str]:
        """What the arm certifies; below, by which privatizer, and its last mean."""
        privatizer, delta = arm.config["privatizer"]["name"].replace("_", " "), arm.certificate.delta
        return certified(arm), f"{privatizer}{f', δ = {delta:g}' * bool(delta)}\nends at {as_regret(arm.mean)}"

    axes.set_title("(c) ε as printed, other privatizers")
    _draw_beside_printed(axes, experiment, "c", OTHERS, names, list(HUES)[1:])
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


def draw(experiment: StoredExperiment) -> Figure:
    """One panel below the other, and how an algorithm is drawn below them."""
    check_same_grid(experiment)
    figure, panels = new_panels([2.4, 2.6, 2.6], aligned=False)
    ours = [
        Line2D([], [], color=QUIET, linewidth=width, linestyle=dashes, label=label)
        for label, (width, dashes) in LINES.items()
    ]
    printed = Line2D([], [], color=QUIET, linestyle=DASHED, linewidth=1.3, label="printed in the paper")
    figure.legend(handles=[*ours, printed], loc="outside lower left", ncols=2, handlelength=3.0)
    for axes in panels:
        axes.set(xlabel="episode", ylabel="cumulative regret")
    for axes, panel, draw_panel in zip(
        panels, "abc", (draw_proven, draw_explained, draw_certified), strict=True
    ):
        if any(arm.panel == panel for arm in experiment.arms):
            draw_panel(axes, experiment)
        else:
            axes.set_axis_off()
    return figure


NAMES = {
    "non_private": "non-private",
    "jdp_eps2": "JDP, ε = 2",
    "jdp_eps1": "JDP, ε = 1",
    "ldp_eps2": "LDP, ε = 2",
}
COLUMNS = {
    "(a) DP-UCBVI": ("a", PER_STEP),
    "(a) literal constants": ("a", LITERAL),
    "(a) pooled": ("a", POOLED),
    "(a) Private-UCB-VI": ("a", PRIVATE_UCB_VI),
    "(b) explained": ("b", PER_STEP),
    "(c) other privatizers": ("c", OTHERS),
    "matched": ("matched", PER_STEP),
    "matched, pooled": ("matched", POOLED),
    "matched, Private-UCB-VI": ("matched", PRIVATE_UCB_VI),
}


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    """The page; the matches are read from the file that the study `epsilon` has written beside them."""
    matching = folder / "epsilon.csv"
    if not matching.exists():
        raise InputError(f"riverswim: its report needs {matching}; run +exp=epsilon, then experiments/paper.py")
    return [write_page(folder, "riverswim", regrets=_regrets(experiment), matching=_matching(matching))]


def _regrets(experiment: StoredExperiment) -> str:
    printed = final_regrets(experiment.arms[0].config)
    rows = [
        [name, f"{printed[curve]:,.0f}", *(_cell(experiment, *place, curve) for place in COLUMNS.values())]
        for curve, name in NAMES.items()
    ]
    return markdown(("printed curve", "printed", *COLUMNS), rows)


def _cell(experiment: StoredExperiment, panel: str, variant: Variant, curve: str) -> str:
    arm = find(experiment, panel, variant, curve)
    if arm is None:
        return "-"
    mean, half_width = arm.interval
    return f"{mean:,.0f} ± {half_width:,.0f}"


def _matching(path: Path) -> str:
    """From the written file: the same numbers that the config of the panel `matched` quotes."""
    with path.open(encoding="utf-8") as file:
        rows = [[NAMES[row["curve"]], row["algorithm"], *_matched(row)] for row in csv.DictReader(file)]
    header = ("printed curve", "algorithm", "matched at, a user added or removed", "the same, a user replaced")
    return markdown(header, rows)


def _matched(row: dict[str, str]) -> tuple[str, str]:
    if not row["value"]:
        return "nowhere", "nowhere"
    x, low, high = (float(row[key]) for key in ("value", "low", "high"))
    if row["setting"] == FACTOR:
        return f"bonus × {_with_interval(x, low, high)}", "not private"
    return f"ε = {_with_interval(x, low, high)}", f"ε = {_with_interval(2 * x, 2 * low, 2 * high)}"


def _with_interval(x: float, low: float, high: float) -> str:
    return f"{three_digits(x)} ({three_digits(low)} to {three_digits(high)})"


STUDY = Study(draw, report=write, needs=("epsilon",))
