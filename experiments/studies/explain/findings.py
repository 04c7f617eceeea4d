"""What the runs of +exp=explain say: the fit of every hypothesis, and which noise has the printed LDP curve.

A hypothesis about the noise has two curves, JDP where the legend says ε = 1 and ε = 2. Three things are asked.

Shape. With x_ce the logarithm of curve c's regret at the digitised episode e, mean over runs, the distance is

    D = √( mean over c and e of (x_ce - printed x_ce)² ),

so that 0.1 means about 10%. The factors were fitted to the same curves, on other seeds.

Level. Do the means end inside the printed bands? Outside, the hypothesis is ruled out.

Spread. The paper does not say what its bands show. The widest of the usual readings is the mean ± 1.96 s, with
s the standard deviation of its 5 runs. 4s²/σ² is then χ² with 4 degrees of freedom, if regrets are normal with
our runs' σ, and a printed half-width W is too wide for the hypothesis if

    W > 1.96 s' √F(4, n-1; 0.999),

which chance alone brings about once in 1,000 curves; s' is the standard deviation of our n runs. The factor is
5.3 for 20 runs and 14.3 for 5.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.stats import f as F, norm

from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.protocol import Floats
from dpucbvi.stats import three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.shared.arms import grouped
from experiments.studies.shared.printed import final_regrets, printed_bands, printed_curves

PRINTED_RUNS = 5
FALSE_ALARM = 0.001
NEAR = 0.2  # a distance that we call near
STEP, POOLED = "step", "pooled"
NAMES = {
    "ucbvi": "UCBVI, not private",
    "proven": "as proven, Lap(3HL/ε)",
    "no_split": "without the 3, Lap(HL/ε)",
    "no_levels": "without L, Lap(3H/ε)",
    "no_horizon": "without H, Lap(3L/ε)",
    "bare": "without all three, Lap(1/ε)",
    "redrawn": "Lap(1/ε), redrawn in every release",
}
COUNTS = {STEP: "per step", POOLED: "pooled"}


def at_printed(arm: StoredArm) -> Floats:
    """The regret of every run at the digitised episodes, all of which it has: nothing is said beyond its K."""
    assert final_regrets(arm.config), f"{arm.key}: not of the printed figure's size"
    episodes = printed_curves()[str(arm.printed)].episodes
    return np.array([np.interp(episodes, run.trace.episodes, run.trace.regret) for run in arm.runs])


def distance(means: Mapping[str, Floats]) -> float:
    """D of mean regrets at the digitised episodes, by printed curve."""
    off = [np.log(mean) - np.log(printed_curves()[curve].regret) for curve, mean in means.items()]
    return float(np.sqrt(np.mean(np.square(off))))


def distance_of(arms: Mapping[str, StoredArm]) -> float:
    """D of arms by the printed curve that they stand for."""
    return distance({curve: at_printed(arm).mean(axis=0) for curve, arm in arms.items()})


def inside(arm: StoredArm) -> bool:
    """Whether the mean ends in the printed band."""
    return printed_bands()[str(arm.printed)].holds(arm.mean)


def spread(arm: StoredArm) -> float:
    """Half the width of the printed band, in standard deviations of our runs."""
    low, high = printed_bands()[str(arm.printed)]
    return float((high - low) / 2.0 / arm.finals.std(ddof=1))


def widest(runs: int) -> float:
    """The largest half-width of a band, in standard deviations of our runs, that chance still allows."""
    return float(norm.ppf(0.975) * np.sqrt(F.isf(FALSE_ALARM, PRINTED_RUNS - 1, runs - 1)))


class Finding(NamedTuple):
    """One hypothesis, or UCBVI, and its arms by printed curve."""

    hypothesis: str
    arms: dict[str, StoredArm]

    @property
    def distance(self) -> float:
        return distance_of(self.arms)

    @property
    def inside(self) -> bool:
        """Whether every curve ends in its band."""
        return all(map(inside, self.arms.values()))

    @property
    def as_wide(self) -> bool:
        """Whether its runs may be spread as widely as every printed band."""
        return all(spread(arm) <= widest(len(arm.runs)) for arm in self.arms.values())

    @property
    def first(self) -> StoredArm:
        return next(iter(self.arms.values()))

    @property
    def name(self) -> str:
        return ", counts ".join(in_words(self.hypothesis))

    @property
    def factors(self) -> tuple[float, float]:
        return self.first.config["bonus"]["scale"], self.first.config["confidence"]["scale"]

    @property
    def certified(self) -> float:
        """The ε of the curve printed as ε = 1, if a user is added or removed."""
        return self.first.certificate.add_remove


def in_words(hypothesis: str) -> tuple[str, str]:
    """The noise and the counts."""
    counts, _, noise = hypothesis.partition("_")
    return NAMES[noise], COUNTS[counts]


def panels(experiment: StoredExperiment, curves: str) -> list[Finding]:
    """The panels whose arms stand for printed curves that begin so, in the order of the config."""
    found = grouped(
        (arm for arm in experiment.arms if str(arm.printed).startswith(curves)), lambda arm: arm.panel
    )
    return [Finding(str(name), {str(arm.printed): arm for arm in arms}) for name, arms in found.items()]


def findings(experiment: StoredExperiment) -> list[Finding]:
    """Every hypothesis about the noise under JDP."""
    return panels(experiment, "jdp")


def best(found: list[Finding]) -> Finding:
    return min(found, key=lambda one: one.distance)


def summary(experiment: StoredExperiment) -> dict[str, str]:
    """How many come near and end in the bands, the nearest, who is as widely spread, and UCBVI's distance."""
    found = findings(experiment)
    far = [one.distance for one in found if one.distance >= NEAR]
    both = [one.name for one in found if one.inside and one.as_wide]
    return {
        "near": f"{len(found) - len(far)} of {len(found)}",
        "off": f"{np.exp(min(far)):.1f}" if far else "-",
        "nearest": best(found).name,
        "distance": f"{best(found).distance:.0%}",
        "epsilon": epsilon_text(best(found).certified),
        "inside": f"{sum(one.inside for one in found)} of {len(found)}",
        "wide": "; ".join(both) or "none of them",
        "ucbvi": " or ".join(dict.fromkeys(f"{one.distance:.0%}" for one in panels(experiment, "non_private"))),
    }


def epsilon_text(value: float) -> str:
    return "nothing" if math.isinf(value) else three_digits(rounded_up(value, 3))


def local_arms(experiment: StoredExperiment) -> list[StoredArm]:
    """The LDP curves: counts per step first, then the most noise."""
    arms = [arm for arm in experiment.arms if arm.printed == "ldp_eps2"]
    return sorted(arms, key=lambda arm: (arm.config["agent"]["pooled"], -arm.runs[0].trace.noise_scale))


def local_distance(arm: StoredArm) -> float:
    return distance_of({"ldp_eps2": arm})


def best_local(experiment: StoredExperiment) -> StoredArm | None:
    """The LDP arm that is nearest to the printed curve, of those whose noise is of a user's own."""
    arms = [arm for arm in local_arms(experiment) if arm.config["privatizer"]["name"] == "local"]
    return min(arms, key=local_distance, default=None)


def nearest_arms(experiment: StoredExperiment, found: Finding) -> dict[str, StoredArm]:
    """UCBVI, a hypothesis and the nearest LDP arm, by the curves that they stand for."""
    local, free = best_local(experiment), panels(experiment, "non_private")
    return {**(best(free).arms if free else {}), **found.arms, **({"ldp_eps2": local} if local else {})}
