"""The factors of every hypothesis about the printed figure: those whose curves are nearest to it.

The non-private curve has the hypothesis' factor on the bonus too; E is 0 there.
"""

from pathlib import Path

from matplotlib.figure import Figure

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored, Study
from experiments.studies.explain.findings import at_printed, counting, distance, hypotheses
from experiments.studies.shared.printed import at_printed_size
from experiments.studies.shared.style import BLACK, DOTTED, QUIET, dots
from experiments.studies.shared.tables import finals, write_csv

Factors = tuple[float, float]


def distances(experiment: StoredExperiment) -> dict[str, dict[Factors, float]]:
    """D of every hypothesis at every point of its grid."""
    return {name: _points(experiment, name) for name in hypotheses(experiment)}


def chosen(points: dict[Factors, float]) -> Factors:
    return min(points, key=lambda factors: points[factors])


def _points(experiment: StoredExperiment, hypothesis: str) -> dict[Factors, float]:
    arms = [arm for arm in experiment.arms if arm.panel == hypothesis]
    free = {arm.point["bonus.scale"]: arm for arm in experiment.arms if arm.panel == counting(hypothesis)}
    found: dict[Factors, list[StoredArm]] = {}
    for arm in arms:
        found.setdefault((arm.point["bonus.scale"], arm.point["confidence.scale"]), []).append(arm)
    return {
        factors: distance(
            {str(arm.printed): at_printed(arm).mean(axis=0) for arm in (free[factors[0]], *private)}
        )
        for factors, private in found.items()
    }


def table(experiment: StoredExperiment) -> Rows:
    """The chosen factors; the final regrets, if the runs have another size than the printed ones."""
    if not at_printed_size(experiment):
        return finals(experiment)
    rows: Rows = [("hypothesis", "factor on the bonus", "factor on E", "distance")]
    for name, points in distances(experiment).items():
        bonus, confidence = chosen(points)
        rows.append((name, f"{bonus:g}", f"{confidence:g}", f"{points[bonus, confidence]:.3f}"))
    return rows


def draw(experiment: StoredExperiment) -> Figure:
    """Every point of the grid as a dot, the chosen one filled; regrets, if the size is not the printed one."""
    if not at_printed_size(experiment):
        return _draw_regrets(experiment)
    found = {name: list(points.values()) for name, points in distances(experiment).items()}
    words = "distance to the printed curves (0.1: about 10%); filled: the chosen factors"
    figure, axes = dots(found, words)
    for y, points in enumerate(found.values()):
        axes.plot(min(points), y, "o", color=BLACK, markersize=5)
    axes.axvline(0.1, color=QUIET, linestyle=DOTTED)
    return figure


def _draw_regrets(experiment: StoredExperiment) -> Figure:
    found: dict[str, list[float]] = {}
    for arm in experiment.arms:
        found.setdefault(str(arm.panel), []).append(arm.mean)
    figure, _ = dots(found, "regret after the last episode; not the printed size: there is no distance")
    return figure


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    records = [
        {
            "hypothesis": name,
            "bonus_factor": bonus,
            "confidence_factor": confidence,
            "distance": f"{value:.4f}",
            "chosen": int((bonus, confidence) == chosen(points)),
        }
        for name, points in distances(experiment).items()
        for (bonus, confidence), value in points.items()
    ]
    return [write_csv(folder / "explain_fit.csv", records)]


def caption(experiment: StoredExperiment) -> str:
    return (
        "The distance of every hypothesis from the printed curves at every pair of factors; filled: the choice."
    )


STUDY = Study(draw, caption, table, write, points=400, keeps_figure=False)
