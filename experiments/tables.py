"""Write paper/results/ and paper/figures/ from stored results: python experiments/tables.py [name ...]."""

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
from dpucbvi.store import Store, StoredExperiment

ROOT = Path(__file__).resolve().parents[1]


class Report(NamedTuple):
    """What is kept of an experiment: tables, and its figure under the name by which the paper has it."""

    write: Callable[[StoredExperiment, Path], list[Path]]
    figure: str


# In the order of their dependence: figure1 quotes what epsilon writes.
REPORTS = {
    "calibrate": Report(write_calibration, "calibration"),
    "epsilon": Report(write_matching, "epsilon"),
    "riverswim": Report(write_figure1, "figure1"),
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
        experiment = store.load_experiment(name)
        if not final_regrets(experiment.arms[0].runs[0].config):
            raise InputError(f"{name}: stored at another size than the paper's; run it again as it is")
        (paper / "results").mkdir(parents=True, exist_ok=True)
        (paper / "figures").mkdir(exist_ok=True)
        written += REPORTS[name].write(experiment, paper / "results")
        drawn = draw(experiment, results / "figures")[0]
        written.append(paper / "figures" / f"{REPORTS[name].figure}.png")
        save_small(drawn, written[-1])
    return written


def save_small(drawn: Path, path: Path) -> None:
    """A copy with a palette of 256 colours, a third of the size: these files are kept in the repository."""
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    main()
