"""Put stored results into the repository: python experiments/ship.py [name ...], then experiments/paper.py.

An experiment ships if its stored settings are those of its file in conf/exp; other results stay where they are.
Without names, experiments that shipped before and are not in results/ keep the runs that they shipped.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

from functools import partial

from dpucbvi.errors import InputError
from experiments.lab.compose import experiments
from experiments.lab.process import parser, print_errors, take
from experiments.lab.shipped import Shipped
from experiments.lab.store import Store
from experiments.studies import study
from experiments.studies.artifact.conf import check_index


def ship(name: str, store: Store, shipped: Shipped) -> list[str]:
    """Write the file of one experiment; what was done, in a line."""
    if name not in store.experiments():
        raise InputError(f"{name}: not stored in {store.folder}; run it: experiments/run.py +exp={name}")
    experiment = store.load_experiment(name)
    check_index(name, experiment)
    made = study(experiment.study)
    file = shipped.ship(experiment, made.points, made.ships_state)
    entry = shipped.manifest()[name]
    return [f"{name}: {entry['runs']:,} runs in {entry['bytes'] / 1000:,.0f} kB, {file}"]


def main() -> None:
    arguments = parser(__doc__, "experiments of conf/exp", results="results", paper="paper").parse_args()
    store, shipped = Store(arguments.results), Shipped(arguments.paper / "results")
    stay = [] if arguments.names else sorted(set(shipped.experiments()) - set(store.experiments()))
    names = [name for name in arguments.names or experiments() if name not in stay]
    failed = take({name: partial(ship, name, store, shipped) for name in names})
    if stay:
        print(f"{len(stay)} not stored in {store.folder}: they stay as they have shipped")
    print_errors(failed.values())
    sys.exit(min(len(failed), 1))


if __name__ == "__main__":
    main()
