"""Results on disk: a file per run, named by what was run, and a file per experiment that names its runs.

    runs/<id>.npz         settings, provenance, certificate and arrays of a run; <id> is its settings' hash
    <name>.npz            arms and the ids of their runs: all that figures and tables start from
    claims/<id>           locked by the process that computes the run

All are files that `dp.load` reads (dpucbvi/archive.py). A run is there completely or not at all (files.py).
What a file says of its certificate, its E and its noise is compared with what its settings give, and nothing
that it names is imported: the certificate of a part of one's own is marked as declared.
Nothing is ever changed in place: a run that is there is loaded, one that cannot be read is computed again and
then replaced. True counts are private data, so only their owner can read these files.
"""

import fcntl
import hashlib
import json
import math
import os
import platform
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpucbvi
from dpucbvi.archive import Results, Unreadable, load, read_run, write
from dpucbvi.errors import InputError
from dpucbvi.files import PRIVATE
from dpucbvi.mdp import TabularMDP
from dpucbvi.privacy.certificate import Certificate
from dpucbvi.protocol import Floats, Ints
from dpucbvi.simulate import described
from dpucbvi.sources import PACKAGE, code
from dpucbvi.stats import mean_interval
from dpucbvi.trace import Runs, Trace
from experiments.lab.assemble import assemble, without_checksum
from experiments.lab.process import few
from experiments.lab.settings import FILE_NAME, RunSettings, imports, run_settings, to_dict

Tree = dict[str, Any]  # plain data
ROOT = PACKAGE.parent
PACKAGES = ("numpy", "scipy", "cvxpy", "highspy", "numba")  # whose versions a run is stored with
FROM_ELSEWHERE = ("file", "gymnasium")  # environments that the settings alone do not determine
ID_LENGTH = 16
# Parts that a study of this artifact brings along: a stored file may name them, and no other ones.
EARLIER = tuple(f"experiments.studies.explain.earlier_code:{name}" for name in ("Redrawn", "Shared"))


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

    # The runs differ in nothing but their seed, so the first answers for the settings of all.

    @property
    def config(self) -> dict[str, Any]:
        return self.runs[0].config

    @property
    def audits(self) -> bool:
        """Whether its runs are audits, which have no episodes."""
        return "findings" in self.runs[0].trace.checks

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
    def median(self) -> float:
        return float(np.median(self.finals))

    @property
    def largest(self) -> float:
        return float(self.finals.max())

    @property
    def interval(self) -> tuple[float, float, float]:
        """The mean regret after the last episode and its 95% interval (nan from a single run)."""
        return mean_interval(self.finals)


class StoredExperiment(NamedTuple):
    """All that figures and tables start from."""

    name: str
    study: str
    arms: list[StoredArm]
    changed: tuple[str, ...] = ()  # what the command line changed of the experiment of conf/exp


def identity(settings: RunSettings, mdp: TabularMDP, seed: int) -> dict[str, Any]:
    """The canonical settings, the seed and, for an MDP from a file or of gymnasium, what was in it."""
    tree = {**to_dict(settings), "seed": seed}
    if tree["env"]["name"] in FROM_ELSEWHERE:
        tree["env"]["sha256"] = mdp.sha256
    return tree


def settings_of(identity: dict[str, Any]) -> RunSettings:
    """The settings that a run was made with; what was in an MDP from elsewhere is no setting."""
    tree = {key: value for key, value in identity.items() if key != "seed"}
    if imports(tree, EARLIER):
        raise InputError("a part of one's own, which a stored file names, is not imported")
    return run_settings({**tree, "env": without_checksum(tree["env"])})


def run_id(identity: dict[str, Any]) -> str:
    """The first 16 hex digits of the SHA-256 of the canonical JSON."""
    return hashlib.sha256(canonical_json(identity)).hexdigest()[:ID_LENGTH]


