"""Results as tables: what an experiment left.

    runs = dp.load("riverswim")                     # arm -> its runs, as dp.run gives them for several seeds
    runs.to_frame()                                 # a row per arm, seed and recorded episode

`results/<name>.csv` is the same table with fewer episodes, for programs that know nothing of this package.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.files import replacing
from dpucbvi.trace import Runs
from experiments.lab.shipped import Shipped
from experiments.lab.store import Store, StoredArm, StoredExperiment, StoredRun

if TYPE_CHECKING:
    from pandas import DataFrame

CSV_EPISODES = 50  # of a run in the file, evenly spaced in its record, with the last


class Results(dict[str, Runs]):
    """The arms of a stored experiment by key, each with its runs."""

    def __init__(self, experiment: StoredExperiment):
        super().__init__({arm.key: traces_of(arm) for arm in experiment.arms})
        self.experiment = experiment

    def to_frame(self) -> "DataFrame":
        """A table with a row per arm, seed and recorded episode, and the settings that tell arms apart."""
        return table(self.experiment)


def load(name: str, results: str | Path = "results") -> Results:
    """The stored experiment of this name.

    `results` is the folder that its config calls runtime.results, or that of the results that ship,
    paper/results.
    """
    folder = Path(results).expanduser()
    shipped = Shipped(folder)
    store = shipped if shipped.manifest_file.is_file() else Store(folder)
    if name not in store.experiments():
        raise InputError(f"load: no experiment {name!r} in {store.folder}; {_stored(store.experiments())}")
    return Results(store.load_experiment(name))


def table(experiment: StoredExperiment) -> "DataFrame":
    """A row per arm, seed and recorded episode."""
    from pandas import DataFrame, concat

    return concat([DataFrame(columns) for columns in _columns(experiment)], ignore_index=True)


def write_csv(experiment: StoredExperiment, folder: Path) -> Path:
    """`<folder>/<name>.csv`: about CSV_EPISODES of each run. By hand: pandas takes a second to import."""
    runs = list(_columns(experiment, CSV_EPISODES))
    names = list(dict.fromkeys(name for columns in runs for name in columns))
    path = folder / f"{experiment.name}.csv"
    with replacing(path) as partial, open(partial, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for columns in runs:
            whole = np.broadcast_arrays(*(np.array(columns.get(name), dtype=object) for name in names))
            writer.writerows(zip(*whole, strict=True))
    return path


def _columns(experiment: StoredExperiment, episodes: int | None = None) -> Iterator[dict[str, Any]]:
    """Of every run: what is the same in all its rows, and what differs as arrays."""
    for arm in experiment.arms:
        for run in arm.runs:
            trace, last = run.trace, len(run.trace.episodes) - 1
            kept = np.unique(np.linspace(0, last, min(episodes or last + 1, last + 1)).round().astype(int))
            yield {
                **_facts(arm, run),
                "seed": run.config["seed"],
                "episode": trace.episodes[kept],
                "regret": trace.regret[kept],
                "policy_changes": trace.policy_changes[kept],
                "fallbacks": trace.fallbacks[kept],
            }


def traces_of(arm: StoredArm) -> Runs:
    """A stored arm as dp.run would have returned it."""
    return Runs(tuple(run.config["seed"] for run in arm.runs), tuple(run.trace for run in arm.runs))


def _facts(arm: StoredArm, run: StoredRun) -> dict[str, Any]:
    """What is the same in all rows of an arm."""
    config, certified = run.config, run.certificate
    return {
        "arm": arm.of,
        "label": arm.label,
        **arm.point,
        "env": config["env"]["name"],
        "agent": config["agent"]["name"],
        "pooled": config["agent"].get("pooled", False),
        "privatizer": config["privatizer"]["name"],
        "bonus_factor": config["bonus"]["scale"],
        "confidence_factor": config["confidence"]["scale"],
        "privacy": certified.model,
        "epsilon_add_remove": certified.add_remove,
        "epsilon_replace_one": certified.replace_one,
        "delta": certified.delta,
    }


def _stored(names: Iterable[str]) -> str:
    return f"it has {', '.join(names)}" if names else "it has none"
