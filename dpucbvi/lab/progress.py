"""One progress bar over all runs, fed from any process.

Every run has a slot in a small shared file and adds its episodes there; the process with the bar looks at the
file now and then. Nobody waits for anybody, so neither a killed worker nor a slow terminal can block a run.
"""

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

POLL_SECONDS = 0.2


def counter(board: Path, slot: int) -> Callable[[int], None]:
    """A function that adds episodes to the slot."""
    counts = np.memmap(board, dtype=np.int64, mode="r+")

    def add(episodes: int) -> None:
        counts[slot] += episodes

    return add


@contextmanager
def progress_board(title: str, episodes: list[int], shown: bool) -> Iterator[Path]:
    """A board with a slot for every run, and the bar above it if `shown` and the output is a terminal."""
    with tempfile.TemporaryDirectory() as folder:
        board = Path(folder) / "episodes"
        board.write_bytes(bytes(8 * len(episodes)))
        console = Console()
        with _bar(console, title, board, episodes) if shown and console.is_terminal else _nothing():
            yield board


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _bar(console: Console, title: str, board: Path, episodes: list[int]) -> Iterator[None]:
    columns = (
        TextColumn(title),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("episodes, {task.fields[finished]} runs,"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    counts = np.memmap(board, dtype=np.int64, mode="r")
    done = threading.Event()
    with Progress(*columns, console=console, transient=True, speed_estimate_period=300) as progress:
        task = progress.add_task(title, total=sum(episodes), finished=f"0/{len(episodes)}")

        def watch() -> None:
            while not done.wait(POLL_SECONDS):
                finished = int((counts >= episodes).sum())
                progress.update(task, completed=int(counts.sum()), finished=f"{finished}/{len(episodes)}")

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()
