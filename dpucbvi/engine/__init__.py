"""Two engines behind one call: `reference` (plain loops, the truth) and `fast` (compiled, the same numbers)."""

from collections.abc import Callable
from pathlib import Path

from dpucbvi.factory import Setup
from dpucbvi.trace import Trace

Progress = Callable[[int], None]  # told how many episodes were done since the last call


def run(setup: Setup, seed: int, progress: Progress = lambda _: None, checkpoint: Path | None = None) -> Trace:
    """One run. With `checkpoint`, the fast engine saves its state there now and then and goes on from it."""
    if setup.config.engine.name == "reference":
        from dpucbvi.engine.reference import run_reference

        return run_reference(setup, seed, progress)
    from dpucbvi.engine.fast import run_fast  # compiling is slow: only who asks for it pays

    return run_fast(setup, seed, progress, checkpoint)
