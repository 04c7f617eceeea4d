"""Where each algorithm has a printed regret: said at the end of the run, and in epsilon.csv.

The panel `matched` of +exp=riverswim, which is in its table only, is run at what this file says.
"""

from pathlib import Path

from dpucbvi.stats import three_digits
from experiments.lab.store import StoredExperiment
from experiments.studies import Rows, Stored
from experiments.studies.epsilon.matching import EPSILON, FACTOR, printed_matches
from experiments.studies.shared.files import write_csv
from experiments.studies.shared.finals import as_regret, finals

SETTINGS = {EPSILON: "ε (a user added or removed)", FACTOR: "factor on the bonus"}
HEADER = ("curve", "printed_regret", "algorithm", "setting", "value", "low", "high")


def matches(experiment: StoredExperiment) -> Rows:
    """For every printed curve the ε (for UCBVI, the factor) at which an algorithm has its final regret.

    The final regrets, if the run has another size than the printed one.
    """
    found = printed_matches(experiment)
    if not found:
        return finals(experiment)
    rows: Rows = [("printed curve", "regret", "algorithm", "setting", "matches at", "95% interval")]
    for curve, label, setting, regret, match in found:
        if match is None:
            answer = ("nowhere", "-")
        else:
            answer = (three_digits(match.x), f"{three_digits(match.low)} to {three_digits(match.high)}")
        rows.append((curve, as_regret(regret), label, SETTINGS[setting], *answer))
    return rows


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    """epsilon.csv; an algorithm that never has the printed regret has no value there."""
    rows = []
    for curve, label, setting, regret, match in printed_matches(experiment):
        numbers = [f"{value:.6g}" for value in match] if match else ["", "", ""]
        rows.append((curve, f"{regret:g}", label, setting, *numbers))
    return [write_csv(folder / "epsilon.csv", HEADER, rows)]
