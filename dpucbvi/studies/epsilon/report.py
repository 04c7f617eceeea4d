"""matching.csv: where each algorithm has the printed regret; panel b of Figure 1 is run there."""

from pathlib import Path

from dpucbvi.matching import printed_matches
from dpucbvi.reports.files import write_csv
from dpucbvi.store import StoredExperiment

HEADER = ("curve", "printed_regret", "algorithm", "setting", "value", "low", "high")


def write_matching(experiment: StoredExperiment, folder: Path) -> list[Path]:
    rows = []
    for curve, label, setting, regret, match in printed_matches(experiment):
        numbers = [f"{value:.4g}" for value in match] if match else ["", "", ""]
        rows.append((curve, f"{regret:g}", label, setting, *numbers))
    return [write_csv(folder / "matching.csv", HEADER, rows)]
