"""Results that ship: a file per experiment, small enough for the repository, and a manifest beside them.

    <name>.npz      as in a store, with the runs inside and their traces thinned
    manifest.json   for each file its SHA-256 and size, the number of its runs, their code, packages and machine

A thinned trace has the numbers of the stored one bit for bit, at fewer episodes. N_sa, Q and the policy of the
last episode are there only where a study draws them; elsewhere the first two are nan, in their true shape.
"""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from dpucbvi.archive import PER_EPISODE, encode
from dpucbvi.files import replacing
from dpucbvi.protocol import Ints
from dpucbvi.trace import Trace
from experiments.lab.store import Store, StoredExperiment, StoredRun, named, results, run_id, without_state

ORIGIN = ("code", "commit", "dirty", "versions", "platform")
# A trace keeps the first episodes recorded after these, however few are kept.
EARLY = (1, 10, 100, 1_000, 10_000)


class Shipped(Store):
    """The folder of shipped results."""

    @property
    def manifest_file(self) -> Path:
        return self.folder / "manifest.json"

    def manifest(self) -> dict[str, Any]:
        """What is known of every file, by the experiment's name; empty if nothing has shipped."""
        return json.loads(self.manifest_file.read_text("utf-8")) if self.manifest_file.is_file() else {}

    def ship(self, experiment: StoredExperiment, points: int, state: bool) -> Path:
        """Write the experiment's file and its entry."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content, file = pack(experiment, points, state), self.file(experiment.name)
        entry = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        manifest = {**self.manifest(), experiment.name: {**entry, **summary(experiment)}}
        text = json.dumps(dict(sorted(manifest.items())), indent=1, ensure_ascii=False) + "\n"
        for path, written in ((file, content), (self.manifest_file, text.encode())):
            with replacing(path) as partial:
                partial.write_bytes(written)
        return file


def summary(experiment: StoredExperiment) -> dict[str, Any]:
    """What the manifest says of an experiment: its size, and where it comes from."""
    runs = _runs(experiment).values()
    made_by = [{key: run.provenance.get(key) for key in ORIGIN} for run in runs]
    origins = {json.dumps(origin, sort_keys=True): origin for origin in made_by}
    return {
        "arms": len(experiment.arms),
        "runs": len(runs),
        "episodes": sum(run.config["K"] for run in runs),
        "seconds": round(sum(run.provenance["seconds"] for run in runs)),
        "origins": [origins[key] for key in sorted(origins)],
    }


def pack(experiment: StoredExperiment, points: int, state: bool) -> bytes:
    """The experiment as one file, its traces thinned to about so many episodes."""
    runs = _runs(experiment)
    kept = [named(run.trace, run.config, run.provenance) for run in runs.values()]
    traces = [thinned(trace if state else without_state(trace), points) for trace in kept]
    return encode({**results(experiment).about, "ids": list(runs)}, traces, zipfile.ZIP_LZMA)


def thinned(trace: Trace, points: int) -> Trace:
    """The same trace at fewer episodes."""
    keep = kept_episodes(trace.episodes, points)
    return trace._replace(**{key: getattr(trace, key)[keep] for key in PER_EPISODE})


def kept_episodes(episodes: Ints, points: int) -> Ints:
    """Which of the recorded episodes are kept: all, if there are no more than `points`, else about so many.

    They are spaced evenly in log k; some early ones are among them, the last one, and the two around K/2 from
    which studies interpolate.
    """
    if len(episodes) <= points:
        return np.arange(len(episodes))
    last = len(episodes) - 1
    wanted = np.searchsorted(episodes, [*EARLY, *np.geomspace(1, episodes[last], points)])
    half = np.searchsorted(episodes, episodes[last] / 2)
    return np.unique([*wanted[wanted < last], half - 1, half, last])


def _runs(experiment: StoredExperiment) -> dict[str, StoredRun]:
    """Every run once: arms of equal settings share theirs."""
    return {run_id(run.config): run for arm in experiment.arms for run in arm.runs}
