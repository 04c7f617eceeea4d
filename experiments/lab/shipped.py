"""Results that ship: a file per experiment, small enough for the repository, and a manifest beside them.

    <name>.npz      the index, settings and provenance of all runs (JSON), and their thinned traces
    manifest.json   for each file its SHA-256, the ids of its runs, their code, packages and machine

A thinned trace has the numbers of the stored one bit for bit, at fewer episodes. The last N_sa and Q are there
only where a study draws them; elsewhere they are nan, in their true shape.
"""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.files import replacing
from dpucbvi.protocol import Ints
from dpucbvi.trace import Trace
from experiments.lab.run_files import PER_EPISODE, STATE
from experiments.lab.store import (
    StoredArm,
    StoredExperiment,
    StoredRun,
    run_id,
    stored_run,
)

ORIGIN = ("code", "commit", "dirty", "versions", "platform")
# A trace keeps the episodes next after these: whoever verifies a part of it needs some.
EARLY = (1, 10, 100, 1_000, 10_000)


class Shipped:
    """The folder of shipped results; it is read as a Store is."""

    def __init__(self, folder: Path):
        self.folder = folder

    @property
    def manifest_file(self) -> Path:
        return self.folder / "manifest.json"

    def manifest(self) -> dict[str, Any]:
        """What is known of every file, by the experiment's name; empty if nothing has shipped."""
        return json.loads(self.manifest_file.read_text()) if self.manifest_file.is_file() else {}

    def experiments(self) -> list[str]:
        return sorted(self.manifest())

    def load_experiment(self, name: str) -> StoredExperiment:
        """An experiment with all its runs; InputError if it is not there or not as the manifest says."""
        entry, file = self.manifest().get(name), self.folder / f"{name}.npz"
        if entry is None or not file.is_file():
            raise InputError(f"{name}: has not shipped; there is no {file}")
        content = file.read_bytes()
        if hashlib.sha256(content).hexdigest() != entry["sha256"]:
            raise InputError(f"{name}: {file} is not the file that the manifest names (another SHA-256)")
        try:
            return unpack(content)
        except Exception as error:  # a file can be wrong in more ways than can be listed
            raise InputError(f"{name}: {file} cannot be read ({error})") from None

    def ship(self, experiment: StoredExperiment, points: int, state: bool, settings: str) -> Path:
        """Write the experiment's file and its entry; `settings` is the fingerprint of its config."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content, file = pack(experiment, points, state), self.folder / f"{experiment.name}.npz"
        _replace(file, content)
        entry = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), "settings": settings}
        manifest = {**self.manifest(), experiment.name: {**entry, **summary(experiment)}}
        text = json.dumps(dict(sorted(manifest.items())), indent=1, ensure_ascii=False) + "\n"
        _replace(self.manifest_file, text.encode())
        return file


def summary(experiment: StoredExperiment) -> dict[str, Any]:
    """What the manifest says of an experiment: its size, where it comes from, the ids of its runs."""
    runs = {run_id(run.config): run for arm in experiment.arms for run in arm.runs}
    origins = {json.dumps(_origin(run), sort_keys=True): _origin(run) for run in runs.values()}
    return {
        "arms": len(experiment.arms),
        "runs": len(runs),
        "episodes": sum(run.config["K"] for run in runs.values()),
        "seconds": round(sum(run.provenance["seconds"] for run in runs.values())),
        "origins": [origins[key] for key in sorted(origins)],
        "ids": {arm.key: " ".join(run_id(run.config) for run in arm.runs) for arm in experiment.arms},
    }


def pack(experiment: StoredExperiment, points: int, state: bool) -> bytes:
    """The experiment as one file, its traces thinned to about so many episodes."""
    runs = {run_id(run.config): run for arm in experiment.arms for run in arm.runs}
    traces = [thinned(run.trace, points) for run in runs.values()]
    arms = {
        arm.key: {**arm._asdict(), "runs": [run_id(run.config) for run in arm.runs]} for arm in experiment.arms
    }
    index = {**experiment._asdict(), "arms": arms}
    facts = {id: {"config": run.config, "provenance": run.provenance} for id, run in runs.items()}
    arrays: dict[str, Any] = {key: np.concatenate([getattr(t, key) for t in traces]) for key in PER_EPISODE}
    for key in STATE:
        values = [getattr(trace, key) for trace in traces]
        arrays[f"{key}_shape"] = np.array([value.shape for value in values])
        arrays[key] = np.concatenate([value.ravel() for value in values]) if state else np.zeros(0)
    lengths = np.array([len(trace.episodes) for trace in traces])
    return _zipped({"index": _as_bytes(index), "runs": _as_bytes(facts), "lengths": lengths, **arrays})


def unpack(content: bytes) -> StoredExperiment:
    """The experiment that `pack` made a file of; it raises something if it is not such a file."""
    with np.load(io.BytesIO(content), allow_pickle=False) as data:
        arrays = {key: data[key] for key in data.files}
    index, facts = (json.loads(arrays[key].tobytes()) for key in ("index", "runs"))
    parts = {key: np.split(arrays[key], np.cumsum(arrays["lengths"])[:-1]) for key in PER_EPISODE}
    parts |= {key: _states(arrays[key], arrays[f"{key}_shape"]) for key in STATE}
    runs = {}
    for i, (id, fact) in enumerate(facts.items()):
        if run_id(fact["config"]) != id:
            raise ValueError(f"the settings of run {id} are not those that name it")
        runs[id] = stored_run(**fact, arrays={key: values[i] for key, values in parts.items()})
    arms = [StoredArm(**{**arm, "runs": [runs[id] for id in arm["runs"]]}) for arm in index["arms"].values()]
    return StoredExperiment(**{**index, "arms": arms, "changed": tuple(index["changed"])})


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


def _states(flat: Any, shapes: Any) -> list[Any]:
    if not flat.size:
        return [np.full(shape, np.nan) for shape in shapes]
    ends = np.cumsum(np.prod(shapes, axis=1))
    pieces = np.split(flat, ends[:-1])
    return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]


def _origin(run: StoredRun) -> dict[str, Any]:
    return {key: run.provenance.get(key) for key in ORIGIN}


def _zipped(arrays: dict[str, Any]) -> bytes:
    """What np.load reads, by LZMA: a quarter smaller than np.savez_compressed makes it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as file:
        for key, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array, allow_pickle=False)
            file.writestr(zipfile.ZipInfo(f"{key}.npy"), member.getvalue(), zipfile.ZIP_LZMA)  # no date inside
    return buffer.getvalue()


def _as_bytes(tree: dict[str, Any]) -> Any:
    return np.frombuffer(json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode(), dtype=np.uint8)


def _replace(path: Path, content: bytes) -> None:
    with replacing(path) as partial:
        partial.write_bytes(content)
