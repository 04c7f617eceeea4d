"""What arms and environments are called, so that no two arms have the same name; what is said of them in words;
and the check that a mean over runs means something."""

from collections.abc import Callable, Iterable
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar

from dpucbvi.planning import uniform_loss
from dpucbvi.plot import as_written, certified
from dpucbvi.privacy.certificate import RELEASE
from experiments.lab.assemble import environment, without_checksum
from experiments.lab.settings import flat
from experiments.lab.store import StoredArm, StoredExperiment

Key = TypeVar("Key")

# As in the papers; an arm without a label is called by the name of its agent.
AGENTS = {
    "dp_ucbvi": "DP-UCBVI",
    "ucbvi_bf": "UCBVI",
    "ucbvi_refined": "UCBVI, refined",
    "ucbvi_ch": "UCBVI-CH",
    "private_ucb_vi": "Private-UCB-VI",
    "private_ucb_po": "Private-UCB-PO",
    "pucb": "PUCB",
    "ldp_obi": "LDP-OBI",
}
ENVIRONMENTS = {
    "riverswim": "RiverSwim",
    "flipping_river": "the flipping river",
    "alternating_river": "the alternating river",
    "drifting_river": "the drifting river",
    "hidden_shortcut": "the hidden shortcut",
    "chain": "the chain",
    "six_arms": "SixArms",
    "grid_world": "a grid world",
    "random": "a random MDP",
    "garnet": "a Garnet MDP",
    "hard_tree": "the lower bound's tree",
}
SHORT_ENVIRONMENTS = {  # in tables
    **ENVIRONMENTS,
    "chain": "chain",
    "random": "random MDP",
    "hard_tree": "hard instance",
}
FACTORS = {"bonus.scale": "bonus", "confidence.scale": "$E$"}


def environment_name(env: dict[str, Any]) -> str:
    """What the title calls an environment of the config."""
    if env["name"] == "gymnasium":
        return str(env["id"])
    if env["name"] == "file":
        return Path(env["path"]).stem
    return ENVIRONMENTS.get(env["name"], env["name"].replace("_", " "))


def names(arms: list[StoredArm]) -> list[tuple[str, str]]:
    """Name and second line of every arm: its label, its ε, and what else differs between arms of one name."""
    named = [certified(AGENTS.get(arm.label, arm.label), arm.certificate) for arm in arms]
    given = [name for name, _ in named]
    for name in dict.fromkeys(given):
        alike = [i for i, other in enumerate(given) if other == name]
        if len(alike) > 1:
            for i, told in zip(alike, _differences([arms[i] for i in alike]), strict=True):
                named[i] = (", ".join([name, *told]), named[i][1])
    return named


def _differences(arms: list[StoredArm]) -> list[list[str]]:
    """For every arm the settings in which they differ: those of the grid if these are enough."""
    configs = [{key: value for key, value in arm.config.items() if key != "seed"} for arm in arms]
    for settings in ([arm.point for arm in arms], list(map(flat, configs))):
        every = dict.fromkeys(key for s in settings for key in s)
        keys = [key for key in every if len({repr(s.get(key)) for s in settings}) > 1]
        values = [tuple(repr(s.get(key)) for key in keys) for s in settings]
        if len(set(values)) == len(arms):
            break
    return [[_told(key, s.get(key)) for key in keys] for s in settings]


def _told(key: str, value: Any) -> str:
    if key == "agent.pooled":
        return "pooled" if value else "per step"
    text = as_written(value) if isinstance(value, int | float) and not isinstance(value, bool) else f"{value}"
    return f"{FACTORS[key]} × {text}" if key in FACTORS else f"{key.rpartition('.')[2]} = {text}"


def check_same_grid(experiment: StoredExperiment) -> None:
    """A mean over runs means something only if the runs differ in nothing but their seed."""
    for arm in experiment.arms:
        settings = [{**run.config, "seed": None} for run in arm.runs]
        assert all(s == settings[0] for s in settings), f"{arm.key}: runs with different settings"
        assert len({run.config["seed"] for run in arm.runs}) == len(arm.runs), f"{arm.key}: a seed twice"


def grouped(arms: Iterable[StoredArm], key: Callable[[StoredArm], Key]) -> dict[Key, list[StoredArm]]:
    """The arms of every key, in their order."""
    found: dict[Key, list[StoredArm]] = {}
    for arm in arms:
        found.setdefault(key(arm), []).append(arm)
    return found


def panels_of(experiment: StoredExperiment) -> dict[str, list[StoredArm]]:
    """The arms by their panel, in the order of the config."""
    return grouped(experiment.arms, lambda arm: arm.panel or "")


def uniform_regret(arm: StoredArm) -> float:
    """The regret that the uniformly random policy has in as many episodes."""
    return arm.K * uniform_loss(environment(without_checksum(arm.config["env"])))


def noise_of(experiment: StoredExperiment) -> str:
    """What every caption ends with: noise simulated from seeds, or that of a release; and its δ."""
    private = [arm for arm in experiment.arms if arm.certificate.model != "none"]
    released = [arm.label for arm in private if arm.certificate.noise == RELEASE]
    said = "seeded simulation" if len(released) < len(private) or not released else "release: exact noise"
    if 0 < len(released) < len(private):
        said += f"; release: {', '.join(dict.fromkeys(released))}"
    deltas = sorted({arm.certificate.delta for arm in private})
    told = ["pure" if delta == 0.0 else f"at δ = {as_written(delta)}" for delta in deltas]
    return f"{said}; ε {' or '.join(told)}" if told else said


def changes_of(experiment: StoredExperiment) -> str:
    """`changed: K=200, runs=2`, cut to a line; nothing for an experiment that is as its file says."""
    if not experiment.changed:
        return ""
    return shorten(f"changed: {', '.join(experiment.changed)}", 120, placeholder=" ...")


def runs_text(experiment: StoredExperiment) -> str:
    """`5 runs`, or `1 run`; `5 or 20 runs` where arms have different numbers of them."""
    numbers = sorted({len(arm.runs) for arm in experiment.arms})
    return f"{' or '.join(map(str, numbers))} run{'s' * (numbers != [1])}"
