"""Put stored results into the repository: python experiments/ship.py [name ...], then experiments/paper.py.

An experiment ships if it is stored just as its file in conf/exp says; what else lies in results/ stays there.
Without names, one that has shipped and is not stored stays as it has shipped.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import argparse

from dpucbvi.errors import InputError
from experiments.lab.compose import composed, experiments, fingerprint, named
from experiments.lab.shipped import Shipped
from experiments.lab.store import Store
from experiments.studies import check_state, study
from experiments.studies.artifact.conf import check_index

ROOT = Path(__file__).resolve().parents[1]


def ship(name: str, store: Store, shipped: Shipped) -> str:
    """Write the file of one experiment; what was done, in a line."""
    if name not in store.experiments():
        raise InputError(f"{name}: not stored in {store.folder}; run it: experiments/run.py +exp={name}")
    experiment = store.load_experiment(name)
    check_index(name, experiment)
    check_state(experiment)
    made = study(experiment.study)
    file = shipped.ship(experiment, made.points, made.ships_state, fingerprint(composed(name)))
    entry = shipped.manifest()[name]
    return f"{name}: {entry['runs']:,} runs in {entry['bytes'] / 1000:,.0f} kB, {file}"


def ship_all(names: list[str], store: Store, shipped: Shipped) -> int:
    """Ship these or, without names, all that are stored, and print a line for each; how many failed."""
    failed = left = 0
    for name in names or experiments():
        try:
            if not names and name not in store.experiments() and name in shipped.experiments():
                left += 1
            else:
                print(ship(name, store, shipped), flush=True)
        except Exception as error:  # one that is wrong must not cost the others
            print(f"error: {named(name, error)}", file=sys.stderr)
            failed += 1
    if left:
        print(f"{left} not stored in {store.folder}: they stay as they have shipped")
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="experiments of conf/exp; all, if none is named")
    parser.add_argument("--results", type=Path, default=Path("results"), help="relative to the repository")
    parser.add_argument("--paper", type=Path, default=Path("paper"), help="relative to the repository")
    arguments = parser.parse_args()
    store, shipped = Store(ROOT / arguments.results), Shipped(ROOT / arguments.paper / "results")
    sys.exit(min(ship_all(arguments.names, store, shipped), 1))


if __name__ == "__main__":
    main()
