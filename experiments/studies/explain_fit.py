"""The factors of every hypothesis about the printed figure, and of UCBVI: those with the nearest curves."""

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Study
from experiments.studies.explain.findings import distance_of
from experiments.studies.shared.printed import at_printed_size
from experiments.studies.shared.tables import finals

HEADER = ("hypothesis", "bonus_factor", "confidence_factor", "distance", "chosen")
Factors = tuple[str, str]


def distances(experiment: StoredExperiment) -> dict[str, dict[Factors, float]]:
    """D of every hypothesis at every point of its grid."""
    found: dict[str, dict[Factors, dict[str, StoredArm]]] = {}
    for arm in experiment.arms:
        factors = str(arm.point["bonus.scale"]), str(arm.point.get("confidence.scale", ""))
        found.setdefault(str(arm.panel), {}).setdefault(factors, {})[str(arm.printed)] = arm
    return {
        name: {factors: distance_of(arms) for factors, arms in points.items()} for name, points in found.items()
    }


def points(experiment: StoredExperiment) -> Rows:
    """Every point of every grid, the chosen one marked."""
    rows: Rows = [HEADER]
    for name, found in distances(experiment).items():
        for factors, value in found.items():
            rows.append((name, *factors, f"{value:.4f}", str(int(value == min(found.values())))))
    return rows


def table(experiment: StoredExperiment) -> Rows:
    """The chosen factors; the final regrets, if the runs have another size than the printed ones."""
    if not at_printed_size(experiment):
        return finals(experiment)
    header, *rows = points(experiment)
    return [header[:-1], *(row[:-1] for row in rows if row[-1] == "1")]


def records(experiment: StoredExperiment) -> list[dict[str, object]]:
    header, *rows = points(experiment)
    return [dict(zip(header, row, strict=True)) for row in rows]


STUDY = Study(None, table, records=records, points=400)
