"""headline.md and headline.csv: the numbers of every arm, the comparisons and the verdicts."""

from pathlib import Path

import numpy as np

from dpucbvi.stats import Bootstrap, holm, paired, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored
from experiments.studies.headline.numbers import BASELINES, CERTIFIED, CURVES, PANELS, arm_of, compared, numbers
from experiments.studies.headline.verdicts import RULES, SENTENCES, Curves, judge
from experiments.studies.shared.arms import (
    certificate_of,
    config_of,
    episodes_of,
    finals_of,
    levers_of,
    runs_text,
)
from experiments.studies.shared.files import markdown, write_csv
from experiments.studies.shared.finals import as_regret

FITTED = ("matched", "pooled", "explained")  # panels whose ε or factors were fitted to the printed curves
NUMBERS = ("arm", "certified", "mean (95%)", "median", "interquartile mean (95%)", "largest", "never settle")
PAIRS = (
    "private arm",
    "baseline",
    "cost: mean difference (95%)",
    "P(private run better)",
    "p",
)
CSV = (
    *("arm", "panel", "printed_curve", "algorithm", "bonus_factor", "confidence_factor", "model"),
    *("epsilon_add_remove", "epsilon_replace_one", "delta", "runs", "mean", "low", "high", "median"),
    *("interquartile_mean", "largest", "unsettled"),
)
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
    K = episodes_of(experiment.arms[0])
    rules = [f"- *{sentence}*: {rule}." for sentence, rule in RULES.items()]
    parts = [
        "<!-- Written by experiments/paper.py from stored results; do not edit. -->",
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
    return [path, write_csv(folder / "headline.csv", CSV, [_record(arm) for arm in experiment.arms])]


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
    found = [paired(finals_of(arm), finals_of(reference)) for arm, _, reference in pairs]
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
    return str(config_of(arm)["privatizer"]["name"]).replace("_", " ")


def certified(arm: StoredArm) -> str:
    """`JDP ε = 1 (replaced)`; the paper's privatizers certify for a user who is added or removed."""
    certificate = certificate_of(arm)
    if certificate.model == "none":
        return "not private"
    delta = f", δ = {certificate.delta:g}" if certificate.delta else ""
    if config_of(arm)["privatizer"].get("sensitivity") == "paper":
        return f"{certificate.model} ε = {three_digits(certificate.add_remove)}{delta} (added or removed)"
    return f"{certificate.model} ε = {three_digits(certificate.replace_one)}{delta} (replaced)"


def _interval(found: Bootstrap) -> str:
    return f"{as_regret(float(found.mean))} ({as_regret(float(found.low))} to {as_regret(float(found.high))})"


def _record(arm: StoredArm) -> tuple[object, ...]:
    config, found, certificate = config_of(arm), numbers(arm), certificate_of(arm)
    private = certificate.model != "none"
    regrets = (*found.mean, found.median, found.middle.mean, found.largest)
    return (
        *(arm.key, arm.panel, arm.printed or "", arm.label, config["bonus"]["scale"]),
        *(config["confidence"]["scale"] if private else "", certificate.model),
        *((f"{e:.4g}" if private else "") for e in (certificate.add_remove, certificate.replace_one)),
        *(certificate.delta if private else "", found.tail.runs),
        *(f"{float(value):.1f}" for value in regrets),
        found.tail.unsettled,
    )
