"""Results on disk: a folder per run, named by what was run, and an index per experiment.

    runs/<id>/config.yaml        the settings that can change the result, and the seed; <id> is their hash
    runs/<id>/provenance.json    which code on which machine, seconds, noise, certificate, what was checked
    runs/<id>/trace.npz          regret along the way and the final state (trace.py)
    runs/<id>/SHA256SUMS         a checksum of each of these: `sha256sum -c SHA256SUMS` checks them too
    experiments/<name>.json      arms and their runs, with a checksum: all that figures and tables start from
    checkpoints/<id>.npz         the state of a run that is not finished
    claims/<id>                  locked by the process that computes the run

A run is there completely or not at all (files.py). Nothing is ever changed in place: a run that is there is
loaded, one that cannot be read is computed again and then replaced. True counts are private data, so only
their owner can read these files; where they are not wanted, a run that has them is replaced by one without.
"""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.files import clear_leftovers, replacing, write_private
from dpucbvi.mdp import TabularMDP
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.privatizers.certificate import RELEASE, SIMULATION, Certificate
from dpucbvi.privatizers.toeplitz import BLT
from dpucbvi.protocol import Floats, Ints
from dpucbvi.trace import Trace
from experiments.lab.claims import is_claimed
from experiments.lab.run_files import (
    CONFIG,
    PROVENANCE,
    SUMS,
    Missing,
    Unreadable,
    checksum,
    content_of,
    decode,
    encode,
    to_json,
    trace_of,
    verified,
)
from experiments.lab.settings import RunSettings, run_settings, to_dict
from experiments.lab.stats import summarise
from experiments.lab.strict import arguments

FROM_ELSEWHERE = ("file", "gymnasium")  # environments that the settings alone do not determine
ID_LENGTH = 16
ID = re.compile(rf"[0-9a-f]{{{ID_LENGTH}}}")
FILE_NAME = re.compile(r"\w[\w.-]{0,99}", re.ASCII)
# Settings that are younger than the first stored results, with the value that every run had before them. At
# that value they are no part of a run's name, so that it keeps the name it had.
YOUNGER: dict[str, dict[str, Any]] = {
    "agent": {"cap": "H", "minimum": True},
    "privatizer": {"families": "paper", "every": 1, "noise": SIMULATION, "factorisation": BLT},
    "postprocess": {"zero": 0.0, "known_rewards": False, "known_support": False},
}


class StoredRun(NamedTuple):
    """One run as it lies on disk."""

    config: dict[str, Any]
    provenance: dict[str, Any]
    trace: Trace

    @property
    def certificate(self) -> Certificate:
        return self.trace.certificate

    @property
    def true_counts(self) -> bool:
        """Whether N_sa and Q were stored too, and not the regret alone."""
        return bool(self.provenance.get("true_counts", True))


