"""--save-arms=NAME: what a calibration chose, as files of conf/arm/ that an experiment can name."""

import os
import re
from pathlib import Path
from typing import Any

from dpucbvi.errors import InputError
from experiments.lab.calibration import chosen_on, write_arm
from experiments.lab.experiment import Experiment
from experiments.lab.settings import to_dict
from experiments.lab.store import StoredExperiment
from experiments.studies.calibrate.rule import algorithm, calibrations
from experiments.studies.shared.labels import environment_name

STUDY = "calibrate"
GROUPS = ("agent", "privatizer", "postprocess", "bonus", "confidence")  # of an arm
FLAG = "--save-arms"


def files(experiment: Experiment, name: str, folder: Path) -> dict[str, Path]:
    """The file that each algorithm will have, by its label; InputError if one cannot be written."""
    if experiment.study != STUDY:
        raise InputError(
            f"{FLAG}: {experiment.name} chooses no factors; it takes +exp=calibrate or one like it"
        )
    if not re.fullmatch(r"[A-Za-z]\w{0,50}", name, re.ASCII):
        raise InputError(f"{FLAG}: {name!r} is not accepted; it must be a letter, then letters, digits and '_'")
    made = {label: folder / f"{name}_{_plain(label)}.yaml" for label in _names(experiment)}
    for path in made.values():
        if path.exists():
            raise InputError(f"{FLAG}: {path} exists; give another name, or remove it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{FLAG}: {folder} cannot be written")
    return made


def save(experiment: Experiment, stored: StoredExperiment, paths: dict[str, Path]) -> list[Path]:
    """Write every algorithm with the factors that were chosen for it."""
    mdp, config = experiment.arms[0].setup.mdp, stored.arms[0].config
    seeds = [run.config["seed"] for run in stored.arms[0].runs]
    on = chosen_on(environment_name(config["env"]), mdp.H, config["K"], seeds)
    return [
        write_arm(paths[made.label], _common(experiment, made.label), made.choice, on)
        for made in calibrations(stored)
    ]


def _common(experiment: Experiment, label: str) -> dict[str, Any]:
    """What all arms of this label have in common: not the ε that differ, and no privatizer if those do."""
    named = zip(_names(experiment), experiment.arms, strict=True)
    first, *others = [to_dict(arm.settings) for name, arm in named if name == label]
    common: dict[str, Any] = {}
    for group in GROUPS:
        if all(other[group].get("name") == first[group].get("name") for other in others):
            shared = first[group].items()
            common[group] = {k: v for k, v in shared if all(other[group].get(k) == v for other in others)}
    if all(other["beta"] == first["beta"] for other in others):
        common["beta"] = first["beta"]
    return common


def _names(experiment: Experiment) -> list[str]:
    """The algorithm of every arm, as its calibration will call it."""
    environments = {arm.settings.env["name"] for arm in experiment.arms}
    return [algorithm(arm.label, arm.panel, arm.settings.env["name"], environments) for arm in experiment.arms]


def _plain(label: str) -> str:
    """`DP-UCBVI, pooled` as dp_ucbvi_pooled."""
    return re.sub(r"\W+", "_", label.lower(), flags=re.ASCII).strip("_")
