"""The table at the end of a run, for every arm its final regret and the ε that its runs certify; and the three
formats of any table: CSV for programs, Markdown for readers, aligned text for a terminal."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dpucbvi.privacy.certificate import at_most
from dpucbvi.protocol import Floats
from dpucbvi.stats import bootstrap
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.shared.labels import as_written

Rows = list[tuple[str, ...]]
WRITTEN = "<!-- Written by experiments/paper.py from stored results; do not edit. -->"
HEADER = (
    *("arm", "regret", "95% ±", "bonus ×", "E ×", "counts"),
    *("privacy", "δ", "ε (a user added or removed)", "ε (replaced)"),
)


def finals(experiment: StoredExperiment) -> Rows:
    """The regret of every arm after its last episode, mean and half of the 95% interval over its runs."""
    return [HEADER, *(_row(arm) for arm in experiment.arms)]


def as_regret(value: float) -> str:
    """A regret, or a difference of two, for a terminal: 167,666 or 22.5."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _row(arm: StoredArm) -> tuple[str, ...]:
    mean, half_width = arm.interval
    certificate, config = arm.certificate, arm.config
    private = certificate.model != "none"
    return (
        arm.key,
        as_regret(mean),
        "-" if math.isnan(half_width) else as_regret(half_width),
        as_written(config["bonus"]["scale"]),
        as_written(config["confidence"]["scale"]) if private else "-",
        "pooled" if config["agent"].get("pooled") else "per step",
        f"{certificate.model}{' (declared)' * certificate.declared}",
        as_written(certificate.delta),
        at_most(certificate.add_remove),
        at_most(certificate.replace_one),
    )


def bootstrapped(values: Floats) -> tuple[float, float, float]:
    """The mean of a number that every run has, and its 95% interval by the percentile bootstrap."""
    mean, low, high = (float(part[0]) for part in bootstrap(values[:, None]))
    return mean, low, high


def write_csv(path: Path, records: Iterable[Mapping[str, object]]) -> Path:
    """A file for programs: a line for each record, whose keys are the header."""
    rows = list(records)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0] if rows else (), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for readers, its first column to the left, the others to the right."""
    rule = [":--", *["--:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns of equal width for a terminal, the first to the left, the others to the right."""
    first, *rest = (max(len(row[column]) for row in rows) for column in range(len(rows[0])))
    lines = [
        [row[0].ljust(first), *(cell.rjust(width) for cell, width in zip(row[1:], rest, strict=True))]
        for row in rows
    ]
    return "\n".join("  ".join(line).rstrip() for line in lines)