class StoredArm(NamedTuple):
    """An arm with its runs: the config's arm `of` at one `point` of its grid."""

    key: str
    of: str
    point: dict[str, Any]
    label: str
    printed: str | None
    panel: str | None
    runs: list[StoredRun]

    # The runs differ in nothing but their seed, so the first answers for the settings of all.

    @property
    def config(self) -> dict[str, Any]:
        return self.runs[0].config

    @property
    def certificate(self) -> Certificate:
        return self.runs[0].certificate

    @property
    def K(self) -> int:
        """The number of episodes that the runs were set up for."""
        return int(self.config["K"])

    @property
    def sizes(self) -> tuple[int, int, int]:
        """H, S and A."""
        H, S, A = self.runs[0].trace.N_sa.shape
        return H, S, A

    @property
    def episodes(self) -> Ints:
        """The recorded episodes."""
        return self.runs[0].trace.episodes

    @property
    def regret(self) -> Floats:
        """The regret along the way, [run, recorded episode]."""
        return np.array([run.trace.regret for run in self.runs])

    @property
    def finals(self) -> Floats:
        """The regret after the last episode, [run]."""
        return np.array([run.trace.regret[-1] for run in self.runs])

    @property
    def half_and_full(self) -> tuple[Floats, Floats]:
        """The regret of every run at half its episodes and at the end."""
        half = [np.interp(self.episodes[-1] / 2, self.episodes, run.trace.regret) for run in self.runs]
        return np.array(half), self.finals

    @property
    def mean(self) -> float:
        """The mean regret after the last episode."""
        return float(self.finals.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The mean regret after the last episode and half its 95% interval (nan from a single run)."""
        mean, half_width = summarise(self.finals)
        return float(mean), float(half_width)


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


def settings_of(identity: dict[str, Any]) -> RunSettings:
    """The settings that a run was made with: what `identity` left out had the value from before it was there.

    That may be another than today's default of the part that takes it: Batches has tuned families by default.
    What was in an MDP from elsewhere is no setting.
    """
    tree = {key: value for key, value in identity.items() if key != "seed"}
    tree["env"] = {key: value for key, value in tree["env"].items() if key != "sha256"}
    taken = arguments(PRIVATIZERS[tree["privatizer"]["name"]])
    before = {key: value for key, value in YOUNGER["privatizer"].items() if key in taken}
    return run_settings({**tree, "privatizer": {**before, **tree["privatizer"]}})


def run_id(identity: dict[str, Any]) -> str:
    """The first 16 hex digits of the SHA-256 of the canonical JSON."""
    return checksum(canonical_json(identity))[:ID_LENGTH]


class Store:
    """The results folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    def run_folder(self, id: str) -> Path:
        return self.folder / "runs" / id

    def checkpoint(self, id: str) -> Path:
        return self.folder / "checkpoints" / f"{id}.npz"

    def claim(self, id: str) -> Path:
        return self.folder / "claims" / id

    def index(self, name: str) -> Path:
        return self.folder / "experiments" / f"{name}.json"

    def save(
        self,
        tree: dict[str, Any],
        trace: Trace,
        seconds: float,
        origin: dict[str, Any],
        true_counts: bool = True,
    ) -> None:
        """Write a finished run of this identity and drop its checkpoint."""
        final = self.run_folder(run_id(tree))
        final.parent.mkdir(parents=True, exist_ok=True)
        with replacing(final) as partial:
            partial.mkdir(mode=0o700)
            for name, content in encode(tree, trace, seconds, origin, true_counts).items():
                write_private(partial / name, content)
        self.checkpoint(final.name).unlink(missing_ok=True)

    def drop_true_counts(self, id: str) -> None:
        """Store a run that has its true counts again, with the regret alone."""
        run = self.load(id)
        if run.true_counts:
            self.save(run.config, run.trace, run.provenance["seconds"], run.provenance, true_counts=False)

    def tidy(self, id: str) -> None:
        """Drop what killed processes left of this run, which is stored by now: checkpoints and a claim."""
        self.checkpoint(id).unlink(missing_ok=True)
        clear_leftovers(self.checkpoint(id))
        is_claimed(self.claim(id))  # removes one that nobody has

    def load(self, id: str) -> StoredRun:
        """Read a run: Missing if there is none, Unreadable if it is not, to the last bit, what was written."""
        folder = self.run_folder(id)
        if not os.path.lexists(folder):
            raise Missing(f"{folder}: no such run")
        try:
            run = StoredRun(*decode(verified(folder)))
            if run_id(run.config) != id:
                raise Unreadable(f"{CONFIG} is not the one that names this folder")
            return run
        except Exception as error:  # a file can be wrong in more ways than can be listed
            raise Unreadable(f"{folder}: {' '.join(str(error).split()) or type(error).__name__}") from None

    def has(self, id: str, true_counts: bool = False) -> bool:
        """Whether the run is there and can be read, with its true counts if they are wanted."""
        try:
            return serves(self.load(id).provenance, true_counts)
        except Unreadable:
            return False

    def seems_stored(self, id: str, true_counts: bool) -> bool:
        """As `has`, but its trace is not read: for who wants to know how much there is to do."""
        folder = self.run_folder(id)
        try:
            provenance = json.loads(content_of(folder / PROVENANCE))
            return (folder / SUMS).is_file() and serves(provenance, true_counts)
        except Exception:  # as in load
            return False

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
        index = {"name": name, "study": study, "changed": list(changed), "figure": figure, "arms": arms}
        with replacing(final) as partial:
            write_private(partial, to_json({**index, "sha256": checksum(canonical_json(index))}))

    def load_experiment(self, name: str) -> StoredExperiment:
        """An experiment with all its runs; InputError if it is not there or not complete."""
        try:
            if not FILE_NAME.fullmatch(name):
                raise Unreadable("it must be letters, digits, '_', '-' and '.'")
            index = json.loads(content_of(self.index(name)))
            if index.pop("sha256", None) != checksum(canonical_json(index)):
                raise Unreadable("its index is not what was written: the checksum differs")
            if index["name"] != name:
                raise Unreadable(f"its index is that of {index['name']}")
            arms = [
                StoredArm(key, **{**arm, "runs": [self.load(_id(id)) for id in arm["runs"]]})
                for key, arm in index["arms"].items()
            ]
            changed = tuple(index.get("changed", ()))
            return StoredExperiment(index["name"], index["study"], index["figure"], arms, changed)
        except Exception as error:  # as in load
            raise InputError(
                f"{name}: not (completely) stored in {self.folder}; run it again ({error})"
            ) from None

    def experiments(self) -> list[str]:
        """The names of all stored experiments."""
        return sorted(path.stem for path in self.index("").parent.glob("[!.]*.json"))


def serves(provenance: dict[str, Any], true_counts: bool) -> bool:
    """Whether a run has its true counts, if they are wanted; what nobody can repeat is kept without them."""
    repeatable = provenance["certificate"].get("noise") != RELEASE
    return not (true_counts and repeatable) or bool(provenance.get("true_counts", True))


def stored_run(config: dict[str, Any], provenance: dict[str, Any], arrays: dict[str, Any]) -> StoredRun:
    """A run from what a file says of it; Unreadable if its arrays cannot be of one run."""
    return StoredRun(config, provenance, trace_of(config, provenance, arrays))


def canonical_json(tree: Any) -> bytes:
    """The same bytes for the same data."""
    return json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _id(id: Any) -> str:
    """A run's id; what an index holds in its place must not become a path."""
    if not (isinstance(id, str) and ID.fullmatch(id)):
        raise Unreadable(f"{id!r} is no run")
    return id
