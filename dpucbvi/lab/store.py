"""Results on disk: a folder per run, named by what was run, and an index per experiment.

    runs/<id>/config.yaml        the settings that can change the result, and the seed; <id> is their hash
    runs/<id>/provenance.json    which code on which machine, seconds, noise, certificate, what was checked
    runs/<id>/trace.npz          regret along the way and the final state (trace.py)
    experiments/<name>.json      arms and their runs: all that figures and tables start from
    checkpoints/<id>.npz         the state of a run that is not finished

A folder is written aside and renamed, so a run is there completely or not at all. Nothing is ever changed in
place: a run that is there is loaded, one that cannot be read is computed again.
"""

import hashlib
import json
import math
import os
import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import yaml
from omegaconf import OmegaConf

from dpucbvi.errors import InputError
from dpucbvi.lab.settings import RunSettings, to_dict
from dpucbvi.mdp import TabularMDP
from dpucbvi.privatizers.certificate import RELEASE, SIMULATION, Certificate
from dpucbvi.privatizers.laplace import STREAMS
from dpucbvi.trace import Trace

UNREADABLE = (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile, zlib.error, yaml.YAMLError)
YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where PyYAML was built with it
FROM_ELSEWHERE = ("file", "gymnasium")  # environments that the settings alone do not determine
PER_EPISODE = ("episodes", "regret", "policy_changes", "fallbacks")
ARRAYS = (*PER_EPISODE, "N_sa", "Q")
ID_LENGTH = 16
EPSILONS = ("add_remove", "replace_one")
NOISE = {
    SIMULATION: "simulation: the seed determines it",
    RELEASE: "release: words of the operating system's cryptographic generator, which nothing repeats",
}
# Settings that are younger than the first stored results, with the value that every run had before them. At
# that value they are no part of a run's name, so that it keeps the name it had.
YOUNGER: dict[str, dict[str, Any]] = {
    "agent": {"cap": "H", "minimum": True},
    "privatizer": {"families": "paper", "every": 1, "noise": SIMULATION},
    "postprocess": {"zero": 0.0, "known_rewards": False},
}


class StoredRun(NamedTuple):
    """One run as it lies on disk."""

    config: dict[str, Any]
    provenance: dict[str, Any]
    trace: Trace

    @property
    def certificate(self) -> Certificate:
        return self.trace.certificate


class StoredArm(NamedTuple):
    """An arm with its runs: the config's arm `of` at one `point` of its grid."""

    key: str
    of: str
    point: dict[str, Any]
    label: str
    printed: str | None
    panel: str | None
    runs: list[StoredRun]


class StoredExperiment(NamedTuple):
    """All that figures and tables start from."""

    name: str
    study: str
    figure: dict[str, Any]
    arms: list[StoredArm]
    changed: tuple[str, ...] = ()  # what the command line changed of the experiment of conf/exp


def identity(settings: RunSettings, mdp: TabularMDP, seed: int) -> dict[str, Any]:
    """The canonical settings, the seed and, for an MDP from a file or of gymnasium, what was in it."""
    tree = {**to_dict(settings), "seed": seed}
    for group, before in YOUNGER.items():
        tree[group] = {key: value for key, value in tree[group].items() if before.get(key, ...) != value}
    if tree["env"]["name"] in FROM_ELSEWHERE:
        tree["env"]["sha256"] = mdp.sha256
    return tree


def run_id(identity: dict[str, Any]) -> str:
    """The first 16 hex digits of the SHA-256 of the canonical JSON."""
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:ID_LENGTH]


