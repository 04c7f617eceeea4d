"""explain.md and explain.csv: every hypothesis about the printed figure, and the LDP curve."""

import math
from pathlib import Path

import numpy as np

from dpucbvi.privacy.certificate import rounded_up
from dpucbvi.stats import holm, three_digits
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored
from experiments.studies.explain.findings import (
    POSSIBLE,
    Finding,
    at_printed,
    best,
    best_local,
    findings,
    fit,
    in_words,
    local_arms,
    local_distance,
)
from experiments.studies.shared.arms import laplace_of, runs_text
from experiments.studies.shared.printed import at_printed_size, printed_curves
from experiments.studies.shared.tables import WRITTEN, finals, markdown, write_csv

HEADER = (
    *("noise", "counts", "ε certified", "bonus ×", "E ×"),
    *("distance", "by chance", "p", "printed figure"),
)
NEAR = 0.2  # a distance that we call near
NOTES = """\
A hypothesis has one factor on the bonus and one on E for three curves: without privacy, and JDP where the
legend says ε = 1 and ε = 2. The factors were fitted to the printed curves on other seeds (`+exp=explain_fit`,
{fitted} points for each at most). "ε certified": of the curve printed as ε = 1, pure, a user added or removed
(twice that if replaced). "distance": root mean square of log(ours/printed) over the curves and the digitised
episodes, 0.1 being about 10%; "by chance": what 95% of figures of 5 runs of the hypothesis itself, read off
as badly as the bitmap, stay below; p: the share of them at least as far off as the printed figure, Holm's
correction over the table. Small p: these settings did not print this figure. Large p: they may have, and so may
others that were not tried. Means of {runs} (5 where the fit was off by a factor of 3 or more), whose
own error is in p.
"""


def table(experiment: StoredExperiment) -> Rows:
    """Every hypothesis; the final regrets, if the runs have another size than the printed ones."""
    if not at_printed_size(experiment):
        return finals(experiment)
    return [HEADER, *(_row(found) for found in findings(experiment))]


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    found = findings(experiment)
    parts = [
        WRITTEN,
        "### Which noise explains the printed JDP curves\n",
        verdict(found) + "\n",
        markdown(HEADER, [_row(one) for one in found]),
        "\n### The nearest hypothesis, curve by curve: ours over printed\n",
        _ratios(experiment, best(found)),
        "\n### The LDP curve, with the same two factors\n",
        _local(experiment),
        "\n" + NOTES.format(fitted=20, runs=runs_text(experiment)),
    ]
    path = folder / "explain.md"
    path.write_text("\n".join(parts))
    return [path, write_csv(folder / "explain.csv", map(_record, found))]


def verdict(found: list[Finding]) -> str:
    """Which come near and which do not, and whether chance explains what is left."""
    near = [one for one in found if one.fit.distance < NEAR]
    rest = [one.fit.distance for one in found if one.fit.distance >= NEAR]
    possible = [one for one in found if one.verdict == POSSIBLE]
    sentences = []
    if near:
        names = "; ".join(f"{_name(one)} ({one.fit.distance:.2f})" for one in near)
        sentences.append(
            f"Less than {NEAR:.0%} off the printed curves, in root mean square, are {len(near)} of "
            f"{len(found)} hypotheses: {names}."
        )
    if rest:
        sentences.append(
            f"The other {len(rest)} are off by a factor of {np.exp(min(rest)):.1f} or more on average."
        )
    left = "; ".join(_name(one) for one in possible)
    sentences.append(
        f"Chance explains what is left of the distance for: {left}."
        if left
        else "Chance explains none of the distances: no hypothesis has all printed points."
    )
    nearest = best(found)
    sentences.append(f"The nearest certifies ε = {_epsilon(nearest.certified[0])} where the legend says 1.")
    return " ".join(sentences)


def _name(found: Finding) -> str:
    return ", counts ".join(in_words(found.hypothesis))


def _row(found: Finding) -> tuple[str, ...]:
    bonus, confidence = found.factors
    return (
        *in_words(found.hypothesis),
        _epsilon(found.certified[0]),
        f"{bonus:g}",
        f"{confidence:g}",
        f"{found.fit.distance:.3f}",
        f"{np.quantile(found.fit.by_chance, 0.95):.3f}",
        f"{found.p:.2g}",
        found.verdict,
    )


def _record(found: Finding) -> dict[str, object]:
    bonus, confidence = found.factors
    return {
        "hypothesis": found.hypothesis,
        "bonus_factor": bonus,
        "confidence_factor": confidence,
        "distance": f"{found.fit.distance:.4f}",
        "by_chance_95": f"{np.quantile(found.fit.by_chance, 0.95):.4f}",
        "p": f"{found.fit.p:.4f}",
        "p_holm": f"{found.p:.4f}",
        "verdict": found.verdict,
    }


def _epsilon(value: float) -> str:
    return "nothing" if math.isinf(value) else three_digits(rounded_up(value, 3))


def _ratios(experiment: StoredExperiment, found: Finding) -> str:
    arms = dict(found.arms)
    local = best_local(experiment)
    if local is not None:
        arms["ldp_eps2"] = local
    episodes = next(iter(printed_curves().values())).episodes
    rows = [
        [curve, *(f"{ratio:.2f}" for ratio in at_printed(arm).mean(axis=0) / printed_curves()[curve].regret)]
        for curve, arm in arms.items()
    ]
    return markdown(("printed curve", *(f"{k:,.0f}" for k in episodes)), rows)


def _local(experiment: StoredExperiment) -> str:
    header = ("a user adds", "ε certified", "distance", "p", "ends at (printed: 15,120)")
    arms = local_arms(experiment)
    p = holm(np.array([fit({"ldp_eps2": at_printed(arm)}).p for arm in arms]))
    return markdown(header, [_local_row(arm, float(one)) for arm, one in zip(arms, p, strict=True)])


def _local_row(arm: StoredArm, p: float) -> tuple[str, ...]:
    regret = at_printed(arm)
    shared = ", the same for all pairs" * (arm.config["privatizer"]["name"] == "shared")
    return (
        f"{laplace_of(arm)}{shared}",
        _epsilon(arm.certificate.add_remove),
        f"{local_distance(arm):.3f}",
        f"{p:.2g}",
        f"{regret[:, -1].mean():,.0f}",
    )
