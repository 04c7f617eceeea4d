"""How far all runs are: a bar on a terminal, else a line now and then, fed from any process.

Every run has a slot in a small shared file and adds its episodes there; the process with the bar looks at the
file now and then. Nobody waits for anybody, so neither a killed worker nor a slow terminal can block a run.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpucbvi.files import clear_leftovers, own_name, write_private

if TYPE_CHECKING:
    from rich.console import Console

POLL_SECONDS = 0.2
LINE_SECONDS = 30.0  # without a terminal
SETTLED_SECONDS = 60.0  # before that the time left is not shown to rise


def counter(board: Path | None, slot: int) -> Callable[[int], None]:
    """A function that adds episodes to the slot, from 0 on; on another machine, without the board, nothing."""
    if board is None or not board.exists():
        return lambda _: None
    counts = np.memmap(board, dtype=np.int64, mode="r+")
    counts[slot] = 0

    def add(episodes: int) -> None:
        counts[slot] += episodes

    return add


class Board:
    """The slots of all runs, as the process sees them that started them; `seconds` are those predicted."""

    def __init__(self, path: Path, episodes: list[int], seconds: list[float]) -> None:
        self.path, self.episodes, self.seconds = path, np.array(episodes, dtype=np.int64), np.array(seconds)
        self.counts = np.memmap(path, dtype=np.int64, mode="r+") if episodes else self.episodes
        self.finished = np.zeros(len(episodes), dtype=bool)
        self.left = TimeLeft()

    def finish(self, slot: int) -> None:
        self.counts[slot] = self.episodes[slot]
        self.finished[slot] = True

    def under_way(self, slot: int) -> bool:
        return bool(self.counts[slot] > 0 and not self.finished[slot])

    def done(self) -> int:
        return int(np.minimum(self.counts, self.episodes).sum())

    def runs(self) -> str:
        return f"{int(self.finished.sum()):,}/{len(self.finished):,} runs"

    def time_left(self) -> str:
        shares = np.minimum(self.counts / self.episodes, 1.0)
        return self.left.text(float(shares @ self.seconds), float(self.seconds.sum()))


class TimeLeft:
    """From the work done since the first was: compiling and starting are over by then.

    Work is counted in predicted seconds. How long those really are is seen: a prediction that is off by a
    factor for all runs does no harm.
    """

    def __init__(self) -> None:
        self.first: tuple[float, float] | None = None
        self.end = np.inf  # when all is done, as it was last shown

    def text(self, done: float, total: float) -> str:
        now = time.monotonic()
        if self.first is None:
            if done:
                self.first = (now, done)
            return "compiling or starting"
        start, before = self.first
        if done == before:
            return "time left unknown"
        end = now + (now - start) * (total - done) / (done - before)
        self.end = min(self.end, end) if now - start < SETTLED_SECONDS else end
        return f"{_duration(max(0.0, self.end - now))} left"


@contextmanager
def progress_board(
    title: str, episodes: list[int], seconds: list[float], shown: bool, folder: Path
) -> Iterator[Board]:
    """A board with a slot for every run, and above it, if `shown`, a bar or lines."""
    wanted = folder / "progress"
    clear_leftovers(wanted)
    if not episodes:
        yield Board(folder, [], [])
        return
    path = own_name(wanted)
    write_private(path, bytes(8 * len(episodes)))
    try:
        board = Board(path, episodes, seconds)
        if not shown:
            yield board
        else:
            from rich.console import Console  # no worker needs it

            console = Console()
            with _bar(console, title, board) if console.is_terminal else _lines(title, board):
                yield board
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def _watched(look: Callable[[], None], seconds: float) -> Iterator[None]:
    """Look again and again, until the block ends."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(seconds):
            look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


@contextmanager
def _lines(title: str, board: Board) -> Iterator[None]:
    """On stderr, so that stdout has the results alone."""
    board.time_left()

    def say() -> None:
        done = f"{board.runs()}, {board.done():,} of {board.episodes.sum():,} episodes"
        print(f"{title}: {done}, {board.time_left()}", file=sys.stderr, flush=True)

    with _watched(say, LINE_SECONDS):
        yield


@contextmanager
def _bar(console: "Console", title: str, board: Board) -> Iterator[None]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn(title),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} episodes, {task.fields[runs]},"),
        TimeElapsedColumn(),
        TextColumn("gone, {task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        total = int(board.episodes.sum())
        task = progress.add_task(title, total=total, runs=board.runs(), left=board.time_left())

        def look() -> None:
            progress.update(task, completed=board.done(), runs=board.runs(), left=board.time_left())

        with _watched(look, POLL_SECONDS):
            yield


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
