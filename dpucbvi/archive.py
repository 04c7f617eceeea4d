"""Runs in a file and back: what is read is, to the last bit, what was written, or Unreadable.

A file is an .npz, a zip of arrays that numpy alone reads:

    about       JSON in bytes: what the file is, and of every run its certificate, noise and `Trace.about`
    lengths     how many recorded episodes each run has
    episodes, regret, policy_changes, fallbacks     of all runs, one after another
    N_sa, Q, policy     of all runs, flat, and their shapes

No dates are inside, so equal runs give equal bytes. The zip's comment, which is the end of the file, is the
SHA-256 of all before it: it finds damage and edits. What it cannot find is a file that was made up with its
checksum. So nothing in a file is trusted: arrays must be those of a run (the right kinds, lengths and ranges, a
regret that never falls and is at most Hk), nothing that a file names is imported, and its certificate must be
the one that its settings have. Where an agent or a privatizer is not the package's, that cannot be worked out
again: the certificate then says that it was declared.

An experiment has `arms` in its `about`, each with the ids of its runs. Those that are not in the file itself
lie beside it, in runs/<id>.npz.
"""

import csv
import hashlib
import io
import json
import math
import os
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpucbvi.agents import AGENTS
from dpucbvi.agents.own import is_policy
from dpucbvi.errors import InputError, Registry, extra, one_line, refused
from dpucbvi.files import read_regular, replacing, write_private
from dpucbvi.privacy.certificate import SIMULATION, Certificate, check_certificate
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.protocol import Problem
from dpucbvi.trace import ROUNDING, Runs, Trace, grows

if TYPE_CHECKING:
    from pandas import DataFrame

PER_EPISODE = ("episodes", "regret", "policy_changes", "fallbacks")
STATE = ("N_sa", "Q", "policy")
KINDS = {
    **dict.fromkeys(("lengths", "episodes", "policy_changes", "fallbacks"), "i"),
    **dict.fromkeys(("regret", *STATE), "f"),
    **{f"{key}_shape": "i" for key in STATE},
}
FORMAT = 1
SUM_LENGTH = 64  # hex digits of a SHA-256
MOST_BYTES = 2**31  # of a file, and of the arrays in it: no experiment comes near
EPSILONS = ("add_remove", "replace_one")
ID = re.compile(r"[0-9a-f]{16}")
FORMULA = re.compile(r"[=+@\t\r]|-(?![\d.,e-]*$)")  # - may begin a number, and what else may follow it
CSV_EPISODES = 50  # of a run, evenly spaced in its record, with the last


class Unreadable(InputError):
    """A stored file is not what was written; the message names it."""


class Missing(Unreadable):
    """Nothing is stored under this name."""


