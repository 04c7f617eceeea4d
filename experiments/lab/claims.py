"""Who computes a run: a lock on a file. It ends with its process, however that ends, so none is ever stale."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpucbvi.files import PRIVATE


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
