"""The library's code as one hash: what checkpoints, the compiled cache and provenance trust.

Comments and docstrings change no result, so they are not part of it.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@cache
def code() -> str:
    """A hash of the syntax trees of all modules, with their names."""
    return hash_of(PACKAGE, sorted(PACKAGE.rglob("*.py")))


def hash_of(root: Path, sources: list[Path]) -> str:
    """A hash of these files: their names below the root, and what Python makes of them."""
    digest = hashlib.sha256()
    for source in sources:
        tree = without_docstrings(ast.parse(source.read_bytes()))
        digest.update(f"{source.relative_to(root).as_posix()}\0{ast.dump(tree)}\0".encode())
    return digest.hexdigest()[:16]


def without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return tree
