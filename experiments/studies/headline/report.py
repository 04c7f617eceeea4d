"""headline.md: what is said of an arm with many runs, and of two that share their seeds."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.stats import (
    Bootstrap,
    bootstrap,
    clopper_pearson,
    holm,
    interquartile_mean,
    paired,
    skewed_bootstrap,
    three_digits,
)
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored
from experiments.studies.headline.verdicts import SENTENCES, Curves, Regret, judge
from experiments.studies.shared.arms import runs_text
from experiments.studies.shared.tables import as_regret, markdown, write_page

LAST = 0.9  # a run is settled if what follows this part of its episodes adds less regret than √k would
SQRT_TAIL = 1.0 - np.sqrt(LAST)
BASELINES = {"against UCBVI": "UCBVI", "against itself": "DP-UCBVI, not private"}
CERTIFIED = "certified"
PANELS = ("matched", "pooled", "explained", CERTIFIED)
CURVES = ("non_private", "jdp_eps2", "jdp_eps1", "ldp_eps2")


class Tail(NamedTuple):
    """How many runs never settle, of how many, with the 95% interval of their share (Clopper and Pearson)."""

    unsettled: int
    runs: int
    low: float
    high: float


class Numbers(NamedTuple):
    """The regret of an arm after its last episode."""

    mean: Bootstrap
    median: float
    middle: Bootstrap  # the interquartile mean
    largest: float
    tail: Tail


def numbers(arm: StoredArm) -> Numbers:
    finals = arm.finals
    middle = bootstrap(finals[:, None], statistic=interquartile_mean)
    return Numbers(
        skewed_bootstrap(finals),
        float(np.median(finals)),
        Bootstrap(*(part[0] for part in middle)),
        float(finals.max()),
        tail(arm),
    )


def tail(arm: StoredArm) -> Tail:
    k, n = sum(not settled(run.trace.episodes, run.trace.regret) for run in arm.runs), len(arm.runs)
    return Tail(k, n, *clopper_pearson(k, n))


def settled(episodes: np.ndarray, regret: np.ndarray) -> bool:
    """Whether the last tenth of the episodes adds less than a regret that grows like √k would add."""
    before = np.interp(LAST * episodes[-1], episodes, regret)
    return bool(regret[-1] - before < SQRT_TAIL * regret[-1])


def arm_of(experiment: StoredExperiment, panel: str, curve: str, label: str | None = None) -> StoredArm | None:
    """The arm of a panel that stands for a printed curve; `label` tells two non-private ones apart."""
    arms = [arm for arm in experiment.arms if (arm.panel, arm.printed) == (panel, curve)]
    arms = [arm for arm in arms if label is None or arm.label == label]
    assert len(arms) <= 1, f"{panel}: {curve} stands for {len(arms)} arms"
    return arms[0] if arms else None


def compared(experiment: StoredExperiment, panel: str, baseline: str) -> dict[str, Regret] | None:
    """The four curves of a panel with one of its baselines; None if one is missing or has a single run."""
    arms = {curve: arm_of(experiment, panel, curve) for curve in CURVES[1:]}
    arms["non_private"] = arm_of(experiment, panel, "non_private", baseline)
    present = {curve: arm for curve, arm in arms.items() if arm is not None and len(arm.runs) > 1}
    if len(present) < len(arms):
        return None
    return {curve: Regret(*arm.half_and_full) for curve, arm in present.items()}


FITTED = ("matched", "pooled", "explained")  # panels whose ε or factors were fitted to the printed curves
NUMBERS = ("arm", "certified", "mean (95%)", "median", "interquartile mean (95%)", "largest", "never settle")
PAIRS = ("private arm", "baseline", "cost: mean difference (95%)", "P(private run better)", "p")


def table(experiment: StoredExperiment) -> Rows:
    return [NUMBERS, *(_row(arm) for arm in experiment.arms)]


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    compared_curves = columns(experiment)
    page = write_page(
        folder,
        "headline",
        K=f"{experiment.arms[0].K:,}",
        runs=runs_text(experiment),
        numbers=markdown(NUMBERS, [_row(arm) for arm in experiment.arms]),
        pairs=markdown(PAIRS, _pairs(experiment)),
        verdicts=_verdicts(compared_curves),
        contrasts=sum(len(rule(curves)) for curves in compared_curves.values() for rule in SENTENCES.values()),
    )
    return [page]


def columns(experiment: StoredExperiment) -> dict[str, Curves]:
    """The comparisons that can be judged: a panel with one of its baselines."""
    found = {
        f"{panel}, {words}": compared(experiment, panel, label)
        for panel in PANELS
        for words, label in BASELINES.items()
    }
    return {name: curves for name, curves in found.items() if curves is not None}


def _verdicts(compared_curves: dict[str, Curves]) -> str:
    judged = judge(compared_curves)
    header = [f"{name} (fitted)" if name.partition(",")[0] in FITTED else name for name in judged]
    rows = [[sentence, *(found[sentence] for found in judged.values())] for sentence in SENTENCES]
    return markdown(("the paper's sentence", *header), rows)


def _pairs(experiment: StoredExperiment) -> list[list[str]]:
    pairs = [
        (arm, words, reference)
        for panel in PANELS
        for curve in CURVES[1:]
        for words, label in BASELINES.items()
        if (arm := arm_of(experiment, panel, curve)) is not None
        and (reference := arm_of(experiment, panel, "non_private", label)) is not None
    ]
    found = [paired(arm.finals, reference.finals) for arm, _, reference in pairs]
    adjusted = holm(np.array([one.p for one in found]))
    return [
        [
            arm.key,
            words,
            f"{as_regret(one.difference)} ({as_regret(one.low)} to {as_regret(one.high)})",
            f"{one.improvement:.2f}",
            f"{p:.2g}",
        ]
        for (arm, words, _), one, p in zip(pairs, found, adjusted, strict=True)
    ]


def _row(arm: StoredArm) -> tuple[str, ...]:
    found = numbers(arm)
    return (
        arm.key,
        certified(arm),
        _interval(found.mean),
        as_regret(found.median),
        _interval(found.middle),
        as_regret(found.largest),
        f"{found.tail.unsettled} of {found.tail.runs} ({found.tail.low:.0%} to {found.tail.high:.0%})",
    )


def mechanism(arm: StoredArm) -> str:
    """The arm's label; of a certified arm that stands for a printed curve, its privatizer."""
    if arm.panel != CERTIFIED or arm.printed in (None, "non_private"):
        return arm.label
    return str(arm.config["privatizer"]["name"]).replace("_", " ")


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


def _interval(found: Bootstrap) -> str:
    return f"{as_regret(float(found.mean))} ({as_regret(float(found.low))} to {as_regret(float(found.high))})"
