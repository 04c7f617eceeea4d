"""Write paper/{results,tables,figures}/ from stored results: python experiments/tables.py [name ...]."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from dpucbvi.errors import InputError
from dpucbvi.figures import draw
from dpucbvi.printed import final_regrets
from dpucbvi.reports.calibration import write_calibration
from dpucbvi.reports.figure1 import write_figure1
from dpucbvi.reports.matching import write_matching
from dpucbvi.reports.table1 import write_table1
from dpucbvi.store import Store, StoredExperiment

ROOT = Path(__file__).resolve().parents[1]


def no_table(experiment: StoredExperiment, folder: Path) -> list[Path]:
    """Of some experiments only the figure is kept."""
    return []


class Report(NamedTuple):
    """What is kept of an experiment: tables in a folder, and its figure under the name the paper has for it."""

    write: Callable[[StoredExperiment, Path], list[Path]]
    folder: str
    figure: str | None
    printed_size: bool = False  # it quotes the printed curves, so K must be theirs


# In the order of their dependence: figure1 quotes what epsilon writes.
REPORTS = {
    "calibrate": Report(write_calibration, "results", "calibration", True),
    "epsilon": Report(write_matching, "results", "epsilon", True),
    "riverswim": Report(write_figure1, "results", "figure1", True),
    "literal": Report(no_table, "results", "literal"),
    "literal_learns": Report(no_table, "results", "literal_learns"),
    "privacy_for_free": Report(no_table, "results", "privacy_for_free"),
    "horizon": Report(no_table, "results", "horizon"),
    "calibrate_table1": Report(write_calibration, "tables", None, True),
    "table1": Report(no_table, "tables", "table1", True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"of {', '.join(REPORTS)}; all that are stored, if none is named"
    )
    parser.add_argument("--results", type=Path, default=Path("results"), help="relative to the repository")
    parser.add_argument("--paper", type=Path, default=Path("paper"), help="relative to the repository")
    arguments = parser.parse_args()
    try:
        for path in write(arguments.names, ROOT / arguments.results, ROOT / arguments.paper):
            print(path)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


def write(names: list[str], results: Path, paper: Path) -> list[Path]:
    """The tables and figures of the named experiments; of all that are stored, if none is named."""
    store = Store(results)
    for name in names:
        if name not in REPORTS:
            raise InputError(f"{name}: no table is made of it; it is one of {', '.join(REPORTS)}")
    written = []
    for name in [n for n in REPORTS if n in (names or store.experiments())]:
        experiment, report = store.load_experiment(name), REPORTS[name]
        if report.printed_size and not final_regrets(experiment.arms[0].runs[0].config):
            raise InputError(f"{name}: stored at another size than the paper's; run it again as it is")
        folder = paper / report.folder
        folder.mkdir(parents=True, exist_ok=True)
        written += report.write(experiment, folder)
        if name == "table1":
            parts = [store.load_experiment(n) for n in store.experiments() if n == "calibrate_environments"]
            written += write_table1(experiment, parts[0] if parts else None, folder)
        if report.figure:
            written.append(keep_figure(experiment, results, paper / "figures" / f"{report.figure}.png"))
    return written


def keep_figure(experiment: StoredExperiment, results: Path, path: Path) -> Path:
    """A copy with a palette of 256 colours, a third of the size: these files are kept in the repository."""
    path.parent.mkdir(exist_ok=True)
    with Image.open(draw(experiment, results / "figures")[0]) as image:
        image.convert("RGB").quantize(256).save(path, optimize=True)
    return path


if __name__ == "__main__":
    main()
