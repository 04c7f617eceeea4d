"""Where a result comes from: the code, the packages and the machine that made it."""

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dpucbvi
from dpucbvi.sources import PACKAGE, code, hash_of

ROOT = PACKAGE.parent
LAB = Path(__file__).resolve().parent
PACKAGES = ("numpy", "scipy", "cvxpy", "highspy", "numba")


def provenance() -> dict[str, Any]:
    """Commit and dirty flag of a checkout (null elsewhere), hashes of library and lab, versions, machine."""
    versions = {"python": platform.python_version(), "dpucbvi": dpucbvi.__version__}  # it need not be installed
    return {
        **_commit(),
        "code": code(),
        "lab": hash_of(LAB),
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
