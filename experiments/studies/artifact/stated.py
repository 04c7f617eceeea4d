"""What the file of an experiment in conf/exp states above its settings."""

import re
from typing import NamedTuple

from dpucbvi.errors import InputError
from experiments.lab.compose import CONF

FIRST = "riverswim"  # the paper's figure
PATTERN = re.compile(r"^# (python .*?)\s+\(about (\d+) min on 2 cores\)\n#\n((?:# .*\n)+)", re.MULTILINE)


class Stated(NamedTuple):
    """The command that runs it, its minutes on 2 cores, and what it asks."""

    command: str
    minutes: int
    asks: str


def stated(name: str) -> Stated:
    """InputError if the file states something less."""
    found = PATTERN.search((CONF / "exp" / f"{name}.yaml").read_text())
    if found is None:
        raise InputError(
            f"{name}: conf/exp/{name}.yaml must state its command, its minutes and what it asks, as in "
            f"`# python experiments/run.py +exp={name}     (about 5 min on 2 cores)`, `#`, `# What is asked?`"
        )
    command, minutes, asks = found.groups()
    return Stated(command, int(minutes), " ".join(asks.replace("\n# ", " ").removeprefix("# ").split()))
