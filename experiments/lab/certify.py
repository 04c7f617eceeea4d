"""What the runs of an experiment would certify, without running them."""

import math

from dpucbvi.projection import CvxpyPostprocess
from dpucbvi.protocol import Setup
from experiments.lab.experiment import Arm, Experiment

HEADER = (
    *("arm", "privacy", "δ", "ε (a user added or removed)", "ε (replaced)", "μ (replaced)", "ρ (replaced)"),
    *("E", "Assumption 3.1"),
)


EXACT = ("closed_form", "cvxpy")  # post-processings that are the LP of Eq.4


def certified(experiment: Experiment) -> list[tuple[str, ...]]:
    """A row for every arm: what its released counters certify, and the E that its agent is given."""
    return [HEADER, *(_row(arm) for arm in experiment.arms)]


def _row(arm: Arm) -> tuple[str, ...]:
    certificate, noise = arm.setup.certificate, arm.setup.noise
    if arm.settings.engine.broken is not None:  # it pretends to be what it was made from
        return (arm.key, "none", "-", "∞", "∞", "∞", "∞", "-", "broken on purpose")
    if certificate.model == "none":
        return (arm.key, "none", "-", "∞", "∞", "∞", "∞", f"{noise.E:.4g}", "holds")
    numbers = (
        certificate.add_remove,
        certificate.replace_one,
        certificate.mu("replace_one"),
        certificate.rho("replace_one"),
    )
    delta = f"{certificate.delta:g}"
    return (arm.key, certificate.model, delta, *map(_number, numbers), f"{noise.E:.4g}", _covered(arm.setup))


def _covered(setup: Setup) -> str:
    """Whether Assumption 3.1 is proven with this E: for the counts that the LP makes; not of raw ones."""
    if setup.agent.raw:
        return "-"
    solved = setup.postprocess in EXACT or isinstance(setup.postprocess, CvxpyPostprocess)
    return "proven" if solved and setup.noise.proven and setup.noise.factor >= 1.0 else "not proven"


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.4g}"
