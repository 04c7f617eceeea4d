"""What conf/exp says of an experiment: the words above its settings, and the results that it asks for."""

import json
import re
from typing import NamedTuple

from dpucbvi.errors import InputError
from experiments.lab.compose import CONF, composed, experiments
from experiments.lab.experiment import Experiment, experiment_from
from experiments.lab.process import few
from experiments.lab.runner import index
from experiments.lab.store import StoredExperiment, results
from experiments.studies import names
from experiments.studies.shared.printed import printed_curves

FIRST = "riverswim"  # the paper's figure
PATTERN = re.compile(r"^# (python .*?)\s+\(about (\d+) min on 2 cores\)\n#\n((?:# .*\n)+)", re.MULTILINE)


def in_order() -> list[str]:
    """All experiments, the paper's figure first."""
    return sorted(experiments(), key=lambda name: (name != FIRST, name))


class Stated(NamedTuple):
    """The command that runs it, its minutes on 2 cores, and what it asks."""

    command: str
    minutes: int
    asks: str


def stated(name: str) -> Stated:
    """InputError if the file states something less."""
    found = PATTERN.search((CONF / "exp" / f"{name}.yaml").read_text("utf-8"))
    if found is None:
        raise InputError(
            f"{name}: conf/exp/{name}.yaml must state its command, its minutes and what it asks, as in "
            f"`# python experiments/run.py +exp={name}     (about 5 min on 2 cores)`, `#`, `# What is asked?`"
        )
    command, minutes, asks = found.groups()
    return Stated(command, int(minutes), " ".join(asks.replace("\n# ", " ").removeprefix("# ").split()))


def experiment_of(name: str) -> Experiment:
    """What `+exp=<name>` would run."""
    return experiment_from(composed(name), CONF.parent, names(), printed_curves())


def check_index(name: str, found: StoredExperiment) -> None:
    """Raise InputError unless this is, but for the runs themselves, what `+exp=<name>` would store."""
    if name not in experiments():
        raise InputError(f"{name}: no such experiment; it must be one of {', '.join(experiments())}")
    made = experiment_of(name)
    ours, theirs = json.loads(json.dumps(index(made))), results(found).about["arms"]
    other = [f"changed: {change}" for change in found.changed]
    other += ["study"] if made.study != found.study else []
    other += [key for key in {**ours, **theirs} if (key in ours) != (key in theirs)]
    both = [key for key in ours if key in theirs]
    other += [f"{key}: {what}" for key in both for what in ours[key] if ours[key][what] != theirs[key][what]]
    if not other and list(ours) != list(theirs):
        other = ["the order of its arms"]
    if other:
        raise InputError(
            f"{name}: has other settings than conf/exp/{name}.yaml ({few(other)}); "
            f"run it again (experiments/run.py +exp={name}; what is stored is kept), then `make ship`"
        )
