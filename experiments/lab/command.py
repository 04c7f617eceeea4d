"""What the scripts of experiments/ share: folders as arguments, steps one of which may fail, how they end."""

import argparse
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dpucbvi.errors import InputError
from experiments.lab.compose import is_bad_input, named
from experiments.lab.process import Ended, listening, stop

ROOT = Path(__file__).resolve().parents[2]

Step = Callable[[], Iterable[object]]  # gives the lines that it has to say: the files that it has written


def parser(doc: str | None, names: str = "", **folders: str) -> argparse.ArgumentParser:
    """Arguments that name folders, each with its default, and what `names` says, if it says anything."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if names:
        made.add_argument("names", nargs="*", help=f"{names}; all, if none is named")
    for name, default in folders.items():
        made.add_argument(f"--{name}", type=_folder, default=default, help="relative to the repository")
    return made


def _folder(path: str) -> Path:
    return ROOT / path


@contextmanager
def told() -> Iterator[None]:
    """A bad input ends in one line and exit code 2, a signal in one line and 128 + its number."""
    try:
        with listening():
            yield
    except InputError as error:
        stop(str(error), 2)
    except Ended as end:
        stop(f"ended by {signal.Signals(end.args[0]).name}", 128 + end.args[0])
    except KeyboardInterrupt:
        stop("interrupted", 130)


def take(steps: Mapping[str, Step]) -> dict[str, str]:
    """Take every step and print its lines; what went wrong, by the step's name: it must not cost the others."""
    failed: dict[str, str] = {}
    for name, step in steps.items():
        try:
            for line in step():
                print(line, flush=True)
        except Exception as error:
            if not is_bad_input(error):
                traceback.print_exc()
            failed[name] = named(name, error)
    return failed


def print_errors(lines: Iterable[str]) -> None:
    for line in lines:
        print(f"error: {line}", file=sys.stderr, flush=True)
