"""Run an experiment, draw its figure, print its table: python experiments/run.py +exp=riverswim (or --help).

`task=certify` prints what the runs would certify, `task=plan` how long they would take; neither runs anything.
"""

import signal
import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C during the imports ends without a traceback

from time import perf_counter

from dpucbvi.errors import InputError
from experiments.lab import runner
from experiments.lab.compose import CONF, Job, check_changes, config_of, job_of
from experiments.lab.experiment import Experiment, certified, experiment_from
from experiments.lab.process import Stopped, guarded, note
from experiments.lab.store import Store, StoredExperiment, write_csv
from experiments.studies import draw, table
from experiments.studies.shared.printed import printed_curves
from experiments.studies.shared.tables import aligned


def main() -> None:
    """Everything is checked before anything is run."""
    with guarded():
        job = job_of(sys.argv[1:])
        if job is not None:
            experiment = checked(job)
            TASKS[experiment.task](experiment)


def checked(job: Job) -> Experiment:
    """The experiment that the command line asks for; InputError if any of its settings is wrong."""
    audits = job.config.task == "audit" or (job.config.task != "run" and job.config.attack.name)
    studies = ["audit" if audits else "regret"]  # draws any arms
    if job.exp:
        studies.append(config_of([f"+exp={job.exp}"]).study)
    experiment = experiment_from(job.config, CONF.parent, studies, printed_curves(), job.changed)
    for line in check_changes(job):
        note(line)
    return experiment


def run(experiment: Experiment) -> None:
    """Compute the runs that are not stored; from what is stored draw the figure and print the table."""
    start = perf_counter()
    tally = runner.run_experiment(experiment)
    stored = Store(experiment.results).load_experiment(experiment.name)
    figures, rows = drawn(stored, experiment.figures)
    print(f"{stored.name}: {tally}, {perf_counter() - start:.0f} s\n\n{rows}\n")
    for line in runner.learnt_nothing(stored):
        print(f"{line}\n")
    if figures:
        print(f"figure  {' and '.join(map(str, figures))}")
    print(f"table   {write_csv(stored, experiment.results)}")


def certify(experiment: Experiment) -> None:
    """Print what the runs would certify."""
    print(aligned(certified(experiment)))


def plan(experiment: Experiment) -> None:
    """Print which runs are stored, and how long the others would take."""
    print(aligned(runner.planned(experiment)))


TASKS = {"run": run, "audit": run, "certify": certify, "plan": plan}


def drawn(stored: StoredExperiment, folder: Path) -> tuple[list[Path], str]:
    """The files of the figure, and the table. A changed experiment may lack an arm that its study looks for."""
    try:
        return draw(stored, folder), table(stored)
    except Exception as error:
        if isinstance(error, InputError | OSError) or not stored.changed:  # else it is a mistake in the code
            raise
        cannot = f"study: {stored.study} cannot draw the experiment as it was changed ({error!r})"
        raise Stopped(f"{cannot}; its runs are stored, study=regret draws them") from error


if __name__ == "__main__":
    main()
