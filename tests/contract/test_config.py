"""The config folder: every option composes, every key is read, every experiment runs."""

import re
from dataclasses import fields, is_dataclass
from inspect import Parameter
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pytest
import yaml
from omegaconf import OmegaConf

from dpucbvi.agents import AGENTS
from dpucbvi.environments import ENVIRONMENTS
from dpucbvi.errors import InputError
from dpucbvi.privatizers import PRIVATIZERS
from dpucbvi.projection import POSTPROCESSES
from experiments import studies
from experiments.lab.compose import config_of
from experiments.lab.experiment import Arm, Experiment, experiment_from
from experiments.lab.runner import run_experiment
from experiments.lab.settings import RunSettings, arguments, canonical, run_settings, to_dict
from experiments.lab.store import Store, identity, run_id
from experiments.studies.shared.arms import noise_of
from experiments.studies.shared.printed import printed_curves

ROOT = Path(__file__).resolve().parents[2]
CONF = ROOT / "conf"
GROUPS = ["env", "agent", "privatizer", "postprocess", "confidence", "bonus", "engine"]
OPTIONS = [(group, path.stem) for group in GROUPS for path in sorted((CONF / group).glob("*.yaml"))]
EXPERIMENTS = sorted(path.stem for path in (CONF / "exp").glob("*.yaml"))

# What an option needs beside it to be a run.
NEEDS = {
    "ucbvi_ch": ["privatizer=non_private", "postprocess=none"],
    "ucbvi_refined": ["privatizer=non_private", "postprocess=none"],
    "ucbvi_bf": ["privatizer=non_private", "postprocess=none"],
    "private_ucb_vi": ["postprocess=none"],
    "private_ucb_po": ["postprocess=none"],
    "pucb": ["postprocess=none"],
    "ldp_obi": ["postprocess=none", "privatizer=local"],
    "none": ["agent=private_ucb_vi"],
    "cvxpy": ["engine=reference"],
    "file": ["env.path=FILE"],
    "gymnasium": ["env.id=FrozenLake-v1"],
}


def composed(*overrides: str):
    return config_of(overrides)


def made(config) -> Experiment:
    return experiment_from(config, ROOT, studies.names(), printed_curves())


def experiment(*overrides: str) -> Experiment:
    return made(composed(*overrides))


def name_of(arm: Arm, seed: int = 0) -> str:
    return run_id(identity(arm.settings, arm.setup.mdp, seed))


@pytest.fixture
def mdp_file(tmp_path):
    path = tmp_path / "mdp.npz"
    np.savez(path, P=np.ones((2, 1, 1, 1)), r=np.ones((2, 1, 1)), initial=np.ones(1))
    return path


def leaves(tree, at=()):
    if not isinstance(tree, dict):
        return [at]
    return [leaf for key, value in tree.items() for leaf in leaves(value, (*at, key))]


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_every_key_of_every_option_is_read(group, option, mdp_file):
    """A key that the run does not read is dropped from its canonical settings: it must not be offered.

    A null stands for the default of a parameter that there is.
    """
    needs = [need.replace("FILE", str(mdp_file)) for need in NEEDS.get(option, [])]
    config = composed(f"{group}={option}", *needs)
    (arm,) = made(config).arms
    read = to_dict(arm.settings)[group]
    for key, value in OmegaConf.to_container(config[group]).items():
        if value is None and group in registered():
            value = arguments(registered()[group][option])[key].default
        assert read.get(key) == value, f"{group}/{option}.yaml: {key} is not read"


def registered() -> dict[str, dict[str, object]]:
    """What a name of a group stands for, by group."""
    registries = {"env": ENVIRONMENTS, "agent": AGENTS, "privatizer": PRIVATIZERS}
    return {group: {name: registry[name] for name in registry} for group, registry in registries.items()}


def test_options_are_the_names_the_lab_knows():
    known = {
        **{group: set(names) for group, names in registered().items()},
        "postprocess": set(POSTPROCESSES),
        "confidence": {"proven", "printed"},
        "engine": {"reference", "fast"},
    }
    known["env"] |= {"riverswim_strehl"}
    for group, names in known.items():
        offered = {option for g, option in OPTIONS if g == group}
        assert offered == names or (group == "env" and offered < names)  # its signature is its config


def test_every_setting_of_a_run_can_be_set():
    """The union over a group's options has every field of its dataclass, or parameter of an agent.

    Environments and privatizers follow below, with their defaults.
    """
    top = composed()
    for name, hint in get_type_hints(RunSettings).items():
        assert name in top
        options = [composed(f"{name}={option}")[name] for group, option in OPTIONS if group == name]
        offered = {str(key) for option in options for key in option}
        if is_dataclass(hint):
            assert {f.name for f in fields(hint)} == (offered or set(top[name]))  # or in config.yaml
        if name == "agent":
            taken = {key for agent in registered()[name].values() for key in arguments(agent)}
            assert {"name", *taken} - {"bonus_scale", "bonus_without"} == offered


# What differs: it is the point of the option, or a first run needs it.
OWN = {"riverswim_strehl": "variant", "file": "path", "gymnasium": "H"}


