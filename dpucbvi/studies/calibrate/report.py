"""calibration.csv: every point of the grid with its objective; conf/arm/ holds each agent's first choice."""

from pathlib import Path

from dpucbvi.calibration import calibrations
from dpucbvi.reports.files import write_csv
from dpucbvi.store import StoredExperiment

HEADER = ("algorithm", "bonus_scale", "confidence_scale", "objective", "chosen")


def write_calibration(experiment: StoredExperiment, folder: Path) -> list[Path]:
    rows = [
        (
            made.label,
            scales[0],
            scales[1] if len(scales) == 2 else "",
            f"{value:.1f}",
            int(scales == made.choice),
        )
        for made in calibrations(experiment)
        for scales, value in made.objective.items()
    ]
    return [write_csv(folder / "calibration.csv", HEADER, rows)]
