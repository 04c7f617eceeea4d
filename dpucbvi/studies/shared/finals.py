"""The table at the end of a run, from stored results; which one depends on the kind of figure."""

import math

import numpy as np

from dpucbvi.calibration import SCALES, around, calibrations
from dpucbvi.matching import printed_matches
from dpucbvi.stats import summarise, three_digits
from dpucbvi.store import StoredArm, StoredExperiment

HEADER = ("arm", "regret", "95% ±", "privacy", "ε add/remove", "ε replace-one")


def table(experiment: StoredExperiment) -> str:
    """What a run says of itself in the end."""
    rows = {"calibration": _choices, "epsilon": _matches}.get(experiment.figure["kind"], _finals)(experiment)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(_pad(row, widths)).rstrip() for row in rows)


def _finals(experiment: StoredExperiment) -> list[tuple[str, ...]]:
    """For every arm the regret after its last episode, over its runs, and the ε that they certify."""
    return [HEADER, *(_row(arm) for arm in experiment.arms)]


def _choices(experiment: StoredExperiment) -> list[tuple[str, ...]]:
    """For every algorithm the scales chosen, and by which factors the objective is larger beside them."""
    rows: list[tuple[str, ...]] = [("algorithm", *SCALES, "objective", "a step beside it")]
    for calibration in calibrations(experiment):
        beside = ", ".join(f"× {ratio:.3g}" for ratio in sorted(around(calibration).values()))
        objective = _regret(calibration.objective[calibration.choice])
        scales = [f"{scale:g}" for scale in calibration.choice]
        rows.append((calibration.label, *scales, *["-"] * (len(SCALES) - len(scales)), objective, beside))
    return rows


def _matches(experiment: StoredExperiment) -> list[tuple[str, ...]]:
    """For every printed curve the ε (for UCBVI, the scale) at which an algorithm has its final regret."""
    found = printed_matches(experiment)
    if not found:
        return _finals(experiment)
    rows: list[tuple[str, ...]] = [
        ("printed curve", "regret", "algorithm", "setting", "matches at", "95% interval")
    ]
    for curve, label, setting, regret, match in found:
        if match is None:
            answer = ("nowhere", "-")
        else:
            answer = (three_digits(match.x), f"{three_digits(match.low)} to {three_digits(match.high)}")
        rows.append((curve, _regret(regret), label, setting, *answer))
    return rows


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
    """The first column to the left, the rest to the right."""
    rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
    return [row[0].ljust(widths[0]), *rest]
