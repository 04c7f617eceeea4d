"""Redraw figures from stored results: python experiments/figures.py [name ...] (all, if none is named)."""

import argparse
import sys
from pathlib import Path

from dpucbvi.errors import InputError
from dpucbvi.figures import draw
from dpucbvi.store import Store

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="stored experiments; all, if none is named")
    parser.add_argument("--results", type=Path, default=Path("results"), help="relative to the repository")
    arguments = parser.parse_args()
    results = ROOT / arguments.results
    try:
        for name in arguments.names or Store(results).experiments():
            for path in draw(Store(results).load_experiment(name), results / "figures"):
                print(path)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