class Results(dict[str, Runs]):
    """The runs of an experiment by the key of their arm; `about` says which experiment it is, and its arms."""

    def __init__(self, about: dict[str, Any], arms: Mapping[str, Runs]):
        super().__init__(arms)
        self.about = about

    def to_frame(self) -> "DataFrame":
        """A table with a row per run and recorded episode, its id and the settings that tell arms apart."""
        with extra("pandas", "to_frame"):
            from pandas import DataFrame, concat

        return concat([DataFrame(columns) for columns in self._columns()], ignore_index=True)

    def to_csv(self, path: str | Path, episodes: int = CSV_EPISODES) -> None:
        """Write the same table with about so many episodes of each run. By hand: pandas is slow to import."""
        runs = list(self._columns(episodes))
        names = list(dict.fromkeys(name for columns in runs for name in columns))
        with replacing(Path(path)) as partial, open(partial, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(names)
            for columns in runs:
                whole = np.broadcast_arrays(*(np.array(columns.get(name), dtype=object) for name in names))
                writer.writerows(map(as_cell, row) for row in zip(*whole, strict=True))

    def _columns(self, episodes: int | None = None) -> Iterator[dict[str, Any]]:
        """The columns of every run: numbers for what is the same in all its rows, arrays for the rest."""
        for key, runs in self.items():
            arm = self.about["arms"][key]
            for id, seed, trace in zip(arm["runs"], runs.seeds, runs, strict=True):
                last = len(trace.episodes) - 1
                kept = np.unique(np.linspace(0, last, min(episodes or last + 1, last + 1)).round().astype(int))
                yield {
                    **{"arm": arm["of"], "label": arm["label"], **arm["point"]},
                    **_settings(trace),
                    **{"run": id, "K": trace.about["K"], "seed": seed, "episode": trace.episodes[kept]},
                    **{name: getattr(trace, name)[kept] for name in PER_EPISODE[1:]},
                }

    def __repr__(self) -> str:
        return "\n\n".join(f"{key}: {runs!r}" for key, runs in self.items())


def as_cell(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula, with an apostrophe before it; on one line."""
    if not isinstance(value, str):
        return value
    before = "'" if FORMULA.match(value) else ""
    return before + value.replace("\r", " ")  # which csv does not quote


def _settings(trace: Trace) -> dict[str, Any]:
    """What a table says of a run, besides its numbers."""
    about, certified = trace.about, trace.certificate
    agent, privatizer = about["agent"], about["privatizer"]
    return {
        "env": about["mdp"],
        "agent": agent["name"],
        "pooled": agent.get("pooled", False),
        "privatizer": privatizer["name"],
        "bonus_factor": agent.get("bonus_scale", 1.0),
        "confidence_factor": privatizer.get("confidence_scale", 1.0),
        "privacy": certified.model,
        "epsilon_add_remove": certified.add_remove,
        "epsilon_replace_one": certified.replace_one,
        "delta": certified.delta,
    }


def load(path: str | Path) -> Trace | Runs | Results:
    """Read what `save` wrote, or an experiment of the command line.

    Parameters
    ----------
    path
        The file; `.npz` may be left out. Experiments of one's own are results/<name>.npz, those that ship with
        the repository paper/results/<name>.npz.

    Returns
    -------
    Trace, Runs or Results
        One run, runs over several seeds, or a mapping from the arms of an experiment to their runs.

    Raises
    ------
    InputError
        In one line, if there is no such file or it is not what was written.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> results = dp.load("paper/results/riverswim.npz")
    >>> round(results["jdp_eps1"].regret[:, -1].mean())
    167749
    """
    if not isinstance(path, str | os.PathLike):
        raise refused("path", path, "the name of a file")
    given = Path(path).expanduser()
    file = given if given.is_file() else Path(f"{given}.npz")
    if not file.is_file():
        folder = given if given.is_dir() else given.parent
        stored = ", ".join(sorted(other.name for other in folder.glob("[!.]*.npz"))) or "none"
        raise Missing(f"load: no file {str(path)!r}; files in {folder}: {stored}")
    about, traces = read(file)
    if "arms" in about:
        try:
            return _results(file, about, traces)
        except Exception as error:  # as in read
            raise Unreadable(f"{file}: its arms cannot be read ({error})") from None
    if not traces:
        raise Unreadable(f"{file}: it holds no run")
    seeds = about.get("seeds")
    if seeds is None:
        return traces[0]
    if not isinstance(seeds, list) or [type(seed) for seed in seeds] != [int] * len(traces):
        raise Unreadable(f"{file}: its seeds are not those of its runs")
    return Runs(tuple(seeds), tuple(traces))


def _results(file: Path, about: dict[str, Any], traces: list[Trace]) -> Results:
    runs = dict(zip(about["ids"], traces, strict=True))
    arms = {}
    for key, arm in about["arms"].items():
        for id in arm["runs"]:
            if not (isinstance(id, str) and ID.fullmatch(id)):  # it must not become a path
                raise Unreadable(f"{id!r} is no run")
            if id not in runs:
                runs[id] = read_run(file.parent / "runs" / f"{id}.npz")
        own = tuple(runs[id] for id in arm["runs"])
        arms[key] = Runs(tuple(run.about["seed"] for run in own), own)
    return Results(about, arms)


def read_run(path: Path) -> Trace:
    """The one run that the file holds."""
    _, traces = read(path)
    if len(traces) != 1:
        raise Unreadable(f"{path}: it holds {len(traces)} runs, not one")
    return traces[0]


def write(path: Path, about: Mapping[str, Any], traces: Sequence[Trace]) -> None:
    """Write a file that only its owner can read, completely or not at all: it may hold true counts."""
    with replacing(path) as partial:
        write_private(partial, encode(about, traces))


def read(path: Path) -> tuple[dict[str, Any], list[Trace]]:
    """What the file says of itself, and its runs: Missing if there is no file, Unreadable if it is wrong."""
    if not os.path.lexists(path):
        raise Missing(f"{path}: no such file")
    try:
        return decode(read_regular(path, MOST_BYTES))
    except PermissionError:  # it may be in order, and is another user's
        raise
    except Exception as error:  # a file can be wrong in more ways than can be listed
        raise Unreadable(f"{path}: {one_line(error)}") from None


# --- to bytes ------------------------------------------------------------------------------------------------


def encode(about: Mapping[str, Any], traces: Sequence[Trace], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """The bytes of a file; ZIP_LZMA makes it a quarter smaller and slower to read."""
    tree = {"format": FORMAT, **about, "facts": [_facts(trace) for trace in traces]}
    text = json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    arrays = {"about": np.frombuffer(text.encode(), dtype=np.uint8), **_arrays(traces)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for key, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array, allow_pickle=False)
            file.writestr(zipfile.ZipInfo(f"{key}.npy"), member.getvalue(), compression)  # no date inside
        file.comment = b"0" * SUM_LENGTH
    content = buffer.getvalue()[:-SUM_LENGTH]
    return content + checksum(content)


def checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _facts(trace: Trace) -> dict[str, Any]:
    """What JSON can hold of a run; it has no infinity, null stands for it in an ε."""
    certificate = {
        key: None if value == math.inf else value
        for key, value in trace.certificate._asdict().items()
        if key != "declared"  # it is for the reader to find out
    }
    numbers = {"noise_scale": trace.noise_scale, "E": trace.E, "checks": trace.checks}
    return {"certificate": certificate, **numbers, "about": trace.about}


def _arrays(traces: Sequence[Trace]) -> dict[str, np.ndarray]:
    if not traces:
        return {}
    arrays = {key: np.concatenate([getattr(trace, key) for trace in traces]) for key in PER_EPISODE}
    arrays["lengths"] = np.array([len(trace.episodes) for trace in traces])
    for key in STATE:
        found = [getattr(trace, key) for trace in traces]
        values = [np.zeros((0, 0)) if value is None else value for value in found]
        arrays[key] = np.concatenate([value.ravel() for value in values]).astype(np.float64)
        arrays[f"{key}_shape"] = np.array([(*value.shape, 0)[:3] for value in values])
    return arrays


# --- and back ------------------------------------------------------------------------------------------------


def decode(content: bytes) -> tuple[dict[str, Any], list[Trace]]:
    """What `encode` was given."""
    if checksum(content[:-SUM_LENGTH]) != content[-SUM_LENGTH:]:
        raise Unreadable("not what was written, the checksum differs")
    arrays = _members(content)
    about = json.loads(arrays.pop("about").tobytes())
    if about.pop("format") != FORMAT:
        raise Unreadable("it is of another version")
    facts = about.pop("facts")
    if not facts:
        return about, []
    for key, kind in KINDS.items():
        if arrays[key].dtype.kind != kind or arrays[key].ndim != (2 if key.endswith("_shape") else 1):
            raise Unreadable(f"{key} is {arrays[key].dtype} of shape {arrays[key].shape}")
    parts = {key: np.split(arrays[key], np.cumsum(arrays["lengths"])[:-1]) for key in PER_EPISODE}
    parts |= {key: _shaped(arrays[key], arrays[f"{key}_shape"]) for key in STATE}
    runs = [dict(zip(parts, values, strict=True)) for values in zip(*parts.values(), strict=True)]
    return about, [_trace(*pair) for pair in zip(runs, facts, strict=True)]


def _members(content: bytes) -> dict[str, np.ndarray]:
    """All arrays of the zip, if they are those that are written."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        names = sorted(member.filename.removesuffix(".npy") for member in members)
        if names not in (["about"], sorted(["about", *KINDS])):
            raise Unreadable(f"it does not hold the arrays {', '.join(KINDS)}")
        if sum(member.file_size for member in members) > MOST_BYTES:
            raise Unreadable("it is larger than any that is written here")
    with np.load(io.BytesIO(content), allow_pickle=False) as data:
        return {key: data[key] for key in names}


def _shaped(flat: np.ndarray, shapes: np.ndarray) -> list[np.ndarray]:
    """The arrays whose entries lie one after another; a last size of 0 stands for no such axis."""
    tuples = [tuple(shape[:2] if shape[2] == 0 else shape) for shape in shapes.tolist()]
    ends = np.cumsum([math.prod(shape) for shape in tuples])
    if ends[-1] != len(flat):
        raise Unreadable("the arrays do not have their shapes")
    return [piece.reshape(shape) for piece, shape in zip(np.split(flat, ends[:-1]), tuples, strict=True)]


def _trace(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> Trace:
    """A run, if its arrays fit together and its numbers are numbers."""
    if len({len(arrays[key]) for key in PER_EPISODE}) != 1:
        raise Unreadable("the arrays differ in length")
    policy = arrays["policy"] if arrays["policy"].size else None
    if policy is not None and policy.ndim == 2 and (policy == np.round(policy)).all():
        policy = policy.astype(np.int64)
    given: dict[str, Any] = {**arrays, **facts, "policy": policy}
    made = Trace(**{**given, "certificate": _certificate(facts["certificate"])})
    for wrong, holds in _holds(made).items():
        if not holds:
            raise Unreadable(wrong)
    return made._replace(certificate=_recomputed(made))


def _holds(run: Trace) -> dict[str, bool]:
    """What is true of every run, by what is said if it is not; N_sa and Q may be nan.

    An audit has no regret, and no visits.
    """
    k, about, (H, S, A), audit = run.episodes, run.about, run.Q.shape, _none(run.regret)
    rising = len(k) > 0 and k[0] >= 1 and bool((np.diff(k) > 0).all())
    sizes = {"H": H, "S": S, "A": A, "K": int(k[-1]) if rising else 0}
    visited = run.N_sa.shape == run.Q.shape and bool((run.N_sa.sum(axis=(1, 2)) == sizes["K"]).all())
    numbers = [run.noise_scale, run.E, *(about.get(key, 0) for key in ("seed", "uniform_regret"))]
    whole = "agent" not in about or {"agent", "privatizer", "mdp", *sizes} <= set(about)
    names = [about[key]["name"] for key in ("agent", "privatizer") if key in about]
    return {
        "the recorded episodes are not those of a run": rising,
        "its sizes are not those of its arrays": all(about.get(key, n) == n for key, n in sizes.items()),
        "the regret is not that of a run": audit or grows(run.regret, H * k),
        "the changes of policy are not those of a run": grows(run.policy_changes, k - 1),
        "the infeasible LPs are not those of a run": grows(run.fallbacks, H * S * A * k),
        "the visits are not those of a run": _none(run.N_sa)
        or (bool((run.N_sa >= 0).all()) and (visited or audit)),
        "Q is not finite": _none(run.Q) or bool(np.isfinite(run.Q).all()),
        "the policy is none": run.policy is None or is_policy(run.policy, H, S, A),
        "it does not say what it was": whole and isinstance(run.checks.get("lp_checked", 0), int),
        "a name of it is none": all(isinstance(name, str) for name in [*names, about.get("mdp", "")]),
        "a number of it is none": all(isinstance(x, int | float) and 0 <= x < math.inf for x in numbers),
    }


def _none(array: np.ndarray) -> bool:
    return bool(np.isnan(array).all())


def _certificate(tree: dict[str, Any]) -> Certificate:
    infinite = {key: math.inf for key in EPSILONS if tree[key] is None}
    made = Certificate(**{**tree, **infinite})
    check_certificate(made)
    return made


def _recomputed(run: Trace) -> Certificate:
    """The certificate that the settings have, which must be the file's; if that is not known, the file's."""
    found = run.certificate
    if found.model == "none":  # it claims nothing
        return found
    parts = {key: run.about.get(key) for key in ("agent", "privatizer")}
    made = _of_settings(json.dumps(parts, sort_keys=True), *run.Q.shape, int(run.episodes[-1]))
    if made is None:
        return found._replace(declared=True)
    if _none(run.regret):  # an audit: its exact noise is drawn from seeded words
        made = made._replace(noise=SIMULATION)
    if not all(_same(*pair) for pair in zip(made, found, strict=True)):
        raise Unreadable("its certificate is not the one that its settings have")
    return made


@lru_cache(maxsize=1000)
def _of_settings(parts: str, H: int, S: int, A: int, K: int) -> Certificate | None:
    """The certificate of these parts, as simulate.described has them; None if one is not the package's."""
    given = json.loads(parts)
    agent, privatizer = _made(AGENTS, given["agent"]), _made(PRIVATIZERS, given["privatizer"])
    if agent is None or privatizer is None:
        return None
    certificate: Certificate = privatizer.certificate(Problem(H, S, A, K, 0.05), 1 if agent.pooled else H)
    return certificate


def _made(registry: Registry[Any], given: dict[str, Any] | None) -> Any:
    """What the name stands for among the package's own: nothing is imported."""
    kinds, parameters = {registry[name].__name__: registry[name] for name in registry}, {**(given or {})}
    kind = kinds.get(parameters.pop("name", ""))
    if kind is None or not {"words", "bonus"}.isdisjoint(parameters):  # which are a class and a function
        return None
    return kind(**parameters)


def _same(one: Any, other: Any) -> bool:
    """Equal, but for the rounding of another machine."""
    both = isinstance(one, float | int) and isinstance(other, float | int)
    return math.isclose(one, other, rel_tol=ROUNDING) if both else one == other
