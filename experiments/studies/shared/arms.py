"""What figures and tables say of arms in words, and the check that a mean over runs means something."""

from textwrap import shorten

from dpucbvi.planning import uniform_loss
from dpucbvi.privacy.certificate import RELEASE
from dpucbvi.stats import three_digits
from experiments.lab.assemble import environment, without_checksum
from experiments.lab.store import StoredArm, StoredExperiment


def check_same_grid(experiment: StoredExperiment) -> None:
    """A mean over runs means something only if the runs differ in nothing but their seed."""
    for arm in experiment.arms:
        settings = [{**run.config, "seed": None} for run in arm.runs]
        assert all(s == settings[0] for s in settings), f"{arm.key}: runs with different settings"
        assert len({run.config["seed"] for run in arm.runs}) == len(arm.runs), f"{arm.key}: a seed twice"


def panels_of(experiment: StoredExperiment) -> dict[str, list[StoredArm]]:
    """The arms by their panel, in the order of the config."""
    found: dict[str, list[StoredArm]] = {}
    for arm in experiment.arms:
        found.setdefault(arm.panel or "", []).append(arm)
    return found


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
    return f"{said}{_deltas(private)}"


def _deltas(private: list[StoredArm]) -> str:
    """`; ε pure`; with Gaussian noise among them, at which δ."""
    deltas = sorted({arm.certificate.delta for arm in private})
    told = ["pure" if delta == 0.0 else f"at δ = {delta:g}" for delta in deltas]
    return f"; ε {' or '.join(told)}" if told else ""


def changes_of(experiment: StoredExperiment) -> str:
    """`changed: K=200, runs=2`, cut to a line; nothing for an experiment that is as its file says."""
    if not experiment.changed:
        return ""
    return shorten(f"changed: {', '.join(experiment.changed)}", 120, placeholder=" ...")


def laplace_of(arm: StoredArm) -> str:
    """`Lap(0.075)`: the noise of a node or, under LDP, of a user."""
    return f"Lap({three_digits(arm.runs[0].trace.noise_scale)})"


def runs_text(experiment: StoredExperiment) -> str:
    """`5 runs`, or `1 run`; `5 or 20 runs` where arms have different numbers of them."""
    numbers = sorted({len(arm.runs) for arm in experiment.arms})
    return f"{' or '.join(map(str, numbers))} run{'s' * (numbers != [1])}"