@pytest.mark.parametrize("option", [option for group, option in OPTIONS if group == "env"])
def test_an_environment_has_the_defaults_of_its_function(option):
    tree = OmegaConf.to_container(composed(f"env={option}").env)
    accepted = arguments(registered()["env"][tree.pop("name")])
    defaults = {
        key: "???" if argument.default is Parameter.empty else argument.default  # ???: the user must say it
        for key, argument in accepted.items()
    }
    if option in OWN:
        assert tree.pop(OWN[option]) != defaults.pop(OWN[option])
    assert tree == defaults


PRIVATIZER_NAMES = [option for group, option in OPTIONS if group == "privatizer"]
ELSEWHERE = {"confidence_scale", "printed_constant"}  # in a group of their own


def own_choices(name: str) -> dict[str, object]:
    """The parameters of a privatizer with their defaults; epsilon has none."""
    accepted = arguments(registered()["privatizer"][name])
    return {key: argument.default for key, argument in accepted.items() if key not in {*ELSEWHERE, "epsilon"}}


@pytest.mark.parametrize("name", PRIVATIZER_NAMES)
def test_a_privatizers_file_lists_its_parameters_and_says_its_own_choices(name):
    """A null is the privatizer's own choice; the comment beside it begins with what that is."""
    own = own_choices(name)
    tree = OmegaConf.to_container(OmegaConf.load(CONF / "privatizer" / f"{name}.yaml"))
    epsilon = {} if name == "non_private" else {"epsilon": 1.0}
    assert tree == {"name": name, **epsilon, **dict.fromkeys(own)}
    said = {}
    for line in (CONF / "privatizer" / f"{name}.yaml").read_text().splitlines():
        if found := re.fullmatch(r"(\w+): null +# ([^ :;,]+).*", line):
            said[found[1]] = yaml.safe_load(found[2].replace("none", "null").replace("1e-", "1.0e-"))
    assert said == own


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_file_holds_only_differences(name):
    tree = OmegaConf.to_container(OmegaConf.load(CONF / "exp" / f"{name}.yaml"))
    tree.pop("defaults", None)
    tree.pop("grid", None)  # its keys are settings with dots; the base has none
    arms, base = tree.pop("arms", {}), composed()
    for leaf in map(".".join, leaves(tree)):
        assert OmegaConf.select(base, leaf) != OmegaConf.select(OmegaConf.create(tree), leaf)
    assert all(arms.values())


def tiny(name: str, *overrides: str) -> Experiment:
    """Of every grid the first and the last value of each setting, K as at the top, and few trials."""
    config = composed(f"+exp={name}", "K=12", "runs=1", *overrides)
    for tree in (config, *config.arms.values()):
        if "K" in tree:
            tree.K = config.K
        if "trials" in tree.get("attack", {}):
            tree.attack.trials = 200
        for setting, values in (tree.get("grid") or {}).items():
            tree.grid[setting] = [config.K] if setting == "K" else values and [values[0], values[-1]]
    return made(config)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_one(name):
    """Its arms fit together. What they do is in digests.csv, what is drawn of it in tests/unit/studies."""
    assert len(tiny(name).arms) > 1


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "riverswim" else pytest.mark.slow) for name in EXPERIMENTS]
)
def test_every_experiment_runs_in_tiny_mode(name, tmp_path):
    """On the reference engine; an audit is of the compiled one, which digests.csv has of all others."""
    engine = "fast" if name == "audit" else "reference"
    made = tiny(name, f"engine={engine}", f"runtime.results={tmp_path}", "runtime.workers=1")
    ids = {name_of(arm, seed) for arm in made.arms for seed in made.seeds}  # equal arms share
    assert run_experiment(made).computed == len(ids)
    stored = Store(tmp_path).load_experiment(made.name)
    assert stored.study == made.study
    assert all(len(arm.runs) == 1 and arm.runs[0].trace.episodes[-1] == 12 for arm in stored.arms)
    assert all(path.stat().st_size > 10_000 for path in studies.draw(stored, made.figures))


# --- privatizer.noise=exact, from the command line to the stored run and its figure --------------------------

SETTINGS = ("engine=reference", "K=20", "runs=1", "env.S=3", "env.H=3", "runtime.workers=1")


def test_a_release_says_so_in_config_certificate_and_caption(tmp_path):
    """Beside a simulation that differs in nothing else."""
    for name, noise in (("released", "exact"), ("simulated", "simulation")):
        overrides = (*SETTINGS, f"runtime.results={tmp_path}", f"name={name}", f"privatizer.noise={noise}")
        run_experiment(experiment(*overrides))
    released, simulated = (Store(tmp_path).load_experiment(name) for name in ("released", "simulated"))
    one, other = released.arms[0].runs[0], simulated.arms[0].runs[0]
    assert [run.config["privatizer"]["noise"] for run in (one, other)] == ["exact", "simulation"]
    assert (one.certificate.noise, other.certificate.noise) == ("release", "simulation")
    assert noise_of(released) == "release: exact noise; ε pure"
    assert noise_of(simulated) == "seeded simulation; ε pure"
    both = released._replace(arms=[*released.arms, *simulated.arms])
    assert noise_of(both) == "seeded simulation; release: dp_ucbvi; ε pure"


def test_exact_noise_is_never_dropped_silently():
    """A setting of another privatizer is dropped; this one is a promise."""
    name = "experiments.studies.explain.earlier_code:Redrawn"
    settings = run_settings({"privatizer": {"name": name, "epsilon": 1.0, "noise": "exact"}})
    with pytest.raises(InputError, match=r"^privatizer\.noise: .* has no exact noise; it takes simulation$"):
        canonical(settings)
