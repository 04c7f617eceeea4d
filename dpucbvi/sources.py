"""Code as a hash of what Python makes of it: what the compiled cache and provenance trust.

Comments, docstrings and layout change no result, so they are not part of it. Nor are the fields of a syntax
tree that are empty: newer versions of Python add such fields, and the hash is the same in all of them.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def code() -> str:
    """The library's code."""
    return hash_of(PACKAGE)


def hash_of(path: Path) -> str:
    """A hash of a module, or of all modules of a folder: their names, and their statements."""
    digest = hashlib.sha256()
    for source in sorted(path.rglob("*.py")) or [path]:
        words = [source.relative_to(path).as_posix()]
        _spell(ast.parse(source.read_bytes()), words)
        digest.update(f"{' '.join(words)}\0".encode())
    return digest.hexdigest()[:16]


def _spell(node: object, words: list[str]) -> None:
    """Add the tree in words, each node closed as it is opened; a list, because nested generators are slow."""
    if isinstance(node, ast.AST):
        words.append(f"{type(node).__name__}(")
        documented = isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None
        for name in node._fields:
            value: Any = getattr(node, name, None)
            if documented and name == "body":
                value = value[1:]
            if value is not None and value != []:
                words.append(name)
                _spell(value, words)
        words.append(")")
    elif isinstance(node, list):
        for item in node:
            _spell(item, words)
    else:
        words.append(repr(node))
