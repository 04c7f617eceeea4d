"""Pooled, per step or windows: where pooling over the steps helps, where it fails, and what windows do."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.shared.arms import check_same_grid, panels_of, runs_text, uniform_regret
from experiments.studies.shared.style import PRIVATIZERS, QUIET, SMALL, legend_below, new_panels
from experiments.studies.shared.tables import bootstrapped, markdown, write_csv, write_page

EPSILON = "privatizer.epsilon"
SHOWN = 1.0  # the ε of the figure
LOOKS = {  # by label: marker, colour, hollow
    "pooled": ("o", PRIVATIZERS["batches"], False),
    "per step, δ = 1e-6": ("s", PRIVATIZERS["toeplitz"], False),
    "windows, δ = 1e-6": ("D", PRIVATIZERS["windows"], False),
    "windows, pure": ("D", PRIVATIZERS["windows"], True),
}


def at_shown(experiment: StoredExperiment) -> dict[str, dict[str, StoredArm]]:
    """The JDP arms at the figure's ε, by environment and label; environments that depend on the step last."""
    panels = {
        panel: {arm.label: arm for arm in arms if arm.point[EPSILON] == SHOWN}
        for panel, arms in panels_of(experiment).items()
        if arms[0].certificate.model == "JDP"
    }
    shown = {panel: arms for panel, arms in panels.items() if arms}
    return dict(sorted(shown.items(), key=lambda item: depends(next(iter(item[1].values())))))


def depends(arm: StoredArm) -> bool:
    """Whether the environment depends on the step."""
    return str(arm.config["env"]["name"]) not in ("riverswim", "garnet", "gymnasium")


def draw(experiment: StoredExperiment) -> Figure:
    """A row for every environment, a mark for every way to count, the uniform policy as a grey bar."""
    check_same_grid(experiment)
    rows = at_shown(experiment)
    figure, (axes,) = new_panels([0.9 + 0.27 * len(rows)])
    for y, arms in enumerate(rows.values()):
        axes.plot([uniform_regret(next(iter(arms.values())))], [y], "|", color=QUIET, markersize=11)
        for i, (label, (mark, hue, hollow)) in enumerate(LOOKS.items()):
            mean, low, high = bootstrapped(arms[label].finals)
            at = y + 0.13 * (i - 1.5)
            axes.plot([low, high], [at, at], color=hue, linewidth=1.0)
            axes.plot([mean], [at], mark, color=hue, markersize=4, fillstyle="none" if hollow else "full")
    stationary = sum(not depends(next(iter(arms.values()))) for arms in rows.values())
    axes.axhline(stationary - 0.5, color=QUIET, linewidth=0.8)
    axes.set_yticks(range(len(rows)), list(rows), fontsize=SMALL)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("regret at ε = 1, a user replaced", fontsize=SMALL)
    marks = [
        Line2D(
            [],
            [],
            marker=mark,
            color=hue,
            linestyle="none",
            fillstyle="none" if hollow else "full",
            label=label,
        )
        for label, (mark, hue, hollow) in LOOKS.items()
    ]
    marks.append(
        Line2D([], [], marker="|", color=QUIET, linestyle="none", markersize=9, label="uniform policy")
    )
    legend_below(figure, marks, 2)
    return figure


def table(experiment: StoredExperiment) -> Rows:
    """Every environment, way to count and ε."""
    header = (
        "environment",
        "counts",
        "ε (replaced)",
        "mean regret (median; largest)",
        "95% interval",
        "uniform policy",
    )
    return [header, *(_row(arm) for arm in experiment.arms)]


def _row(arm: StoredArm) -> tuple[str, ...]:
    _, low, high = bootstrapped(arm.finals)
    epsilon, uniform = f"{arm.point[EPSILON]:g}", f"{uniform_regret(arm):,.0f}"
    return (str(arm.panel), arm.label, epsilon, _cell(arm), f"{low:,.0f} to {high:,.0f}", uniform)


def _cell(arm: StoredArm) -> str:
    values = arm.finals
    return f"{values.mean():,.0f} ({np.median(values):,.0f}; {values.max():,.0f})"


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    """The table for readers and for programs."""
    header, *rows = table(experiment)
    made = {"table": markdown(header, rows), "K": f"{experiment.arms[0].K:,}", "runs": runs_text(experiment)}
    text = write_page(folder, "windows", **made)
    return [text, write_csv(folder / "windows.csv", map(_record, experiment.arms))]


def _record(arm: StoredArm) -> dict[str, object]:
    certificate, (mean, low, high) = arm.certificate, bootstrapped(arm.finals)
    numbers = {"mean": mean, "low": low, "high": high, "median": np.median(arm.finals), "max": arm.finals.max()}
    return {
        **{"arm": arm.key, "environment": arm.panel, "counts": arm.label, "depends_on_step": depends(arm)},
        "epsilon_replace_one": f"{certificate.replace_one:.4g}",
        "delta": f"{certificate.delta:g}",
        "runs": len(arm.finals),
        **{key: f"{value:.1f}" for key, value in numbers.items()},
    }


STUDY = Study(draw, table, write, points=60)
