"""The factors of every hypothesis about the printed figure, and of UCBVI: those with the nearest curves."""

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Study
from experiments.studies.explain.findings import distance_of
from experiments.studies.shared.arms import grouped, panels_of
from experiments.studies.shared.printed import at_printed_size
from experiments.studies.shared.tables import finals

HEADER = ("hypothesis", "bonus_factor", "confidence_factor", "distance", "chosen")
Factors = tuple[str, str]


def distances(experiment: StoredExperiment) -> dict[str, dict[Factors, float]]:
    """D of every hypothesis at every point of its grid."""

    def factors(arm: StoredArm) -> Factors:
        return str(arm.point["bonus.scale"]), str(arm.point.get("confidence.scale", ""))

    return {
        name: {
            point: distance_of({str(arm.printed): arm for arm in here})
            for point, here in grouped(arms, factors).items()
        }
        for name, arms in panels_of(experiment).items()
    }


def records(experiment: StoredExperiment) -> list[dict[str, object]]:
    """Every point of every grid, the chosen one marked."""
    return [
        dict(zip(HEADER, (name, *factors, f"{value:.4f}", int(value == min(found.values()))), strict=True))
        for name, found in distances(experiment).items()
        for factors, value in found.items()
    ]


def table(experiment: StoredExperiment) -> Rows:
    """The chosen factors; the final regrets, if the runs have another size than the printed ones."""
    if not at_printed_size(experiment):
        return finals(experiment)
    rows = [list(map(str, record.values())) for record in records(experiment) if record["chosen"]]
    return [HEADER[:-1], *(tuple(row[:-1]) for row in rows)]


STUDY = Study(None, table, records=records, points=400)
