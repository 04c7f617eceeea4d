"""What the runs of +exp=explain say: the fit of every hypothesis, and which noise has the printed LDP curve."""

from typing import NamedTuple

import numpy as np

from dpucbvi.stats import holm
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.explain.distance import Fit, at_printed, distance, fit, hypotheses
from experiments.studies.shared.arms import certificate_of, config_of

LEVEL = 0.05
RULED_OUT, POSSIBLE = "ruled out", "possible"
NAMES = {
    "proven": "as proven, Lap(3HL/ε)",
    "no_split": "without the 3, Lap(HL/ε)",
    "no_levels": "without L, Lap(3H/ε)",
    "no_horizon": "without H, Lap(3L/ε)",
    "bare": "without all three, Lap(1/ε)",
    "redrawn": "Lap(1/ε), redrawn in every release",
}
COUNTS = {"step": "per step", "pooled": "pooled"}


class Finding(NamedTuple):
    """One hypothesis: its arms, its fit, and p after Holm's correction over all of them."""

    hypothesis: str
    arms: dict[str, StoredArm]  # by printed curve
    fit: Fit
    p: float

    @property
    def verdict(self) -> str:
        return RULED_OUT if self.p < LEVEL else POSSIBLE

    @property
    def factors(self) -> tuple[float, float]:
        config = config_of(self.arms["jdp_eps1"])
        return config["bonus"]["scale"], config["confidence"]["scale"]

    @property
    def certified(self) -> tuple[float, float]:
        """The ε of the curve printed as ε = 1, if a user is added or removed, and if she is replaced."""
        certificate = certificate_of(self.arms["jdp_eps1"])
        return certificate.add_remove, certificate.replace_one


def in_words(hypothesis: str) -> tuple[str, str]:
    """The noise and the counts."""
    counts, _, noise = hypothesis.partition("_")
    return NAMES[noise], COUNTS[counts]


def findings(experiment: StoredExperiment) -> list[Finding]:
    """Every hypothesis, in the order of the config."""
    panels = {
        name: {str(arm.printed): arm for arm in experiment.arms if arm.panel == name}
        for name in hypotheses(experiment)
    }
    fits = {name: fit({curve: at_printed(arm) for curve, arm in arms.items()}) for name, arms in panels.items()}
    adjusted = holm(np.array([found.p for found in fits.values()]))
    return [
        Finding(name, arms, fits[name], float(p))
        for (name, arms), p in zip(panels.items(), adjusted, strict=True)
    ]


def best(found: list[Finding]) -> Finding:
    return min(found, key=lambda finding: finding.fit.distance)


def local_arms(experiment: StoredExperiment) -> list[StoredArm]:
    """The LDP curves with the factors of the best JDP hypothesis, the most noise first."""
    arms = [arm for arm in experiment.arms if arm.panel == "ldp"]
    return sorted(arms, key=lambda arm: -noise_of_user(arm))


def noise_of_user(arm: StoredArm) -> float:
    """b of the Lap(b) that a user adds."""
    return arm.runs[0].trace.noise_scale


def local_distance(arm: StoredArm) -> float:
    return distance({"ldp_eps2": at_printed(arm).mean(axis=0)})


def best_local(experiment: StoredExperiment) -> StoredArm | None:
    """The LDP arm that is nearest to the printed curve, of those whose noise is of a user's own."""
    arms = [arm for arm in local_arms(experiment) if config_of(arm)["privatizer"]["name"] == "local"]
    return min(arms, key=local_distance, default=None)
