"""headline.md and headline.csv: what is said of an arm with many runs, and of two that share their seeds."""

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
from experiments.studies.headline.verdicts import RULES, SENTENCES, Curves, Regret, judge
from experiments.studies.shared.arms import levers_of, runs_text
from experiments.studies.shared.tables import WRITTEN, as_regret, markdown, write_csv

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
TESTED = """\
Each part is a contrast between runs with the same seed, tested by flipping signs; Holm's correction is over all
{contrasts} contrasts. All parts positive: reproduces; one negative: does not; otherwise it cannot be told.
"""
NOTES = """\
Means, medians and interquartile means of {runs} after {K:,} episodes, on seeds that nothing was chosen on;
intervals by the bootstrap, those of means and differences corrected for bias and skewness (BCa). "never
settle" counts the runs that are not settled: the last tenth of the episodes adds more regret than √k growth
would; its interval is Clopper and Pearson's.
Pairs share their seeds; p is of the sign-flip test with Holm's correction over the table. matched and pooled:
the ε (and UCBVI's factor) were fitted so that the final mean is the printed one; explained: the factors were
fitted to the whole printed curves. Their final values, the order of these and the final differences are thus
no evidence; how the curves grow, and their tails, are. certified: nothing was fitted to the printed figure,
factors come from `+exp=calibrate_mechanisms`.

Names of arms: the panel, then `ucbvi` for UCBVI, `itself` for DP-UCBVI without privacy and with the same
factors (in certified those of batches; one question has another factor on its bonus, so that its cost is not
quite like for like), or the printed curve that is meant. In certified these are other privatizers{mechanisms}.
"""
CHANGED = "They change the algorithm too: {levers}.\n"


def table(experiment: StoredExperiment) -> Rows:
    return [NUMBERS, *(_row(arm) for arm in experiment.arms)]


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    K = experiment.arms[0].K
    rules = [f"- *{sentence}*: {rule}." for sentence, rule in RULES.items()]
    parts = [
        WRITTEN,
        f"### Regret after {K:,} episodes\n",
        markdown(NUMBERS, [_row(arm) for arm in experiment.arms]),
        "\n### The cost of privacy, like for like and against UCBVI\n",
        markdown(PAIRS, _pairs(experiment)),
        "\n### The four sentences of Section 7\n",
        verdict_table(experiment),
        "\n" + "\n".join(rules),
        "\n" + TESTED.format(contrasts=contrast_count(experiment)),
        NOTES.format(runs=runs_text(experiment), K=K, mechanisms=_mechanisms(experiment)),
    ]
    if levers := levers_of([arm for arm in experiment.arms if arm.panel == CERTIFIED]):
        parts[-1] += CHANGED.format(levers=levers)
    path = folder / "headline.md"
    path.write_text("\n".join(parts))
    return [path, write_csv(folder / "headline.csv", map(_record, experiment.arms))]


def columns(experiment: StoredExperiment) -> dict[str, Curves]:
    """The comparisons that can be judged: a panel with one of its baselines."""
    found = {
        f"{panel}, {words}": compared(experiment, panel, label)
        for panel in PANELS
        for words, label in BASELINES.items()
    }
    return {name: curves for name, curves in found.items() if curves is not None}


def contrast_count(experiment: StoredExperiment) -> int:
    return sum(len(rule(curves)) for curves in columns(experiment).values() for rule in SENTENCES.values())


def verdict_table(experiment: StoredExperiment) -> str:
    judged = judge(columns(experiment))
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


def _mechanisms(experiment: StoredExperiment) -> str:
    """`: certified_jdp_eps2 is batches; ...`"""
    arms = [arm for arm in experiment.arms if arm.panel == CERTIFIED and arm.printed != "non_private"]
    return ": " * bool(arms) + "; ".join(f"`{arm.key}` is {mechanism(arm)}" for arm in arms)


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


def _record(arm: StoredArm) -> dict[str, object]:
    config, found, certificate = arm.config, numbers(arm), arm.certificate
    private = certificate.model != "none"
    mean, low, high = map(float, found.mean)
    middle = float(found.middle.mean)
    regrets = {"mean": mean, "low": low, "high": high, "median": found.median, "interquartile_mean": middle}
    return {
        **{"arm": arm.key, "panel": arm.panel, "printed_curve": arm.printed or "", "algorithm": arm.label},
        "bonus_factor": config["bonus"]["scale"],
        "confidence_factor": config["confidence"]["scale"] if private else "",
        "model": certificate.model,
        "epsilon_add_remove": f"{rounded_up(certificate.add_remove):g}" if private else "",
        "epsilon_replace_one": f"{rounded_up(certificate.replace_one):g}" if private else "",
        "delta": certificate.delta if private else "",
        "runs": found.tail.runs,
        **{key: f"{value:.1f}" for key, value in regrets.items()},
        "largest": f"{found.largest:.1f}",
        "unsettled": found.tail.unsettled,
    }
