"""The files of one run, to bytes and back: what is read is, to the last bit, what was written, or Unreadable.

A checksum finds damage and edits. What it cannot find, a file that was made up with its checksum, must still be
a run: arrays of the right kinds and lengths, numbers that are numbers, a certificate.
"""

import hashlib
import io
import json
import math
import os
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from omegaconf import OmegaConf

from dpucbvi.privatizers.certificate import RELEASE, SIMULATION, Certificate
from dpucbvi.privatizers.laplace import STREAMS
from dpucbvi.trace import Trace

CONFIG, PROVENANCE, TRACE, SUMS = "config.yaml", "provenance.json", "trace.npz", "SHA256SUMS"
PER_EPISODE = ("episodes", "regret", "policy_changes", "fallbacks")
STATE = ("N_sa", "Q")
ARRAYS = (*PER_EPISODE, *STATE)
KINDS = {"episodes": "i", "regret": "f", "policy_changes": "i", "fallbacks": "i", "N_sa": "f", "Q": "f"}
FAST_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # thousands of runs are loaded for a figure
MOST_SETTINGS = 16_384  # bytes: the parser cannot bear any depth
MOST_BYTES = 2**31  # of a stored file, and of an array in it: no run comes near
MODELS = ("JDP", "LDP", "none")
EPSILONS = ("add_remove", "replace_one")
NOISE = {
    SIMULATION: "simulation: the seed determines it",
    RELEASE: "release: words of the operating system's cryptographic generator, which nothing repeats",
}


class Unreadable(ValueError):
    """A stored file is not what was written; the message names it."""


class Missing(Unreadable):
    """Nothing is stored under this name."""


def encode(
    tree: dict[str, Any], trace: Trace, seconds: float, origin: dict[str, Any], true_counts: bool
) -> dict[str, bytes]:
    """Every file of a run by its name; without `true_counts`, only its regret."""
    if not true_counts:
        trace = trace._replace(**{key: np.full_like(getattr(trace, key), math.nan) for key in STATE})
    described = {**_provenance(tree["seed"], trace, seconds, origin), "true_counts": true_counts}
    content = {
        CONFIG: OmegaConf.to_yaml(OmegaConf.create(tree)).encode(),
        PROVENANCE: to_json(described),
        TRACE: _npz({key: getattr(trace, key) for key in ARRAYS}),
    }
    return {**content, SUMS: _sums(content)}


def decode(content: dict[str, bytes]) -> tuple[dict[str, Any], dict[str, Any], Trace]:
    """Settings, provenance and trace."""
    if len(content[CONFIG]) > MOST_SETTINGS:
        raise Unreadable(f"{CONFIG} is larger than any that is written here")
    config = yaml.load(content[CONFIG], FAST_YAML)
    provenance = json.loads(content[PROVENANCE])
    arrays = _arrays(content[TRACE])
    for key in STATE if provenance.get("true_counts", True) else ():
        if not np.isfinite(arrays[key]).all():
            raise Unreadable(f"{TRACE}: {key} is not finite")
    return config, provenance, trace_of(config, provenance, arrays)


def content_of(path: Path) -> bytes:
    """The bytes of a regular file; a link, a pipe or a folder in its place is not opened."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        raise Missing(f"{path.name} is missing") from None
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable(f"{path.name} is not a file")
    if found.st_size > MOST_BYTES:
        raise Unreadable(f"{path.name} is larger than any that is written here")
    return path.read_bytes()


def checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _sums(content: dict[str, bytes]) -> bytes:
    return "".join(f"{checksum(data)}  {name}\n" for name, data in content.items()).encode()


def verified(folder: Path) -> dict[str, bytes]:
    """The files of a run, if they are what was written."""
    if folder.is_symlink() or not folder.is_dir():
        raise Unreadable("it is not a folder")
    content = {name: content_of(folder / name) for name in (CONFIG, PROVENANCE, TRACE)}
    try:
        stated = content_of(folder / SUMS)
    except Missing:
        raise Unreadable(f"{SUMS} is missing (runs carry checksums now)") from None
    if stated != _sums(content):
        lines = stated.decode(errors="replace").splitlines()
        wrong = [name for name, data in content.items() if f"{checksum(data)}  {name}" not in lines] or [SUMS]
        raise Unreadable(f"{' and '.join(wrong)}: not what was written, the checksum differs")
    return content


def _npz(arrays: dict[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _arrays(content: bytes) -> dict[str, np.ndarray]:
    """The arrays of a trace, each of its kind, and no others."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        names = sorted(member.filename for member in members)
        if names != sorted(f"{key}.npy" for key in ARRAYS) or size > MOST_BYTES:
            raise Unreadable(f"{TRACE} does not hold the arrays {', '.join(ARRAYS)}")
    with np.load(io.BytesIO(content), allow_pickle=False) as data:
        arrays = {key: data[key] for key in ARRAYS}
    for key, array in arrays.items():
        if array.dtype.kind != KINDS[key] or array.ndim != (1 if key in PER_EPISODE else 3):
            raise Unreadable(f"{TRACE}: {key} is {array.dtype} of shape {array.shape}")
    return arrays


def trace_of(config: dict[str, Any], provenance: dict[str, Any], arrays: dict[str, np.ndarray]) -> Trace:
    """The trace, if its arrays fit together and its numbers are numbers."""
    episodes = arrays["episodes"]
    lengths, shapes = {len(arrays[key]) for key in PER_EPISODE}, {arrays[key].shape for key in STATE}
    if len(lengths) != 1 or len(shapes) != 1:
        raise Unreadable(f"{TRACE}: the arrays differ in length")
    if len(episodes) == 0 or episodes[0] < 1 or (np.diff(episodes) <= 0).any() or episodes[-1] != config["K"]:
        raise Unreadable(f"{TRACE}: the recorded episodes are not those of a run of {config['K']}")
    audit = config.get("engine", {}).get("name") == "audit"  # has no regret
    if not audit and not np.isfinite(arrays["regret"]).all():
        raise Unreadable(f"{TRACE}: regret is not finite")
    numbers = {key: provenance[key] for key in ("checks", "noise_scale", "E")}
    if not all(_is_number(numbers[key]) and math.isfinite(numbers[key]) for key in ("noise_scale", "E")):
        raise Unreadable(f"{PROVENANCE}: noise_scale and E must be numbers")
    return Trace(**arrays, **numbers, certificate=_certificate(provenance["certificate"]))  # type: ignore[arg-type]


def _certificate(tree: dict[str, Any]) -> Certificate:
    """JSON has no infinity: for the two ε, null stands for it."""
    given = {**Certificate._field_defaults, **tree}
    for key in EPSILONS:
        given[key] = math.inf if given[key] is None else given[key]
    numbers = {key: value for key, value in given.items() if key not in ("model", "noise")}
    if given["model"] not in MODELS or given["noise"] not in NOISE:
        raise Unreadable(f"{PROVENANCE}: the certificate is none")
    if not all(value is None or (_is_number(value) and value >= 0.0) for value in numbers.values()):
        raise Unreadable(f"{PROVENANCE}: the certificate has a number that is none")
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


def to_json(tree: dict[str, Any]) -> bytes:
    return (json.dumps(tree, indent=2, ensure_ascii=False) + "\n").encode()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
