"""What is said of a calibration: the choices at the end of its run, and a CSV with every point of the grid."""

from pathlib import Path

from dpucbvi.calibrate import around
from experiments.lab.store import StoredExperiment
from experiments.studies import Rows, Stored
from experiments.studies.calibrate.rule import calibrations
from experiments.studies.shared.files import write_csv
from experiments.studies.shared.finals import as_regret

HEADER = ("algorithm", "bonus_factor", "confidence_factor", "objective", "chosen")
HEADER_OF_CHOICES = (
    "algorithm",
    "factor on the bonus",
    "factor on E",
    "objective",
    "a step beside it",
    "within 10%",
    "at the edge",
)


def choices(experiment: StoredExperiment) -> Rows:
    """For every algorithm the factors chosen, and how much hangs on the choice.

    That is how many times larger the objective is a step beside them, how many points are within 10% of the
    least, and whether a better one may lie outside the grid.
    """
    rows: Rows = [HEADER_OF_CHOICES]
    for made in calibrations(experiment):
        bonus, confidence, *_ = (*(f"{factor:g}" for factor in made.choice), "-")
        beside = ", ".join(f"× {ratio:.3g}" for ratio in sorted(around(made).values()))
        within = f"{len(made.valley)} of {len(made.objective)}"
        regret, edge = as_regret(made.objective[made.choice]), "yes" if made.at_edge else "no"
        rows.append((made.label, bonus, confidence, regret, beside, within, edge))
    return rows


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    """Every point of the grid with its objective; conf/arm/ holds each agent's first choice."""
    rows = [
        (
            made.label,
            factors[0],
            factors[1] if len(factors) == 2 else "",
            f"{value:.1f}",
            int(factors == made.choice),
        )
        for made in calibrations(experiment)
        for factors, value in made.objective.items()
    ]
    return [write_csv(folder / f"{experiment.name}.csv", HEADER, rows)]
