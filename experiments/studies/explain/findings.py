"""What the runs of +exp=explain say: the fit of every hypothesis, and which noise has the printed LDP curve.

How far the curves of a hypothesis are from the printed ones, and how far chance alone would put them.

A hypothesis about the noise has three curves: without privacy, and under JDP where the legend says ε = 1 and
ε = 2. With x_ce the logarithm of curve c's regret at the digitised episode e, mean over runs, the distance is

    D = √( mean over c and e of (x_ce - printed x_ce)² ),

so that 0.1 means about 10%. The printed curves are means of 5 runs, read off a bitmap to ±100. If they were
made by the hypothesis, D would be as large as that of 5 of our runs, drawn at random for each curve and read
off as badly, to a mean of as many as we have, drawn anew too. The share of such figures that are at least as
far off as the printed one is p: a small p rules the hypothesis out, a large one only leaves it possible. The
factors were fitted to the same curves (on other seeds), so p is if anything too large.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.protocol import Floats
from dpucbvi.stats import holm, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.shared.printed import DIGITISATION, final_regrets, printed_curves

PRINTED_RUNS = 5
FIGURES = 5000  # drawn by chance
STEP, POOLED = "step", "pooled"
Curves = Mapping[str, Floats]  # by printed curve: regret [run, digitised episode]


class Fit(NamedTuple):
    """The distance of a hypothesis, and what chance makes of it."""

    distance: float
    by_chance: Floats  # distances of figures drawn by chance
    p: float


def at_printed(arm: StoredArm) -> Floats:
    """The regret of every run at the digitised episodes, all of which it has: nothing is said beyond its K."""
    assert final_regrets(arm.config), f"{arm.key}: not of the printed figure's size"
    episodes = printed_curves()[str(arm.printed)].episodes
    return np.array([np.interp(episodes, run.trace.episodes, run.trace.regret) for run in arm.runs])


def hypotheses(experiment: StoredExperiment) -> list[str]:
    """The panels that are hypotheses about JDP noise, in the order of their arms."""
    panels = [str(arm.panel) for arm in experiment.arms if str(arm.printed).startswith("jdp")]
    return list(dict.fromkeys(panels))


def counting(hypothesis: str) -> str:
    """`step` or `pooled`."""
    return hypothesis.partition("_")[0]


def distance(means: Curves) -> float:
    """D of mean regrets at the digitised episodes."""
    off = [np.log(mean) - np.log(printed_curves()[curve].regret) for curve, mean in means.items()]
    return float(np.sqrt(np.mean(np.square(off))))


def fit(curves: Curves, seed: int = 0) -> Fit:
    """D of the printed figure from our means, and of figures drawn by chance."""
    means = {curve: regret.mean(axis=0) for curve, regret in curves.items()}
    found, rng = distance(means), np.random.default_rng(seed)
    off = [_by_chance(regret, rng) for regret in curves.values()]
    by_chance = np.sqrt(np.mean(np.square(off), axis=(0, 2)))
    return Fit(found, by_chance, float((1 + (by_chance >= found).sum()) / (1 + FIGURES)))


def _by_chance(regret: Floats, rng: np.random.Generator) -> Floats:
    """log of a curve printed by chance less the log of a mean of ours by chance, [figure, episode]."""
    n = len(regret)
    printed, ours = (regret[rng.integers(n, size=(FIGURES, runs))].mean(axis=1) for runs in (PRINTED_RUNS, n))
    read = printed + rng.uniform(-DIGITISATION, DIGITISATION, size=printed.shape)
    return np.asarray(np.log(np.maximum(read, 1.0)) - np.log(ours))


LEVEL = 0.05
NEAR = 0.2  # a distance that we call near
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
    def name(self) -> str:
        return ", counts ".join(in_words(self.hypothesis))

    @property
    def verdict(self) -> str:
        return RULED_OUT if self.p < LEVEL else POSSIBLE

    @property
    def factors(self) -> tuple[float, float]:
        config = self.arms["jdp_eps1"].config
        return config["bonus"]["scale"], config["confidence"]["scale"]

    @property
    def certified(self) -> tuple[float, float]:
        """The ε of the curve printed as ε = 1, if a user is added or removed, and if she is replaced."""
        certificate = self.arms["jdp_eps1"].certificate
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


def summary(found: list[Finding]) -> dict[str, str]:
    """How many come near, by which factor the others are off, the nearest, and what chance explains."""
    far = [one.fit.distance for one in found if one.fit.distance >= NEAR]
    possible = "; ".join(one.name for one in found if one.verdict == POSSIBLE)
    return {
        "near": f"{len(found) - len(far)} of {len(found)}",
        "off": f"{np.exp(min(far)):.1f}" if far else "-",
        "nearest": best(found).name,
        "epsilon": epsilon_text(best(found).certified[0]),
        "possible": possible or "none of them",
    }


def epsilon_text(value: float) -> str:
    return "nothing" if math.isinf(value) else three_digits(rounded_up(value, 3))


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
    arms = [arm for arm in local_arms(experiment) if arm.config["privatizer"]["name"] == "local"]
    return min(arms, key=local_distance, default=None)
