"""What does each line of Algorithm 1 buy? Every variant against the whole, run by run."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from dpucbvi.drawing.style import BLUE, DOTTED, QUIET
from dpucbvi.stats import bootstrap, holm, permutation_p
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.shared.style import PRIVACY, SECOND, entry, legend_below, new_panels
from experiments.studies.shared.tables import as_regret, markdown, with_bounds

LEVEL = 0.05
MARKS = {BLUE: "o", SECOND: "s", PRIVACY["LDP"]: "D"}
HEADER = ("variant", "mean regret (95%)", "median", "largest", "× the whole (95%)", "p")


class Variant(NamedTuple):
    """One thing left out, beside the whole."""

    panel: str
    label: str
    arm: StoredArm
    ratio: float
    low: float
    high: float
    p: float  # after Holm's correction


def variants(arms: Sequence[StoredArm]) -> list[Variant]:
    """Every arm against the first of its panel."""
    wholes: dict[str | None, StoredArm] = {}
    pairs = [(arm, wholes.setdefault(arm.panel, arm)) for arm in arms]
    p = [permutation_p(arm.finals, whole.finals) for arm, whole in pairs if arm is not whole]
    adjusted = iter(holm(np.array(p)))
    found = []
    for arm, whole in pairs:
        p_here = 1.0 if arm is whole else float(next(adjusted))
        found.append(Variant(str(arm.panel), arm.label, arm, *ratio(arm.finals, whole.finals), p_here))
    return found


def ratio(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """Of the means of a and b, with its 95% interval; the pairs are resampled whole."""

    found = bootstrap(np.column_stack([a, b]), of=lambda means: means[..., :1] / means[..., 1:])
    return float(found.mean[0]), float(found.low[0]), float(found.high[0])


def table(experiment: StoredExperiment) -> Rows:
    return [("panel", *HEADER), *((one.panel, *_row(one)) for one in variants(experiment.arms))]


def parts(experiment: StoredExperiment, _: Stored) -> dict[str, str]:
    """A table for every panel."""
    header, *rows = table(experiment)
    tables = {panel: [header[1:], *(row[1:] for row in rows if row[0] == panel)] for panel, *_ in rows}
    return {"tables": "\n".join(f"### {panel}\n\n{markdown(of)}\n" for panel, of in tables.items())}


def draw(experiment: StoredExperiment) -> Figure:
    """The ratio of every variant, a mark for each panel."""
    found, hues = variants(experiment.arms), panel_hues(experiment)
    labels = list(dict.fromkeys(one.label for one in found))[1:]
    look: Any = {"linestyle": "", "markersize": 4.5}
    handles = [entry(panel, color=hue, marker=MARKS[hue], **look) for panel, hue in hues.items()]
    figure, (axes,) = new_panels([0.8 + 0.32 * len(labels)])
    legend_below(figure, handles, len(handles))
    for i, (panel, hue) in enumerate(hues.items()):
        for one in found:
            if one.panel == panel and one.label in labels:
                y = labels.index(one.label) + 0.22 * (i - (len(hues) - 1) / 2)
                axes.plot([one.low, one.high], [y, y], color=hue, linewidth=1.2)
                filled = hue if one.p < LEVEL else "white"
                axes.plot(one.ratio, y, MARKS[hue], color=hue, markerfacecolor=filled, markersize=4.5)
    axes.axvline(1.0, color=QUIET, linestyle=DOTTED)
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xticks([0.25, 0.5, 1, 2, 4, 8], ["1/4", "1/2", "1", "2", "4", "8"])
    axes.minorticks_off()
    axes.set_xlabel("regret / that of Algorithm 1")
    return figure


def panel_hues(experiment: StoredExperiment) -> dict[str, str]:
    """The colour of every panel: its privacy, and another one for a second ε."""
    hues: dict[str, str] = {}
    for arm in experiment.arms:
        hue = PRIVACY[arm.certificate.model]
        hues.setdefault(str(arm.panel), SECOND if hue == BLUE and hue in hues.values() else hue)
    return hues


def _row(one: Variant) -> tuple[str, ...]:
    regret = with_bounds(*one.arm.interval), as_regret(one.arm.median), as_regret(one.arm.largest)
    return (one.label, *regret, *times(one))


def times(one: Variant) -> tuple[str, str]:
    """How many times the regret of the whole, and p."""
    if one.ratio == one.low == one.high == 1.0:
        return "1", "-"
    return f"{one.ratio:.2f} ({one.low:.2f} to {one.high:.2f})", f"{one.p:.2g}"


STUDY = Study(draw, table, parts)
