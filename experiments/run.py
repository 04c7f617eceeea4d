"""Run an experiment, draw its figure, print its table: python experiments/run.py +exp=riverswim (or --help).

With --certify it prints what the runs would certify, with --plan what they would take, and runs nothing. With
--no-true-counts it stores only the regret of its runs, for results that are to be shared. With --save-arms=NAME
a calibration writes the factors that it chose into conf/arm/.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import gc
import io
import logging
import os
import shlex
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import perf_counter
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C during the imports ends without a traceback
if __name__ == "__main__":
    gc.set_threshold(100_000)  # imports make no garbage; to look for it 800 times took an eighth of a small run

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from dpucbvi import files
from dpucbvi.errors import InputError, LpError
from experiments.lab.command_line import (
    as_one_experiment,
    changes,
    check_flags,
    is_bad_input,
    one_line,
    own_name,
    same_problem,
)
from experiments.lab.config_store import offer_environments

if TYPE_CHECKING:
    from experiments.lab.experiment import Experiment
    from experiments.lab.store import StoredExperiment

ROOT = Path(__file__).resolve().parents[1]
CONF = ROOT / "conf"
LAUNCHER = ("hydra/launcher", "hydra.launcher")
GO_ON = "finished runs are stored, run again to go on"
certify = planning = False  # --certify, --plan were given
saved_as: str | None = None  # --save-arms=NAME
checking = False  # all jobs of a multirun, before the first


class Ended(KeyboardInterrupt):
    """A signal asked this process to end: as Ctrl-C does, with its own exit code."""


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
def run(config: DictConfig) -> None:
    """Check everything, run what is not stored, draw, print."""
    from experiments.lab.certify import certified  # these are slow to import: --help and --cfg do without
    from experiments.lab.effect import check_effect
    from experiments.lab.experiment import check_study, experiment_from
    from experiments.lab.runner import WorkerDied, plan, run_experiment
    from experiments.lab.tell import tell
    from experiments.studies import names, study
    from experiments.studies.shared.printed import printed_curves
    from experiments.studies.shared.tables import aligned

    try:
        start = perf_counter()
        overrides = HydraConfig.get().overrides.task
        changed = changes(overrides)
        named = _with_own_name(config, changed)
        experiment = experiment_from(named, ROOT, names(), printed_curves(), changed)
        check_study(experiment.study, HydraConfig.get().runtime.choices.get("exp"))
        lines = check_effect(overrides, experiment)
        if not experiment.runtime.true_counts and study(experiment.study).ships_state:
            raise InputError(
                f"runtime.true_counts: false is not accepted; {experiment.study} draws N_sa and Q, which are "
                "then not stored (study=regret does without)"
            )
        paths = {} if saved_as is None else _files_to_save(experiment, saved_as)
        if checking:
            return
        for line in lines:
            tell(line)
        if certify:
            print(aligned(certified(experiment)))
            return
        if planning:
            rows, refused = plan(experiment)
            print(aligned(rows), flush=True)
            if refused:
                raise refused
            return
        tally = run_experiment(experiment)
        _show(experiment, f"{tally}, {perf_counter() - start:.0f} s", paths)
    except (WorkerDied, LpError) as error:
        stop(str(error), 1)
    except BrokenPipeError:
        nobody_reads()  # here, as below
    except OSError as error:
        stop(f"{unwritten(error)}; {GO_ON}", 1)
    except Exception as error:
        stop_if_bad_input(error)  # here, or Hydra would say a line of its own
        raise


def _show(experiment: "Experiment", done: str, paths: dict[str, Path]) -> None:
    """Draw the figure and print the table, from what is stored; write what was chosen into these files."""
    from experiments.lab.learnt import learnt_nothing
    from experiments.lab.store import Store, write_csv
    from experiments.studies import draw, table

    stored = Store(experiment.results).load_experiment(experiment.name)
    if sys.stdout.isatty():
        print("drawing the figure ...", end="\r", flush=True)
    try:
        drawn, rows = draw(stored, experiment.figures), table(stored)
    except Exception as error:  # of an arm that it looks for, or finds twice
        if isinstance(error, InputError | OSError) or not stored.changed:  # else it is a mistake in the code
            raise
        cannot = f"study: {stored.study} cannot draw the experiment as it was changed ({error!r})"
        stop(f"{cannot}; its runs are stored, study=regret draws them", 1)
    print(f"{stored.name}: {done}\n\n{rows}\n")
    for line in learnt_nothing(stored):
        print(f"{line}\n")
    print(f"figure  {' and '.join(map(str, drawn))}\ntable   {write_csv(stored, experiment.results)}")
    if paths:
        _save_arms(experiment, stored, paths)


def _files_to_save(experiment: "Experiment", name: str) -> dict[str, Path]:
    from experiments.studies.calibrate.save import files  # with a study that other runs do without

    return files(experiment, name, CONF / "arm")


def _save_arms(experiment: "Experiment", stored: "StoredExperiment", paths: dict[str, Path]) -> None:
    from experiments.studies.calibrate.save import save

    command = shlex.join(["python", "experiments/run.py", *same_problem(experiment.changed)])
    for path in save(experiment, stored, paths):
        print(f"arm     {path}\n        {command} +arm@arms.{path.stem}={path.stem}")


def main() -> None:
    """Every bad input ends in one line and exit code 2, Ctrl-C and other signals in one and 128 + signal."""
    global certify, planning, saved_as, checking
    quiet()
    try:
        os.getcwd()
    except FileNotFoundError:
        stop("the folder that you are in was removed; change to another one", 2)
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises its errors instead of printing them
    if certify := "--certify" in sys.argv:
        sys.argv.remove("--certify")  # Hydra knows no flags but its own
    if planning := "--plan" in sys.argv:
        sys.argv.remove("--plan")
    if "--no-true-counts" in sys.argv:
        sys.argv[sys.argv.index("--no-true-counts")] = "runtime.true_counts=false"
    for argument in [argument for argument in sys.argv if argument.startswith("--save-arms=")]:
        sys.argv.remove(argument)
        saved_as = argument.partition("=")[2]
    try:
        if certify and planning:
            raise InputError("--certify, --plan: give one of them")
        if saved_as is not None and {"-m", "--multirun"} & set(sys.argv):
            raise InputError("--save-arms: it takes one experiment, not --multirun")
        check_flags()
        sys.argv[1:] = as_one_experiment(sys.argv[1:])
        offer_environments(CONF)
        with listening(), scratch_folder() as scratch:
            OmegaConf.register_new_resolver("scratch", lambda: str(scratch), replace=True)
            if checking := bool({"-m", "--multirun"} & set(sys.argv)):
                _check_all()
                checking = False
            run()
        sys.stdout.flush()
    except BrokenPipeError:
        nobody_reads()
    except Exception as error:
        stop_if_bad_input(error)
        if isinstance(error, OSError):  # a folder of Hydra's
            stop(unwritten(error), 1)
        raise
    except Ended as end:
        number = end.args[0]
        stop(f"ended by {signal.Signals(number).name}; {GO_ON}", 128 + number)
    except KeyboardInterrupt:
        stop(f"interrupted; {GO_ON}", 130)


def _check_all() -> None:
    """All jobs of a multirun, here: whatever launcher will send them elsewhere."""
    arguments = sys.argv
    sys.argv = [argument for argument in arguments if not argument.startswith(LAUNCHER)]
    try:
        run()
    finally:
        sys.argv = arguments


def quiet() -> None:
    """No package warns, logs or wants a screen, and a terminal without ε gets a question mark."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _open_closed()
    os.environ["MPLBACKEND"] = "agg"
    logging.lastResort = logging.NullHandler()  # for what packages log
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
        warnings.showwarning = lambda *_, **__: None  # gymnasium sets filters of its own
        os.environ.setdefault("PYTHONWARNINGS", "ignore")  # of the workers
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _open_closed() -> None:
    """Whoever started us with <&-, >&- or 2>&- wants nothing: no file may get that number and be written to."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            with suppress(OSError):  # the lowest number that is free
                os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, open(number, "r" if number == 0 else "w"))  # noqa: SIM115


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


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """For what Hydra writes in a multirun; that of a killed process is removed by the next one."""
    try:
        wanted = Path(tempfile.gettempdir()) / "dpucbvi"
        files.clear_leftovers(wanted)
        folder = files.own_name(wanted)
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise InputError(f"TMPDIR: no temporary folder can be written ({error.strerror})") from None
    try:
        yield folder
    finally:
        files.remove(folder)


def nobody_reads() -> NoReturn:
    """Who read our output is gone, and so is who would read a message."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


def stop_if_bad_input(error: Exception) -> None:
    if is_bad_input(error):
        stop(one_line(error), 2)


def unwritten(error: OSError) -> str:
    """Of an error that names no file, nobody knows more: it may be the output."""
    return f"{error.filename or 'a file, or the output'}: cannot be read or written ({error.strerror or error})"


def stop(message: str, code: int) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(code)


def _with_own_name(config: DictConfig, changed: tuple[str, ...]) -> DictConfig:
    """A changed experiment gets a name of its own, and in a multirun a number: none overwrites another."""
    job = HydraConfig.get()
    if not any(override.startswith("name=") for override in job.overrides.task):
        config.name = own_name(config.name, changed)
        if job.mode == hydra.types.RunMode.MULTIRUN:
            config.name = f"{config.name}-{job.job.num}"
    return config


if __name__ == "__main__":
    main()
