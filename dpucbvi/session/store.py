"""What a session keeps: a database in a folder of its own, and beside the folder a log of what was released.

The folder (0700) holds `store.db` with its two companions while it is open, `key`, under which tickets are
hashed, and `lock`. Every change is one transaction, synced before it returns. After a release the write-ahead
log of the database is emptied: successive sums of a batch stand in it, and their difference is one user.

The log has one line for each release: number, which noise (it begins anew after a recovery), checksum,
integers. It is synced before a release is shown, and never lies in the folder: a folder that was copied or
restored from a backup is behind its log, and would release the same users with fresh noise.
"""

import base64
import fcntl
import hashlib
import json
import os
import secrets
import sqlite3
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from dpucbvi.errors import InputError
from dpucbvi.files import PRIVATE, sync, write_private
from dpucbvi.protocol import Ints
from dpucbvi.session.course import Row

HEADER = "dpucbvi releases 1"
TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE places (
    place INTEGER PRIMARY KEY, batch INTEGER NOT NULL, ticket BLOB, due REAL, question INTEGER,
    open INTEGER NOT NULL
);
CREATE UNIQUE INDEX tickets ON places (ticket) WHERE ticket IS NOT NULL;
CREATE INDEX dues ON places (due) WHERE open;
CREATE INDEX waiting ON places (batch) WHERE open;
CREATE TABLE batches (batch INTEGER PRIMARY KEY, sums BLOB NOT NULL, shown BLOB NOT NULL);
CREATE TABLE state (name TEXT NOT NULL, at INTEGER NOT NULL, value BLOB NOT NULL, PRIMARY KEY (name, at));
"""


class Store:
    """The folder of a session, held by one process at a time."""

    def __init__(self, folder: Path):
        if not (folder / "store.db").is_file():
            raise InputError(f"session: there is none in {folder}")
        self.folder = folder
        self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, PRIVATE)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise InputError(f"session: {folder} is open in another process, or twice in this one") from None
        self.key = (folder / "key").read_bytes()
        self.db = sqlite3.connect(folder / "store.db", isolation_level=None, check_same_thread=False)
        for setting in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "temp_store=MEMORY"):
            self.db.execute(f"PRAGMA {setting}").fetchall()
        told = self.db.execute("SELECT key, value FROM about").fetchall()
        self.about: dict[str, Any] = {key: json.loads(value) for key, value in told}

    @staticmethod
    def check_new(folder: Path) -> None:
        if folder.exists():
            raise InputError(f"session: {folder} is there already; Session.open goes on with it")

    @classmethod
    def create(cls, folder: Path, about: dict[str, Any], state: list[Row]) -> "Store":
        """A new one; it is there completely or not at all."""
        partial = folder.with_name(f".{folder.name}~{secrets.token_hex(4)}")
        partial.mkdir(mode=0o700, parents=True)
        write_private(partial / "key", secrets.token_bytes(32))
        write_private(partial / "store.db", b"")
        db = sqlite3.connect(partial / "store.db", isolation_level=None)
        db.executescript("PRAGMA journal_mode=WAL; BEGIN;" + TABLES)
        db.executemany("INSERT INTO about VALUES (?, ?)", [(key, json.dumps(about[key])) for key in about])
        db.executemany(
            "INSERT INTO state VALUES (?, ?, ?)", [(n, at, value.tobytes()) for n, at, value in state]
        )
        db.execute("COMMIT")
        db.close()
        os.rename(partial, folder)
        sync(folder.parent)
        return cls(folder)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it is on the disk when this ends, or nothing is."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self.db
            self.db.execute("COMMIT")
        except BaseException:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            raise

    def tell(self, **facts: Any) -> None:
        """Facts of the session, inside a transaction."""
        rows = [(key, json.dumps(value)) for key, value in facts.items()]
        self.db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", rows)
        self.about |= facts

    def keep(self, rows: list[Row]) -> None:
        """Parts of the state, inside a transaction."""
        values = [(name, at, np.ascontiguousarray(value).tobytes()) for name, at, value in rows]
        self.db.executemany("INSERT OR REPLACE INTO state VALUES (?, ?, ?)", values)

    def kept(self) -> dict[tuple[str, int], bytes]:
        return {(name, at): value for name, at, value in self.db.execute("SELECT name, at, value FROM state")}

    def empty_journal(self) -> None:
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        self.db.close()
        os.close(self._lock)


class Line(NamedTuple):
    """One release as the log has it."""

    number: int
    noise: int
    integers: Ints

    @property
    def checksum(self) -> str:
        told = f"{self.number} {self.noise} ".encode() + self.integers.astype("<i8").tobytes()
        return hashlib.sha256(told).hexdigest()


class Log:
    """The releases of a session, oldest first, in a file that only grows."""

    def __init__(self, path: Path, session: str):
        self.path, self._header = path, f"{HEADER} {session}\n"

    def create(self) -> None:
        self._append(self._header)
        sync(self.path.parent)

    def append(self, line: Line) -> None:
        packed = base64.b64encode(zlib.compress(line.integers.astype("<i8").tobytes(), 1)).decode()
        self._append(f"{line.number} {line.noise} {line.checksum} {packed}\n")

    def _append(self, text: str) -> None:
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE)
        try:
            left = text.encode()
            while left:
                left = left[os.write(file, left) :]
            os.fsync(file)
        finally:
            os.close(file)

    def mend(self) -> None:
        """Cut off a last line that was not written to its end."""
        if not self.path.is_file():
            raise InputError(f"log: {self.path} is not there, and without it no session may go on")
        with self.path.open("rb+") as file:
            file.truncate(sum(len(line) for line in file if line.endswith(b"\n")))

    def lines(self) -> Iterator[Line]:
        """Every release, one at a time; InputError for a file that is not this session's, or was changed."""
        with self.path.open("rb") as file:
            self._check_header(file)
            yield from map(self._parsed, file)

    def last(self) -> Line | None:
        """The last release; one line is in memory at a time, for a log may be larger than that."""
        with self.path.open("rb") as file:
            self._check_header(file)
            lines = deque(file, maxlen=1)
        return self._parsed(lines[0]) if lines else None

    def _check_header(self, file: BinaryIO) -> None:
        if file.readline() != self._header.encode():
            raise InputError(f"log: {self.path} is not the log of this session")

    def _parsed(self, text: bytes) -> Line:
        try:
            number, noise, checksum, packed = text.decode().split()
            integers = np.frombuffer(zlib.decompress(base64.b64decode(packed)), "<i8")
            line = Line(int(number), int(noise), integers.astype(np.int64))
        except (ValueError, zlib.error):
            raise InputError(f"log: {self.path} has a line that is no release") from None
        if line.checksum != checksum:
            raise InputError(f"log: release {number} of {self.path} is not as it was written")
        return line
