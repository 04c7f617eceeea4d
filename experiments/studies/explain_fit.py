"""The factors of every hypothesis about the printed figure: those whose curves are nearest to it.

The non-private curve has the hypothesis' factor on the bonus too; E is 0 there.
"""

from pathlib import Path

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.explain.findings import at_printed, counting, distance, hypotheses
from experiments.studies.shared.printed import at_printed_size
from experiments.studies.shared.tables import finals, write_csv

HEADER = ("hypothesis", "bonus_factor", "confidence_factor", "distance", "chosen")
Factors = tuple[float, float]


def distances(experiment: StoredExperiment, hypothesis: str) -> dict[Factors, float]:
    """D of a hypothesis at every point of its grid."""
    free = {arm.point["bonus.scale"]: arm for arm in experiment.arms if arm.panel == counting(hypothesis)}
    found: dict[Factors, list[StoredArm]] = {}
    for arm in experiment.arms:
        if arm.panel == hypothesis:
            found.setdefault((arm.point["bonus.scale"], arm.point["confidence.scale"]), []).append(arm)
    return {
        factors: distance(
            {str(arm.printed): at_printed(arm).mean(axis=0) for arm in (free[factors[0]], *private)}
        )
        for factors, private in found.items()
    }


def points(experiment: StoredExperiment) -> Rows:
    """Every point of every grid, the chosen one marked."""
    rows: Rows = [HEADER]
    for name in hypotheses(experiment):
        found = distances(experiment, name)
        for factors, value in found.items():
            chosen = int(value == min(found.values()))
            rows.append((name, *map(str, factors), f"{value:.4f}", str(chosen)))
    return rows


def table(experiment: StoredExperiment) -> Rows:
    """The chosen factors; the final regrets, if the runs have another size than the printed ones."""
    if not at_printed_size(experiment):
        return finals(experiment)
    header, *rows = points(experiment)
    return [header[:-1], *(row[:-1] for row in rows if row[-1] == "1")]


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    header, *rows = points(experiment)
    records = [dict(zip(header, row, strict=True)) for row in rows]
    return [write_csv(folder / "explain_fit.csv", records)]


STUDY = Study(None, table, write, points=400)
