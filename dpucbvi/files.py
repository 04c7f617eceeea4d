"""Files that are there completely or not at all, however many processes write them and whichever is killed.

Each is written under a name of its process alone and then renamed. What a killed process leaves behind is
removed by the next one on the same machine that writes the same file; what a living one has is left alone.
"""

import hashlib
import os
import platform
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

PRIVATE = 0o600  # true counts and states of generators are nobody else's
HERE = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
OWN_NAME = re.compile(r"\..*~([0-9a-f]{8})~(\d+)~\d+", re.DOTALL)
_numbers = count()
_given: set[str] = set()  # by this process: a restarted container may have the process id of a killed one


def own_name(path: Path) -> Path:
    """A name beside the path that no other process uses, nor this one twice."""
    name = f".{path.name}~{HERE}~{os.getpid()}~{next(_numbers)}"
    _given.add(name)
    return path.with_name(name)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write a file under the name that this gives; it takes the path's place if nothing is raised.

    An error names the path that could not be written: that of a full disk names none, others the passing name.
    """
    clear_leftovers(path)
    partial = own_name(path)
    try:
        yield partial
        os.replace(partial, path)  # a folder in its place stays, and is an error
    except OSError as error:
        error.filename = str(error.filename or path).replace(str(partial), str(path))
        raise
    finally:
        partial.unlink(missing_ok=True)


def write_private(path: Path, content: bytes) -> None:
    """A new file that only its owner can read."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
        file.write(content)


def read_regular(path: Path, most: int) -> bytes:
    """The bytes of a regular file; a link, a pipe or a folder in its place is not opened."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is not a file")
        if found.st_size > most:
            raise ValueError("it is larger than any that is written here")
        return file.read()


def write_durably(path: Path, content: bytes) -> None:
    """A private file in the place of one that was there: on the disk when this returns."""
    with replacing(path) as partial:
        write_private(partial, content)
        sync(partial)
    sync(path.parent)


def sync(path: Path) -> None:
    """Have what a file holds, or which names a folder has, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time, by a lock beside the path."""
    import fcntl  # not everywhere

    path.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, PRIVATE)) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def clear_leftovers(path: Path) -> None:
    """Remove what processes of this machine that are no longer there left of this path."""
    try:
        found = [entry.name for entry in os.scandir(path.parent) if entry.name.startswith(f".{path.name}~")]
    except FileNotFoundError:
        return
    for name in found:
        owner = OWN_NAME.fullmatch(name)
        if owner is not None and owner[1] == HERE and not _owned(name, int(owner[2])):
            with suppress(OSError):  # another user's, whom only he can clear up after
                path.with_name(name).unlink()


def _owned(name: str, process: int) -> bool:
    """Whether the process that the name tells is there and gave it."""
    if process == os.getpid():
        return name in _given
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
