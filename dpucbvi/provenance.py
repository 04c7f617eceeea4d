"""Where a result comes from: the code, the packages and the machine that made it."""

import ast
import hashlib
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("dpucbvi", "numpy", "scipy", "cvxpy", "highspy", "numba")


def provenance() -> dict[str, Any]:
    """Commit and dirty flag of this checkout (null elsewhere), the code's hash, versions, platform."""
    return {
        **_commit(),
        "code": code(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "platform": {"system": platform.platform(), "machine": platform.machine()},
    }


def code() -> str:
    """A hash of the sources that a result can depend on."""
    digest = hashlib.sha256()
    for source in sorted(sources()):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def sources() -> set[Path]:
    """The engines and what they import of this package, directly or not."""
    todo = set((ROOT / "dpucbvi" / "engine").rglob("*.py"))
    found: set[Path] = set()
    while todo:
        found.add(source := todo.pop())
        todo |= _imported(source) - found
    return found


def _imported(source: Path) -> set[Path]:
    """The files of this package that the `from ... import ...` of a file name, packages' own files too."""
    files = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dpucbvi"):
            module = ROOT.joinpath(*node.module.split("."))
            files |= {module.with_suffix(".py"), *(module / f"{name.name}.py" for name in node.names)}
            files |= {folder / "__init__.py" for folder in (module, *module.parents)}
    return {file for file in files if file.is_file()}


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
