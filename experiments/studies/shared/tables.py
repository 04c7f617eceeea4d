"""The table at the end of a run, for every arm its final regret and the ε that its runs certify.

And the formats of any table: CSV for programs, Markdown for readers, aligned for a terminal.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from dpucbvi.archive import as_cell
from dpucbvi.privacy.certificate import at_most
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.shared.arms import as_written

Rows = list[tuple[str, ...]]
WRITTEN = "<!-- Written by experiments/paper.py from stored results; do not edit. -->"
TEXTS = Path(__file__).resolve().parents[1] / "texts"
HEADER = (
    *("arm", "regret (95%)", "bonus ×", "E ×", "counts"),
    *("privacy", "δ", "ε (a user added or removed)", "ε (replaced)"),
)


def finals(experiment: StoredExperiment) -> Rows:
    """The regret of every arm after its last episode, mean and 95% interval over its runs."""
    return [HEADER, *(_row(arm) for arm in experiment.arms)]


def as_regret(value: float) -> str:
    """A regret, or a difference of two, for a terminal: 167,666 or 22.5."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def with_bounds(mean: float, low: float, high: float) -> str:
    """A regret and its interval, which a single run does not have: 6,885 (6,833 to 6,941)."""
    return as_regret(mean) + ("" if math.isnan(low) else f" ({as_regret(low)} to {as_regret(high)})")


def in_thousands(value: float, *bounds: float) -> str:
    """Three digits of value/1000 or so, its bounds with as many decimals: 12.3, or 9.59 (9.40–9.81)."""
    decimals = 2 if value < 10_000 else 1 if value < 100_000 else 0
    mean, *ends = (f"{one / 1000.0:,.{decimals}f}" for one in (value, *bounds) if not math.isnan(one))
    return f"{mean} ({'–'.join(ends)})" if ends else mean


def spread_of(arm: StoredArm) -> str:
    """The mean of an arm's final regrets, their median and the largest."""
    return f"{arm.mean:,.0f} ({arm.median:,.0f}; {arm.largest:,.0f})"


def interval_of(arm: StoredArm) -> str:
    """The 95% interval of the mean."""
    _, low, high = arm.interval
    return "-" if math.isnan(low) else f"{low:,.0f} to {high:,.0f}"


def _row(arm: StoredArm) -> tuple[str, ...]:
    certificate, config = arm.certificate, arm.config
    private = certificate.model != "none"
    return (
        arm.key,
        with_bounds(*arm.interval),
        as_written(config["bonus"]["scale"]),
        as_written(config["confidence"]["scale"]) if private else "-",
        "pooled" if config["agent"].get("pooled") else "per step",
        f"{certificate.model}{' (declared)' * certificate.declared}",
        as_written(certificate.delta),
        at_most(certificate.add_remove),
        at_most(certificate.replace_one),
    )


def as_csv(records: Sequence[Mapping[str, object]], header: Sequence[str] = ()) -> str:
    """A table for programs: a line for each record; without a header, it is the keys of the first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, header or list(records[0] if records else ()), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: as_cell(value) for key, value in record.items()} for record in records)
    return text.getvalue()


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table for readers, the header first; its first column to the left, the others to the right."""
    header, *body = rows
    rule = [":--", *["--:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *body))


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns of equal width for a terminal, the first to the left, the others to the right."""
    first, *rest = (max(len(row[column]) for row in rows) for column in range(len(rows[0])))
    lines = [
        [row[0].ljust(first), *(cell.rjust(width) for cell, width in zip(row[1:], rest, strict=True))]
        for row in rows
    ]
    return "\n".join("  ".join(line).rstrip() for line in lines)
