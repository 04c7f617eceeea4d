"""The table at the end of a run, from stored results."""

import math

import numpy as np

from dpucbvi.stats import summarise
from dpucbvi.store import StoredArm, StoredExperiment

HEADER = ("arm", "regret", "95% ±", "privacy", "ε add/remove", "ε replace-one")


def table(experiment: StoredExperiment) -> str:
    """For every arm the regret after its last episode, over its runs, and the ε that they certify."""
    rows = [HEADER, *(_row(arm) for arm in experiment.arms)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    return "\n".join("  ".join(_pad(row, widths)).rstrip() for row in rows)


def _row(arm: StoredArm) -> tuple[str, ...]:
    final = summarise(np.array([run.trace.regret[-1] for run in arm.runs]))
    certificate = arm.runs[0].certificate
    return (
        arm.key,
        _regret(float(final.mean)),
        "-" if np.isnan(final.half_width) else _regret(float(final.half_width)),
        certificate.model,
        _epsilon(certificate.add_remove),
        _epsilon(certificate.replace_one),
    )


def _regret(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _epsilon(value: float) -> str:
    return "∞" if value == math.inf else f"{value:.4g}"


def _pad(row: tuple[str, ...], widths: list[int]) -> list[str]:
    """The arm to the left, the rest to the right."""
    rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
    return [row[0].ljust(widths[0]), *rest]
