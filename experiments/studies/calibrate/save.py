"""save_arms=NAME: what a calibration chose, as files of conf/arm/ that an experiment can name."""

import os
import re
from pathlib import Path
from typing import Any

from dpucbvi.errors import InputError
from experiments.lab.calibration import chosen_on, write_arm
from experiments.lab.experiment import Experiment
from experiments.lab.settings import to_dict
from experiments.lab.store import StoredExperiment
from experiments.studies.calibrate.rule import calibrations
from experiments.studies.shared.arms import config_of
from experiments.studies.shared.labels import environment_name

STUDIES = ("calibrate", "calibrate_fine")  # here a label is an algorithm; +exp=calibrate_... have others
GROUPS = ("agent", "privatizer", "postprocess", "bonus", "confidence")  # of an arm
FLAG = "save_arms"


def files(experiment: Experiment, name: str, folder: Path) -> dict[str, Path]:
    """The file that each algorithm will have, by its label; InputError if one cannot be written."""
    if experiment.study not in STUDIES:
        accepted = " or ".join(f"+exp={study}" for study in STUDIES)
        raise InputError(f"{FLAG}: {experiment.name} chooses no factors; it takes {accepted}")
    if not re.fullmatch(r"[A-Za-z]\w{0,50}", name, re.ASCII):
        raise InputError(f"{FLAG}: {name!r} is not accepted; it must be a letter, then letters, digits and '_'")
    made = {arm.label: folder / f"{name}_{_plain(arm.label)}.yaml" for arm in experiment.arms}
    for path in made.values():
        if path.exists():
            raise InputError(f"{FLAG}: {path} exists; give another name, or remove it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{FLAG}: {folder} cannot be written")
    return made


def save(experiment: Experiment, stored: StoredExperiment, paths: dict[str, Path]) -> list[Path]:
    """Write every algorithm with the factors that were chosen for it."""
    mdp, config = experiment.arms[0].setup.mdp, config_of(stored.arms[0])
    seeds = [run.config["seed"] for run in stored.arms[0].runs]
    on = chosen_on(environment_name(config["env"]), mdp.H, config["K"], seeds)
    return [
        write_arm(paths[made.label], _common(experiment, made.label), made.choice, on)
        for made in calibrations(stored)
    ]


def _common(experiment: Experiment, label: str) -> dict[str, Any]:
    """What all arms of this label have in common: not the ε that differ, and no privatizer if those do."""
    first, *others = [to_dict(arm.settings) for arm in experiment.arms if arm.label == label]
    common: dict[str, Any] = {}
    for group in GROUPS:
        if all(other[group].get("name") == first[group].get("name") for other in others):
            shared = first[group].items()
            common[group] = {k: v for k, v in shared if all(other[group].get(k) == v for other in others)}
    if all(other["beta"] == first["beta"] for other in others):
        common["beta"] = first["beta"]
    return common


def _plain(label: str) -> str:
    """`DP-UCBVI, pooled` as dp_ucbvi_pooled."""
    return re.sub(r"\W+", "_", label.lower(), flags=re.ASCII).strip("_")
