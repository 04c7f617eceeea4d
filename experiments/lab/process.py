"""What a process does besides its work: its arguments, how it ends, what it says on the way, who may stop it.

Every bad input ends in one line and exit code 2, a fault on the way in one line and 1, Ctrl-C and other signals
in one line and 128 + signal.
"""

import argparse
import io
import logging
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from dpucbvi.errors import LpError

ROOT = Path(__file__).resolve().parents[2]
GO_ON = "finished runs are stored, run again to go on"
NOTHING_STORED = "nothing is stored"
MOST_NAMED = 3

Step = Callable[[], Iterable[object]]  # gives the lines that it has to say: the files that it has written


class Stopped(RuntimeError):
    """What was asked for cannot be finished; the message says why, and what is stored."""


class Ended(KeyboardInterrupt):
    """A signal asked this process to end: as Ctrl-C does, with its own exit code."""


# --- how it ends --------------------------------------------------------------------------------------------


@contextmanager
def guarded(then: str = GO_ON) -> Iterator[None]:
    """Whatever is raised inside ends the process as it should; a mistake in the code has its traceback.

    `then`: what a line about an end before the end says of the work so far.
    """
    from experiments.lab.compose import is_bad_input, one_line  # of Hydra's errors too; workers do without

    quiet()
    try:
        with listening():
            yield
        sys.stdout.flush()
    except BrokenPipeError:  # who read our output is gone, and so is who would read a message
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if is_bad_input(error):
            stop(one_line(error), 2)
        if isinstance(error, Stopped | LpError):
            stop(str(error), 1)
        if isinstance(error, OSError):  # one that names no file may be about the output
            where = error.filename or "a file, or the output"
            stop(f"{where}: cannot be read or written ({error.strerror or error}); {then}", 1)
        raise
    except Ended as end:
        number = end.args[0]
        stop(f"ended by {signal.Signals(number).name}; {then}", 128 + number)
    except KeyboardInterrupt:
        stop(f"interrupted; {then}", 130)


def stop(message: str, code: int) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(code)


@contextmanager
def listening() -> Iterator[None]:
    """End as after Ctrl-C when asked to, and the workers too. What is ignored (nohup) stays so."""

    def end(number: int, _: FrameType | None) -> NoReturn:
        raise Ended(number)

    answers = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: end, signal.SIGHUP: end}
    asked = [number for number in answers if signal.getsignal(number) == signal.SIG_DFL]
    for number in asked:
        signal.signal(number, answers[number])
    try:
        yield
    finally:
        for number in asked:
            signal.signal(number, signal.SIG_DFL)


# --- what it says -------------------------------------------------------------------------------------------


def quiet() -> None:
    """No package warns, logs or wants a screen, and a terminal without ε gets a question mark."""
    os.environ["MPLBACKEND"] = "agg"
    logging.lastResort = logging.NullHandler()  # for what packages log
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
        warnings.showwarning = lambda *_, **__: None  # gymnasium sets filters of its own
        os.environ.setdefault("PYTHONWARNINGS", "ignore")  # of the workers
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def note(line: str) -> None:
    """A line beside the results, on stderr."""
    print(f"note: {line}", file=sys.stderr, flush=True)


def few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


# --- what the scripts share: folders as arguments, steps one of which may fail -------------------------------


def parser(doc: str | None, names: str = "", **folders: str) -> argparse.ArgumentParser:
    """Arguments that name folders, each with its default, and what `names` says, if it says anything."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if names:
        made.add_argument("names", nargs="*", help=f"{names}; all, if none is named")
    for name, default in folders.items():
        made.add_argument(f"--{name}", type=ROOT.joinpath, default=default, help="relative to the repository")
    return made


def take(steps: Mapping[str, Step]) -> dict[str, str]:
    """Take every step and print its lines; what went wrong, by the step's name: it must not cost the others."""
    from experiments.lab.compose import is_bad_input, named

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
