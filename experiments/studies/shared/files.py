"""The three formats of a table: CSV for programs, Markdown for readers, aligned text for a terminal."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """A file for programs."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
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
