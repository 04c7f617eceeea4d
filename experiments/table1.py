"""Write paper/tables/ and paper/figures/table1.png from stored results: python experiments/table1.py."""

import argparse
import shutil
import sys
from pathlib import Path

from dpucbvi.errors import InputError
from dpucbvi.figures import draw
from dpucbvi.reports.calibration import write_calibration
from dpucbvi.reports.table1 import write_table1
from dpucbvi.store import Store

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("results"), help="relative to the repository")
    parser.add_argument("--paper", type=Path, default=Path("paper"), help="relative to the repository")
    arguments = parser.parse_args()
    results, paper = ROOT / arguments.results, ROOT / arguments.paper
    try:
        written = write(Store(results), paper)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    for path in written:
        print(path)


def write(store: Store, paper: Path) -> list[Path]:
    """The table and its figure; with what is stored of the calibrations: the part on factors, the grid."""
    experiment, stored = store.load_experiment("table1"), store.experiments()
    environments = "calibrate_environments"
    factors = store.load_experiment(environments) if environments in stored else None
    written = write_table1(experiment, factors, paper / "tables")
    if "calibrate_table1" in stored:
        written += write_calibration(store.load_experiment("calibrate_table1"), paper / "tables")
    drawn = draw(experiment, store.folder / "figures")[0]
    (paper / "figures").mkdir(parents=True, exist_ok=True)
    return [*written, Path(shutil.copy(drawn, paper / "figures" / "table1.png"))]


if __name__ == "__main__":
    main()
