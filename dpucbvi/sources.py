"""The code that a result can depend on, as one hash: what the compiled cache, checkpoints and provenance trust.

That is every room but the study of the paper, and of the lab only what turns settings into the parts of a run.
"""

import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
AROUND = ("lab", "studies")
SETTINGS = ("lab/settings.py", "lab/assemble.py", "lab/strict.py")


def sources() -> list[Path]:
    """Those files, sorted."""
    rooms = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in AROUND]
    return sorted([*rooms, *(PACKAGE / name for name in SETTINGS)])


@cache
def code() -> str:
    """A hash of their names and contents."""
    digest = hashlib.sha256()
    for source in sources():
        digest.update(str(source.relative_to(PACKAGE)).encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