class Store:
    """The results folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    def run_folder(self, id: str) -> Path:
        return self.folder / "runs" / id

    def checkpoint(self, id: str) -> Path:
        return self.folder / "checkpoints" / f"{id}.npz"

    def index(self, name: str) -> Path:
        return self.folder / "experiments" / f"{name}.json"

    def save(self, tree: dict[str, Any], trace: Trace, seconds: float, origin: dict[str, Any]) -> None:
        """Write a finished run of this identity and drop its checkpoint."""
        final = self.run_folder(run_id(tree))
        partial = final.with_name(f".{final.name}-{os.getpid()}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        OmegaConf.save(OmegaConf.create(tree), partial / "config.yaml")
        _write_json(partial / "provenance.json", _provenance(tree["seed"], trace, seconds, origin))
        np.savez_compressed(partial / "trace.npz", **{key: getattr(trace, key) for key in ARRAYS})
        self.remove(final.name)  # if there is one, it could not be read
        os.rename(partial, final)
        self.checkpoint(final.name).unlink(missing_ok=True)

    def load(self, id: str) -> StoredRun:
        """Read a run; one of UNREADABLE is raised if it is not complete."""
        folder = self.run_folder(id)
        config = yaml.load((folder / "config.yaml").read_bytes(), YAML)
        if run_id(config) != id:
            raise ValueError(f"{folder}: config.yaml is not the one that names this folder")
        provenance = json.loads((folder / "provenance.json").read_text())
        with np.load(folder / "trace.npz", allow_pickle=False) as data:
            arrays = {key: data[key] for key in ARRAYS}
        return stored_run(config, provenance, arrays)

    def has(self, id: str) -> bool:
        """Whether the run is there; what is left of one that cannot be read is removed."""
        try:
            self.load(id)
        except UNREADABLE:
            self.remove(id)
            return False
        return True

    def code(self, id: str) -> str | None:
        """The hash of the code that made the run (provenance.code)."""
        return json.loads((self.run_folder(id) / "provenance.json").read_text()).get("code")

    def remove(self, id: str) -> None:
        """Remove a run, and what an interrupted save left of it."""
        shutil.rmtree(self.run_folder(id), ignore_errors=True)
        for leftover in (self.folder / "runs").glob(f".{id}-*"):
            if leftover.name != f".{id}-{os.getpid()}":
                shutil.rmtree(leftover, ignore_errors=True)

    def save_experiment(
        self,
        name: str,
        study: str,
        figure: dict[str, Any],
        arms: dict[str, dict[str, Any]],
        changed: Sequence[str] = (),
    ) -> None:
        """Write the index: which study it is, and for every arm its label, printed curve and run ids."""
        final = self.index(name)
        final.parent.mkdir(parents=True, exist_ok=True)
        partial = final.with_name(f".{name}-{os.getpid()}")
        tree = {"name": name, "study": study, "changed": list(changed), "figure": figure, "arms": arms}
        _write_json(partial, tree)
        os.replace(partial, final)

    def load_experiment(self, name: str) -> StoredExperiment:
        """An experiment with all its runs; InputError if it is not there or not complete."""
        try:
            index = json.loads(self.index(name).read_text())
            arms = [
                StoredArm(key, **{**arm, "runs": [self.load(id) for id in arm["runs"]]})
                for key, arm in index["arms"].items()
            ]
            changed = tuple(index.get("changed", ()))
            return StoredExperiment(index["name"], index["study"], index["figure"], arms, changed)
        except UNREADABLE as error:
            raise InputError(
                f"{name}: not (completely) stored in {self.folder}; run it again ({error})"
            ) from None

    def experiments(self) -> list[str]:
        """The names of all stored experiments."""
        return sorted(path.stem for path in self.index("").parent.glob("[!.]*.json"))


def stored_run(config: dict[str, Any], provenance: dict[str, Any], arrays: dict[str, Any]) -> StoredRun:
    """A run from what its files say; ValueError if its arrays cannot be of one run."""
    if {len(arrays[key]) for key in PER_EPISODE} != {len(arrays["episodes"])}:
        raise ValueError(f"run {run_id(config)}: the arrays of its trace differ in length")
    numbers = {key: provenance[key] for key in ("checks", "noise_scale", "E")}
    certificate = _certificate(provenance["certificate"])
    return StoredRun(config, provenance, Trace(**arrays, **numbers, certificate=certificate))


def _certificate(tree: dict[str, Any]) -> Certificate:
    """JSON has no infinity: for the two ε, null stands for it."""
    given = {**Certificate._field_defaults, **tree}
    for key in EPSILONS:
        given[key] = math.inf if given[key] is None else given[key]
    return Certificate(**given)


def _provenance(seed: int, trace: Trace, seconds: float, origin: dict[str, Any]) -> dict[str, Any]:
    certificate = {
        key: None if value == math.inf else value for key, value in trace.certificate._asdict().items()
    }
    streams = {name: {"entropy": seed, "spawn_key": [i]} for i, name in enumerate(STREAMS)}
    if trace.certificate.noise == RELEASE:
        del streams["privacy"]
    return {
        **origin,
        "seed": seed,
        "streams": streams,
        "noise": NOISE[trace.certificate.noise],
        "seconds": seconds,
        "certificate": certificate,
        "noise_scale": trace.noise_scale,
        "E": trace.E,
        "checks": trace.checks,
    }


def _write_json(path: Path, tree: dict[str, Any]) -> None:
    path.write_text(json.dumps(tree, indent=2, ensure_ascii=False) + "\n")
