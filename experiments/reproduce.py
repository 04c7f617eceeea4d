"""Run all experiments of conf/exp, ship their results, write paper/ from them: python experiments/reproduce.py.

What is stored already is loaded, an interrupted run goes on where it stopped: start it again at any time.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
MINUTES = re.compile(r"^# python .*\(about (\d+) min on 2 cores\)$", re.MULTILINE)
FIRST = "riverswim"  # the paper's figure


class Step(NamedTuple):
    """An experiment and the minutes that its config states."""

    name: str
    minutes: int


def steps() -> list[Step]:
    """Every experiment: the paper's figure, then the others, short ones first."""
    made = []
    for path in (ROOT / "conf" / "exp").glob("*.yaml"):
        stated = MINUTES.search(path.read_text())
        assert stated is not None, f"{path}: its second line must state its minutes"
        made.append(Step(path.stem, int(stated[1])))
    return sorted(made, key=lambda step: (step.name != FIRST, step.minutes, step.name))


def plan(todo: list[Step]) -> str:
    lines = [f"{step.minutes:5d} min  {step.name}" for step in todo]
    return "\n".join(
        [*lines, f"{sum(step.minutes for step in todo):5d} min  in all, on 2 cores, if nothing is stored"]
    )


def run(script: str, *arguments: str) -> None:
    """Run one of the scripts beside this one; stop with its exit code if it fails."""
    print(f"\n$ python experiments/{script} {' '.join(arguments)}".rstrip(), flush=True)
    code = subprocess.run([sys.executable, ROOT / "experiments" / script, *arguments]).returncode
    if code:
        sys.exit(code)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="list the experiments and their minutes only")
    dry_run = parser.parse_args().dry_run
    todo = steps()
    print(plan(todo))
    if dry_run:
        return
    for step in todo:
        run("run.py", f"+exp={step.name}")
    run("ship.py")
    run("paper.py")


if __name__ == "__main__":
    main()