class Store:
    """The results folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    def run_file(self, id: str) -> Path:
        return self.folder / "runs" / f"{id}.npz"

    def claim(self, id: str) -> Path:
        return self.folder / "claims" / id

    def file(self, name: str) -> Path:
        """That of an experiment."""
        return self.folder / f"{name}.npz"

    def save(self, tree: dict[str, Any], trace: Trace, seconds: float, origin: dict[str, Any]) -> None:
        """Write a finished run of this identity."""
        id = run_id(tree)
        self.run_file(id).parent.mkdir(parents=True, exist_ok=True)
        named(trace, tree, {**origin, "seconds": seconds}).save(self.run_file(id))

    def check_replaceable(self, id: str, settings: RunSettings) -> None:
        """Raise InputError if something lies in the place of a run with exact noise: nobody could repeat it."""
        file = self.run_file(id)
        if settings.privatizer.get("noise") == "exact" and os.path.lexists(file):
            raise InputError(f"{file}: it cannot be read, and is not replaced: nobody can repeat exact noise")

    def load(self, id: str) -> StoredRun:
        """Read a run: Missing if there is none, Unreadable if it is not, to the last bit, what was written."""
        file = self.run_file(id)
        trace = read_run(file)
        try:
            return stored_run(trace, id)
        except (KeyError, TypeError, ValueError) as error:
            raise Unreadable(f"{file}: {error}") from None

    def has(self, id: str) -> bool:
        """Whether the run is there and can be read."""
        try:
            self.load(id)
        except Unreadable:
            return False
        return True

    def save_experiment(self, name: str, study: str, arms: Tree, changed: Sequence[str] = ()) -> None:
        """Write which study it is, and for every arm its label, printed curve and run ids."""
        self.folder.mkdir(parents=True, exist_ok=True)
        about = {"name": name, "study": study, "changed": list(changed), "ids": [], "arms": arms}
        write(self.file(name), about, [])

    def load_experiment(self, name: str) -> StoredExperiment:
        """An experiment with all its runs; InputError if it is not there or not complete."""
        try:
            if not FILE_NAME.fullmatch(name):
                raise Unreadable("it must be letters, digits, '_', '-' and '.'")
            found = load(self.file(name))
            if not isinstance(found, Results) or found.about["name"] != name:
                raise Unreadable(f"{self.file(name)} is another file")
            return stored_experiment(found)
        except Exception as error:  # a file can be wrong in more ways than can be listed
            raise InputError(
                f"{name}: not (completely) stored in {self.folder}; run it again ({error})"
            ) from None

    def experiments(self) -> list[str]:
        """The names of all stored experiments."""
        return sorted(path.stem for path in self.folder.glob("[!.]*.npz"))


def named(trace: Trace, config: dict[str, Any], provenance: dict[str, Any]) -> Trace:
    """The trace with its settings and where it comes from, as it lies on disk."""
    about = {**trace.about, "seed": config["seed"], "config": config, "provenance": provenance}
    return trace._replace(about=about)


def stored_run(trace: Trace, id: str) -> StoredRun:
    """A run as it was stored; Unreadable if its settings are not those that name it, or give other numbers."""
    config, about = trace.about["config"], trace.about
    if run_id(config) != id:
        raise Unreadable("its settings are not those that name it")
    attack = config["attack"]
    audits, without_regret = "name" in attack, bool(np.isnan(trace.regret).all())
    if audits != ("findings" in trace.checks) or audits != without_regret:
        raise Unreadable(f"it is {'no' if audits else 'an'} audit, unlike its settings")
    settings = {key: value for key, value in config.items() if key != "seed"}
    if imports(settings):
        declared = trace.certificate._replace(declared=trace.certificate.model != "none")
        return StoredRun(config, about["provenance"], trace._replace(certificate=declared))
    expected, certificate = _expected(canonical_json(settings), *trace.Q.shape)
    found = {**about, "noise_scale": trace.noise_scale, "E": trace.E}
    wrong = [key for key, value in expected.items() if not _agrees(found.get(key), value)]
    model = "none" if "broken" in attack else certificate.model  # whatever a broken one pretends
    if wrong or trace.certificate.model != model:
        raise Unreadable(f"its {few(wrong or ['certificate'])} is not what its settings give")
    return StoredRun(config, about["provenance"], trace)


def _agrees(stored: Any, expected: Any) -> bool:
    """Whether they are equal; numbers up to a rounding, which another machine may have done otherwise."""
    if isinstance(stored, float) and isinstance(expected, float):
        return math.isclose(stored, expected)
    return bool(stored == expected)


@lru_cache(maxsize=4096)
def _expected(settings: bytes, H: int, S: int, A: int) -> tuple[dict[str, Any], Certificate]:
    """What the settings of a run say of it: its parts and sizes, its E and noise, its certificate.

    The MDP of a file or of gymnasium is not opened: another one of its size has the same numbers, but for what
    known_support makes of them.
    """
    tree = json.loads(settings)
    elsewhere = tree["env"]["name"] in FROM_ELSEWHERE
    if elsewhere:
        tree["env"] = {"name": "garnet", "S": S, "A": A, "H": H, "branching": S}
    setup = assemble(settings_of(tree))
    known = {**described(setup, 0), "noise_scale": setup.noise.scale, "E": setup.noise.E}
    unknown = ["seed"]
    if elsewhere:
        unknown += ["mdp", "uniform_regret"]
        unknown += ["noise_scale", "E"] if tree["postprocess"]["known_support"] else []
    return {key: value for key, value in known.items() if key not in unknown}, setup.certificate


def stored_experiment(found: Results) -> StoredExperiment:
    """An experiment as the studies read it."""
    about, arms = found.about, []
    for key, runs in found.items():
        arm = about["arms"][key]
        stored = [stored_run(trace, id) for trace, id in zip(runs, arm["runs"], strict=True)]
        arms.append(StoredArm(key, **{**arm, "runs": stored}))
    return StoredExperiment(about["name"], about["study"], arms, tuple(about["changed"]))


def results(experiment: StoredExperiment) -> Results:
    """A stored experiment as `dp.load` gives it."""
    said, runs = Tree(), dict[str, Runs]()
    for arm in experiment.arms:
        said[arm.key] = {**arm._asdict(), "runs": [run_id(run.config) for run in arm.runs]}
        del said[arm.key]["key"]
        seeds = tuple(run.config["seed"] for run in arm.runs)
        runs[arm.key] = Runs(seeds, tuple(run.trace for run in arm.runs))
    return Results({**experiment._asdict(), "arms": said}, runs)


def write_csv(experiment: StoredExperiment, folder: Path) -> Path:
    """Write its table to `<folder>/<name>.csv`, for programs that know nothing of this package."""
    path = folder / f"{experiment.name}.csv"
    results(experiment).to_csv(path)
    return path


def without_state(trace: Trace) -> Trace:
    """The trace without its true counts and its last plan."""
    return trace._replace(
        N_sa=np.full_like(trace.N_sa, math.nan), Q=np.full_like(trace.Q, math.nan), policy=None
    )


def canonical_json(tree: Any) -> bytes:
    """The same bytes for the same data."""
    return json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


# --- who computes a run: a lock that ends with its process, however that ends -------------------------------


@contextmanager
def claim(path: Path) -> Iterator[bool]:
    """Whether the work is this process's, while the block lasts.

    On a file system without locks everybody's claim is granted: work may then be done twice, and the results
    are the same.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = _lock(path)
    except BlockingIOError:
        yield False
        return
    except PermissionError:  # it is another user's: he and we would replace each other's runs
        raise
    except OSError:
        yield True
        return
    try:
        yield True
    finally:
        path.unlink(missing_ok=True)
        os.close(lock)


