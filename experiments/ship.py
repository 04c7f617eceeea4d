"""Put stored results into the repository: python experiments/ship.py [name ...], then experiments/paper.py.

An experiment ships if it is stored just as its file in conf/exp says; what else lies in results/ stays there.
"""

import argparse
import json
import sys
from pathlib import Path

from dpucbvi.errors import InputError
from dpucbvi.lab.compose import composed, experiments, fingerprint
from dpucbvi.lab.shipped import Shipped
from dpucbvi.lab.store import Store
from dpucbvi.studies import check_state, study
from dpucbvi.studies.artifact.expected import check_ids

ROOT = Path(__file__).resolve().parents[1]


def ship(name: str, store: Store, shipped: Shipped) -> str:
    """Write the file of one experiment; what was done, in a line."""
    if name not in store.experiments():
        raise InputError(f"{name}: not stored in {store.folder}; run it: experiments/run.py +exp={name}")
    found = json.loads(store.index(name).read_text())["arms"]
    check_ids(name, {key: arm["runs"] for key, arm in found.items()})
    experiment = store.load_experiment(name)
    check_state(experiment)
    made = study(experiment.study)
    file = shipped.ship(experiment, made.points, made.ships_state, fingerprint(composed(name)))
    entry = shipped.manifest()[name]
    return f"{name}: {entry['runs']:,} runs in {entry['bytes'] / 1000:,.0f} kB, {file}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="experiments of conf/exp; all, if none is named")
    parser.add_argument("--results", type=Path, default=Path("results"), help="relative to the repository")
    parser.add_argument("--paper", type=Path, default=Path("paper"), help="relative to the repository")
    arguments = parser.parse_args()
    store, shipped = Store(ROOT / arguments.results), Shipped(ROOT / arguments.paper / "results")
    failed = 0
    for name in arguments.names or experiments():
        try:
            print(ship(name, store, shipped), flush=True)
        except InputError as error:
            print(f"error: {error}", file=sys.stderr)
            failed += 1
    sys.exit(min(failed, 1))


if __name__ == "__main__":
    main()
