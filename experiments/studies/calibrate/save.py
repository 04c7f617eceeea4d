"""What a calibration chose, as files of conf/arm/ that an experiment can name.

On the command line save_arms=NAME writes them. In Python, from the repository's root:

    found = dp.calibrate(mdp, dp.DPUCBVI(pooled=True), dp.Central(epsilon=10), K=5_000)
    save_arm(found, "conf/arm/mine.yaml")    # then: /arm@arms.mine: mine, in an experiment's defaults
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import yaml

from dpucbvi.agents import AGENTS
from dpucbvi.bonus import bernstein_bonus
from dpucbvi.calibrate import Calibrated, Factors, chosen_on
from dpucbvi.errors import InputError
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.registry import Registry
from experiments.lab.experiment import Experiment
from experiments.lab.settings import BONUS, CONFIDENCE, PostprocessSettings, RunSettings, arguments, to_dict
from experiments.lab.store import StoredExperiment
from experiments.studies.calibrate.rule import algorithm, calibrations
from experiments.studies.shared.labels import environment_name

STUDY = "calibrate"
GROUPS = ("agent", "privatizer", "postprocess", "bonus", "confidence")  # of an arm
KEPT = ("zero", "known_rewards", "known_support")  # settings of dp.run that an arm has under postprocess
FLAG = "save_arms"


def save_arm(found: Calibrated, path: str | Path) -> Path:
    """Write what dp.calibrate found as a file of conf/arm/; a file that exists is never replaced."""
    private = len(found.found.choice) == 2
    name = found.settings.get("postprocess", "none" if found.agent.raw or not private else "closed_form")
    unsaid = PostprocessSettings()
    postprocess = {"name": name, **{key: found.settings.get(key, getattr(unsaid, key)) for key in KEPT}}
    if not all(isinstance(value, str | float | int) for value in postprocess.values()):
        raise InputError("save: a post-processing or support of your own has no name in conf/")
    if getattr(found.agent, "bonus", bernstein_bonus) is not bernstein_bonus:
        raise InputError("save: a bonus of your own has no name in conf/, so no arm can have it")
    settings = {
        "agent": _named(AGENTS, found.agent, BONUS),
        "privatizer": _named(PRIVATIZERS, found.privatizer, CONFIDENCE),
        "postprocess": postprocess,
        "bonus": {"without": getattr(found.agent, "bonus_without", None)},
        "beta": found.settings.get("beta", RunSettings().beta),
    }
    if private:
        constant = getattr(found.privatizer, "printed_constant", None)
        printed = {"name": "printed", "constant": constant}
        settings["confidence"] = {"name": "proven"} if constant is None else printed
    return _write(Path(path), settings, found.found.choice, found.on)


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
        _write(paths[made.label], _common(experiment, made.label), made.choice, on)
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


def _write(path: Path, settings: dict[str, Any], factors: Factors, on: str) -> Path:
    """Write these settings with these factors as an arm, named as its file; `on` says which runs chose them."""
    tree = {"label": path.stem, **settings}
    for group, factor in zip(("bonus", "confidence"), factors, strict=False):
        tree[group] = {**settings.get(group, {}), "scale": factor}
    plain = json.loads(json.dumps(tree, default=lambda number: number.item()))  # not numpy's
    try:
        with path.open("x") as file:
            file.write(f"# Factors chosen on {on}.\n{yaml.safe_dump(plain, sort_keys=False)}")
    except FileExistsError:
        raise InputError(f"save: {path} exists; give another name, or remove it first") from None
    return path


def _named(registry: Registry[Any], part: Any, elsewhere: tuple[str, ...]) -> dict[str, Any]:
    """The settings of a part of the package: its name in conf/ and its parameters."""
    for name in registry:
        if registry[name] is type(part):
            plain = [key for key in arguments(type(part)) if key not in elsewhere]
            given = {key: getattr(part, key) for key in plain}
            return {"name": name, **{key: value for key, value in given.items() if value is not None}}
    raise InputError(f"save: {type(part).__name__} has no name in conf/, so no arm can have it")