def is_claimed(path: Path) -> bool:
    """Whether another process has it now."""
    if not path.exists():
        return False
    with claim(path) as granted:
        return not granted


def _lock(path: Path) -> int:
    """An open file with its lock; BlockingIOError if another process has it."""
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.lexists(path) and os.path.samestat(os.fstat(lock), os.stat(path)):
                return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)  # the last owner removed the file between our two steps


# --- where a run comes from: the code, the packages and the machine that made it ----------------------------


def provenance() -> dict[str, Any]:
    """Commit and dirty flag of a checkout (null elsewhere), hash of the library, versions, machine."""
    versions = {"python": platform.python_version(), "dpucbvi": dpucbvi.__version__}  # it need not be installed
    return {
        **_commit(),
        "code": code(),
        "versions": versions | {name: version(name) for name in PACKAGES},
        "platform": {"system": platform.platform(), "machine": platform.machine()},
    }


def _commit() -> dict[str, Any]:
    top = _git("rev-parse", "--show-toplevel")
    if top is None or Path(top) != ROOT:  # no checkout, or one that merely contains the installed package
        return {"commit": None, "dirty": None}
    changes = _git("status", "--porcelain")
    return {"commit": _git("rev-parse", "HEAD"), "dirty": None if changes is None else changes != ""}


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
