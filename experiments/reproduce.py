"""Run all experiments of conf/exp, ship their results, write paper/ from them: python experiments/reproduce.py.

Stored runs are loaded, so you can stop this and start it again at any time: only runs that were not finished
begin anew. Steps that fail and experiments whose file is wrong are named at the end; all others are done.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder, which python -P leaves out: every module has one name.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).resolve().parents[1])]

import signal
import subprocess
from typing import NamedTuple

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C before the first step ends without a traceback

from experiments.lab.compose import experiments, named
from experiments.lab.process import ROOT, parser, print_errors
from experiments.lab.runner import run_ids
from experiments.lab.store import Store
from experiments.studies.artifact.conf import FIRST, experiment_of, stated

TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = {code for number in TO_END for code in (128 + number, -number)}  # exit codes of a step


class Step(NamedTuple):
    """An experiment, the minutes that its config states, and how many of its runs are not stored."""

    name: str
    minutes: int
    missing: int
    runs: int

    @property
    def left(self) -> int:
        """Minutes, as if all runs took as long."""
        return -(-self.minutes * self.missing // self.runs)


def steps(results: Path) -> tuple[list[Step], list[str]]:
    """Every experiment, the paper's figure first, then short ones; and why others of them cannot be run."""
    made, wrong, store = [], [], Store(results)
    for name in experiments():
        try:
            minutes, ids = stated(name).minutes, run_ids(experiment_of(name))
            made.append(Step(name, minutes, sum(not store.has(id) for id in ids), len(ids)))
        except Exception as error:  # a mistake in one file must not cost the others
            wrong.append(named(name, error))
    return sorted(made, key=lambda step: (step.name != FIRST, step.minutes, step.name)), wrong


def plan(todo: list[Step]) -> str:
    lines = [f"{step.left:5d} min  {step.name:24s}{step.missing:6,} of {step.runs:,} runs" for step in todo]
    in_all = f"{sum(step.left for step in todo):5d} min  in all, on 2 cores"
    return "\n".join([*(f"{line} to compute" for line in lines), in_all])


def run(script: str, *arguments: str) -> int:
    """Run one of the scripts beside this one; its exit code."""
    print(f"\n$ python experiments/{script} {' '.join(arguments)}".rstrip(), flush=True)
    step = subprocess.Popen([sys.executable, ROOT / "experiments" / script, *arguments])

    def pass_on(number: int, _: object) -> None:
        if number != signal.SIGINT:  # which a terminal sends to the step as well
            step.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in TO_END}
    try:
        return step.wait()
    finally:
        for number, answer in before.items():
            signal.signal(number, answer)


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--results", default="results", help="relative to the repository")
    made.add_argument("--dry-run", action="store_true", help="list the experiments and their minutes only")
    made.add_argument("runtime", nargs="*", help="settings of runtime, such as runtime.workers=4")
    arguments = made.parse_args()
    todo, wrong = steps(ROOT / arguments.results)
    print(plan(todo), flush=True)
    print_errors(f"cannot be run: {reason}" for reason in wrong)
    if arguments.dry_run:
        sys.exit(min(len(wrong), 1))
    settings = (f"runtime.results={arguments.results}", *arguments.runtime)
    commands = [("run.py", f"+exp={step.name}", *settings) for step in todo]
    commands += [("ship.py", f"--results={arguments.results}"), ("paper.py",)]
    failed = []
    for command in commands:
        code = run(*command)
        if code in INTERRUPTED:
            sys.exit(code if code > 0 else 128 - code)
        if code:
            failed.append(" ".join(command[:2]))
    if failed:
        print_errors([f"{len(failed)} of {len(commands)} steps failed: {', '.join(failed)}"])
    print_errors(f"was not run: {reason}" for reason in wrong)
    sys.exit(min(len(failed) + len(wrong), 1))


if __name__ == "__main__":
    main()
