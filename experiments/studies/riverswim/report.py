"""riverswim.md: what is said of an arm with many runs, of two that share their seeds, and of Section 7."""

import math
from typing import NamedTuple

import numpy as np

from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.stats import clopper_pearson, holm, paired, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored
from experiments.studies.riverswim.verdicts import SENTENCES, Curves, Regret, contrasts, judge
from experiments.studies.shared.arms import as_written
from experiments.studies.shared.printed import final_regrets, printed_bands
from experiments.studies.shared.tables import as_regret, markdown, with_bounds

LAST = 0.9  # a run is settled if what follows this part of its episodes adds less regret than √k would
SQRT_TAIL = 1.0 - np.sqrt(LAST)
CURVES = ("non_private", "jdp_eps2", "jdp_eps1", "ldp_eps2")
PANELS = {
    "proven": "Section 5's noise",
    "others": "other privatizers",
    "fitted": "fitted, shape only",
    "literal": "printed constants",
}
JUDGED = ("proven", "others", "fitted")
FITTED = (PANELS["fitted"],)  # its factors and noise were fitted to the printed curves
BASELINE = "Private-UCB-VI"
NUMBERS = (
    *("arm", "certified", "bonus ×", "E ×", "reported", "mean (95%)", "median", "largest", "not settled"),
    "reproduces",
)
PAIRS = ("private arm", "against", "cost: mean difference (95%)", "P(private run better)", "p")


class Tail(NamedTuple):
    """Runs that have not settled, of how many, with the 95% interval of their share (Clopper and Pearson)."""

    unsettled: int
    runs: int
    low: float
    high: float


def tail(arm: StoredArm) -> Tail:
    k, n = sum(not settled(run.trace.episodes, run.trace.regret) for run in arm.runs), len(arm.runs)
    return Tail(k, n, *clopper_pearson(k, n))


def settled(episodes: np.ndarray, regret: np.ndarray) -> bool:
    """Whether the last tenth of the episodes adds less than a regret that grows like √k would add."""
    before = np.interp(LAST * episodes[-1], episodes, regret)
    return bool(regret[-1] - before < SQRT_TAIL * regret[-1])


def arm_of(experiment: StoredExperiment, panel: str, curve: str) -> StoredArm | None:
    """The arm of a panel that stands for a printed curve; not the baseline's."""
    arms = [arm for arm in experiment.arms if (arm.panel, arm.printed) == (panel, curve)]
    arms = [arm for arm in arms if arm.label != BASELINE]
    assert len(arms) <= 1, f"{panel}: {curve} stands for {len(arms)} arms"
    return arms[0] if arms else None


def columns(experiment: StoredExperiment) -> dict[str, Curves]:
    """The settings that can be judged: those with all four curves, of more than one run each."""
    found: dict[str, Curves] = {}
    for panel in JUDGED:
        arms = {curve: arm_of(experiment, panel, curve) for curve in CURVES}
        curves = {
            curve: Regret(*arm.half_and_full)
            for curve, arm in arms.items()
            if arm is not None and len(arm.runs) > 1
        }
        if len(curves) == len(CURVES):
            found[PANELS[panel]] = curves
    return found


def table(experiment: StoredExperiment) -> Rows:
    return [NUMBERS, *(_row(arm) for arm in experiment.arms)]


def parts(experiment: StoredExperiment, _: Stored) -> dict[str, object]:
    judged = columns(experiment)
    found = judge(judged, FITTED)
    rows = [(sentence, *(verdicts[sentence] for verdicts in found.values())) for sentence in SENTENCES]
    return {
        "pairs": markdown([PAIRS, *_pairs(experiment)]),
        "verdicts": markdown([("the paper's sentence", *found), *rows]),
        "contrasts": sum(map(len, contrasts(judged, FITTED).values())),
    }


def _pairs(experiment: StoredExperiment) -> list[list[str]]:
    """Every private arm of the settings that are judged with the non-private one of its setting."""
    pairs = [
        (arm, reference)
        for panel in JUDGED
        if (reference := arm_of(experiment, panel, "non_private")) is not None
        for arm in experiment.arms
        if arm.panel == panel and arm.printed != "non_private"
    ]
    found = [paired(arm.finals, reference.finals) for arm, reference in pairs]
    adjusted = holm(np.array([one.p for one in found]))
    return [
        [arm.key, reference.key, with_bounds(*one[:3]), f"{one.improvement:.2f}", f"{p:.2g}"]
        for (arm, reference), one, p in zip(pairs, found, adjusted, strict=True)
    ]


def _row(arm: StoredArm) -> tuple[str, ...]:
    found, config, printed = tail(arm), arm.config, final_regrets(arm.config).get(str(arm.printed))
    return (
        arm.key,
        certified(arm),
        as_written(config["bonus"]["scale"]),
        as_written(config["confidence"]["scale"]) if arm.certificate.model != "none" else "-",
        "-" if printed is None else as_regret(printed),
        with_bounds(*arm.interval),
        as_regret(arm.median),
        as_regret(arm.largest),
        f"{found.unsettled} of {found.runs} ({found.low:.0%} to {found.high:.0%})",
        reproduces(arm),
    )


def reproduces(arm: StoredArm) -> str:
    """Whether the interval of the mean lies in the printed band; `-` at another size, and for the baseline."""
    if not final_regrets(arm.config) or arm.label == BASELINE:
        return "-"
    band, (mean, *ends) = printed_bands()[str(arm.printed)], arm.interval
    low, high = (mean, mean) if math.isnan(ends[0]) else ends
    if low > band.high or high < band.low:
        found = "no, above" if low > band.high else "no, below"
    else:
        found = "yes" if band.holds(low) and band.holds(high) else "cannot be told"
    return f"{found} (fitted)" if arm.panel == "fitted" else found


def certified(arm: StoredArm) -> str:
    """`JDP ε = 1 (replaced)`; the paper's privatizers certify for a user who is added or removed."""
    certificate = arm.certificate
    if certificate.model == "none":
        return "not private"
    delta = f", δ = {certificate.delta:g}" if certificate.delta else ""
    if arm.config["privatizer"].get("sensitivity") == "paper":
        epsilon, relation = certificate.add_remove, "added or removed"
    else:
        epsilon, relation = certificate.replace_one, "replaced"
    return f"{certificate.model} ε = {three_digits(rounded_up(epsilon, 3))}{delta} ({relation})"
