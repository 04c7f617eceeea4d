"""The captions beside the figures of paper/figures, and README's one picture, which is one of them.

The picture has the regrets that the paper reports, and which mechanisms reach them at the same ε: `riverswim`
has Section 5's noise and other mechanisms at the ε of every curve, `mechanisms` has Section 5's noise on pooled
counts.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpucbvi.drawing.style import BLACK, BLUE, DOTTED, QUIET, SMALL, VERMILLION
from dpucbvi.protocol import Floats
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import CAPTIONS, sections
from experiments.studies.shared.arms import uniform_regret
from experiments.studies.shared.printed import printed_bands, printed_curves
from experiments.studies.shared.style import new_panels
from experiments.studies.shared.tables import as_regret

HEAD = """\
<!-- Written by experiments/paper.py from stored results; do not edit. -->
# Captions

What stands beside each figure of this folder; the report and the page have the same words.
"""
SUMMARY = "summary"
ROWS = {
    "jdp_eps1": "JDP\nε = 1",
    "jdp_eps2": "JDP\nε = 2",
    "ldp_eps2": "LDP\nε = 2",
    "non_private": "not\nprivate",
}
REPORTED, PROVEN, OTHERS = -0.27, 0.0, 0.27  # where they stand in a row
WORDS = {REPORTED: "reported", PROVEN: "Section 5's noise", OTHERS: "other mechanisms"}
HUES = {REPORTED: BLACK, PROVEN: VERMILLION, OTHERS: BLUE}
SHAPES = {REPORTED: "D", PROVEN: "o", OTHERS: "s"}
POOLED = {"central": "pooled_paper", "local": "pooled_local_paper"}  # Section 5's noise in `mechanisms`


def read_captions(folder: Path) -> dict[str, str]:
    """The captions that were written there, by the figure's name."""
    return sections(folder / CAPTIONS.name)


def write_captions(folder: Path, captions: dict[str, str]) -> Path:
    """Write these captions, beside those of figures that are not drawn now."""
    every = {**read_captions(folder), **captions}
    folder.mkdir(parents=True, exist_ok=True)
    parts = [f"## {name}\n\n{every[name]}\n" for name in sorted(every)]
    (folder / CAPTIONS.name).write_text("\n".join([HEAD, *parts]), "utf-8")
    return folder / CAPTIONS.name


# --- README's picture ---------------------------------------------------------------------------------------


class Mark(NamedTuple):
    """The runs of a curve, the mean of their final regrets and its interval."""

    runs: Floats
    mean: float
    low: float
    high: float


def reported(curve: str) -> Mark:
    """The last point of a reported curve and its band; the paper shows no single runs."""
    return Mark(np.empty(0), float(printed_curves()[curve].regret[-1]), *printed_bands()[curve])


def measured(arm: StoredArm) -> Mark:
    return Mark(arm.finals, *arm.interval)


def arm_of(river: StoredExperiment, panel: str, curve: str) -> StoredArm:
    """DP-UCBVI, or UCBVI without privacy, in a panel of `riverswim`."""
    from experiments.studies.riverswim import report  # a study that is broken must not cost the others

    found = report.arm_of(river, panel, curve)
    assert found is not None
    return found


def draw_summary(river: StoredExperiment, mechanisms: StoredExperiment) -> Figure:
    """A row for every curve of Figure 1, with three marks in three colours."""
    figure, (axes,) = new_panels([2.9])
    axes.set(xscale="log", xlim=(15, 900_000), xlabel=f"regret after {river.arms[0].K:,} episodes")
    for row, curve in enumerate(ROWS):
        proven, others = (arm_of(river, panel, curve) for panel in ("proven", "others"))
        of, epsilon = POOLED.get(proven.config["privatizer"]["name"]), proven.certificate.replace_one
        same = [arm for arm in mechanisms.arms if arm.of == of]  # the same noise, and pooled counts
        pooled = [measured(arm) for arm in same if np.isclose(arm.certificate.replace_one, epsilon)]
        marks = {REPORTED: reported(curve), PROVEN: measured(proven), OTHERS: measured(others)}
        for mark in pooled:
            _draw_mark(axes, row, PROVEN, mark, "white")
        for at, mark in marks.items():
            _draw_mark(axes, row, at, mark, HUES[at])
            _write_words(axes, row, at, [mark, *(pooled if at == PROVEN else [])])
    random = uniform_regret(river.arms[0])
    axes.axvline(random, color=QUIET, linestyle=DOTTED, linewidth=0.9, zorder=1)
    look: Any = {"textcoords": "offset points", "fontsize": SMALL, "color": QUIET, "va": "center"}
    axes.annotate("random actions", (random, len(ROWS) - 1), (-4, 0), ha="right", **look)
    axes.set_yticks(range(len(ROWS)), list(ROWS.values()))
    axes.set_ylim(len(ROWS) - 0.45, -0.55)
    axes.grid(False, axis="y")
    return figure


def _draw_mark(axes: Axes, row: int, at: float, mark: Mark, face: str) -> None:
    """The mean as a mark, its interval as a line, runs as ticks; without runs the interval is a pale band."""
    y, hue, pale = row + at, HUES[at], not len(mark.runs)
    look: Any = {"linewidth": 6.0, "alpha": 0.2, "solid_capstyle": "butt"} if pale else {"linewidth": 1.6}
    axes.plot([mark.low, mark.high], [y, y], color=hue, **look)
    if not pale:
        axes.plot(mark.runs, np.full(len(mark.runs), y), "|", color=hue, alpha=0.3, markersize=5)
    axes.plot([mark.mean], [y], SHAPES[at], color=hue, markerfacecolor=face, markersize=5.5, zorder=4)


def _write_words(axes: Axes, row: int, at: float, marks: list[Mark]) -> None:
    """Right of these marks the mean of the first; left of them, in the first row, what they are."""
    ends = [x for mark in marks for x in (mark.low, mark.high, *mark.runs)]
    look: Any = {"textcoords": "offset points", "fontsize": SMALL, "color": HUES[at], "va": "center"}
    axes.annotate(as_regret(marks[0].mean), (np.nanmax(ends), row + at), (6, 0), ha="left", **look)
    if row == 0:
        axes.annotate(WORDS[at], (np.nanmin(ends), row + at), (-6, 0), ha="right", **look)
    for pooled in marks[1:] if row == 0 else []:
        axes.annotate("pooled", (pooled.mean, row + at), (4, 9), ha="right", **look)


def summary_caption(river: StoredExperiment) -> str:
    """The text beside README's picture."""
    numbers = {"K": f"{river.arms[0].K:,}", "runs": len(arm_of(river, "others", "jdp_eps1").runs)}
    return sections(CAPTIONS)[SUMMARY].format(**numbers)
