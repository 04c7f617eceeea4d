"""What figures and tables ask of a stored arm: its regret, its size, what it certifies.

The runs of an arm differ in nothing but their seed (`check_same_grid`), so the first run answers for the
settings of all of them.
"""

from textwrap import shorten
from typing import Any

import numpy as np

from dpucbvi.planning import uniform_loss
from dpucbvi.privacy.certificate import RELEASE, Certificate
from dpucbvi.protocol import Floats
from dpucbvi.stats import summarise, three_digits
from experiments.lab.assemble import environment, without_checksum
from experiments.lab.store import StoredArm, StoredExperiment


def check_same_grid(experiment: StoredExperiment) -> None:
    """A mean over runs means something only if the runs differ in nothing but their seed."""
    for arm in experiment.arms:
        settings = [{**run.config, "seed": None} for run in arm.runs]
        assert all(s == settings[0] for s in settings), f"{arm.key}: runs with different settings"
        assert len({run.config["seed"] for run in arm.runs}) == len(arm.runs), f"{arm.key}: a seed twice"


def config_of(arm: StoredArm) -> dict[str, Any]:
    return arm.runs[0].config


def uniform_regret(arm: StoredArm) -> float:
    """The regret that the uniformly random policy has in as many episodes."""
    return episodes_of(arm) * uniform_loss(environment(without_checksum(config_of(arm)["env"])))


def certificate_of(arm: StoredArm) -> Certificate:
    return arm.runs[0].certificate


def noise_of(experiment: StoredExperiment) -> str:
    """What every figure says in its corner: noise simulated from seeds, or that of a release; and its δ."""
    private = [arm for arm in experiment.arms if certificate_of(arm).model != "none"]
    released = [arm.label for arm in private if certificate_of(arm).noise == RELEASE]
    said = "seeded simulation" if len(released) < len(private) or not released else "release: exact noise"
    if 0 < len(released) < len(private):
        said += f"; release: {', '.join(dict.fromkeys(released))}"
    return f"{said}{_deltas(private)}"


def _deltas(private: list[StoredArm]) -> str:
    """`, pure ε`; with Gaussian noise among them, at which δ."""
    deltas = sorted({certificate_of(arm).delta for arm in private})
    told = ["pure" if delta == 0.0 else f"at δ = {delta:g}" for delta in deltas]
    return f"; ε {' or '.join(told)}" if told else ""


def changes_of(experiment: StoredExperiment) -> str:
    """`changed: K=200, runs=2`, cut to a line; nothing for an experiment that is as its file says."""
    return shorten(f"changed: {', '.join(experiment.changed)}", 120, placeholder=" ...") * bool(
        experiment.changed
    )


def episodes_of(arm: StoredArm) -> int:
    """K, the number of episodes that the runs were set up for."""
    return int(config_of(arm)["K"])


def laplace_of(arm: StoredArm) -> str:
    """`Lap(0.075)`: the noise of a node or, under LDP, of a user."""
    return f"Lap({three_digits(arm.runs[0].trace.noise_scale)})"


def beside_bare(arm: StoredArm) -> str:
    """`Lap(0.075), where 1/ε is 0.5`: its noise beside that of the printed ε."""
    return f"{laplace_of(arm)}, where 1/ε is {1.0 / float(str(arm.printed)[-1]):g}"


def levers_of(arms: list[StoredArm]) -> str:
    """In what these runs change the algorithm besides its noise: nothing, if they have the paper's."""
    configs = [config_of(arm) for arm in arms]
    zeros = sorted({config.get("postprocess", {}).get("zero", 0.0) for config in configs} - {0.0})
    tuned = [config["privatizer"].get("families") == "tuned" for config in configs]
    said = ["Q at most H-h+1 (D31)"] * any(config["agent"].get("cap") == "steps_left" for config in configs)
    said += [f"cells below {zero:g} standard deviations set to 0 (D30)" for zero in zeros]
    said += ["tuned families, N(s,a) as a sum (D29)"] * any(tuned)
    return ", ".join(said)


def sizes_of(arm: StoredArm) -> tuple[int, int, int]:
    """H, S and A."""
    H, S, A = arm.runs[0].trace.N_sa.shape
    return H, S, A


def regret_of(arm: StoredArm) -> Floats:
    """The regret along the way, [run, recorded episode]."""
    return np.array([run.trace.regret for run in arm.runs])


def finals_of(arm: StoredArm) -> Floats:
    """The regret after the last episode, [run]."""
    return np.array([run.trace.regret[-1] for run in arm.runs])


def half_and_full(arm: StoredArm) -> tuple[Floats, Floats]:
    """The regret of every run at half its episodes and at the end."""
    episodes = arm.runs[0].trace.episodes
    half = [np.interp(episodes[-1] / 2, episodes, run.trace.regret) for run in arm.runs]
    return np.array(half), finals_of(arm)


def mean_of(arm: StoredArm) -> float:
    """The mean regret after the last episode."""
    return float(finals_of(arm).mean())


def mean_and_half_width_of(arm: StoredArm) -> tuple[float, float]:
    """The mean regret after the last episode and half the width of its 95% interval (nan from a single run)."""
    mean, half_width = summarise(finals_of(arm))
    return float(mean), float(half_width)


def runs_text(experiment: StoredExperiment) -> str:
    """`5 runs`, or `1 run`; `5 or 20 runs` where arms have different numbers of them."""
    numbers = sorted({len(arm.runs) for arm in experiment.arms})
    return f"{' or '.join(map(str, numbers))} run{'s' * (numbers != [1])}"
