"""explain.md: every hypothesis about the printed figure, and the LDP curve."""

from pathlib import Path

import numpy as np

from dpucbvi.stats import holm
from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies import Rows, Stored
from experiments.studies.explain.findings import (
    Finding,
    at_printed,
    best,
    best_local,
    epsilon_text,
    findings,
    fit,
    in_words,
    local_arms,
    local_distance,
    summary,
)
from experiments.studies.shared.arms import laplace_of, runs_text
from experiments.studies.shared.printed import at_printed_size, printed_curves
from experiments.studies.shared.tables import finals, markdown, write_page

HEADER = (
    *("noise", "counts", "ε certified", "bonus ×", "E ×"),
    *("distance", "by chance", "p", "printed figure"),
)


def table(experiment: StoredExperiment) -> Rows:
    """Every hypothesis; the final regrets, if the runs have another size than the printed ones."""
    if not at_printed_size(experiment):
        return finals(experiment)
    return [HEADER, *(_row(found) for found in findings(experiment))]


def write(experiment: StoredExperiment, folder: Path, _: Stored) -> list[Path]:
    found = findings(experiment)
    page = write_page(
        folder,
        "explain",
        hypotheses=markdown(HEADER, [_row(one) for one in found]),
        ratios=_ratios(experiment, best(found)),
        local=_local(experiment),
        runs=runs_text(experiment),
        **summary(found),
    )
    return [page]


def _row(found: Finding) -> tuple[str, ...]:
    bonus, confidence = found.factors
    return (
        *in_words(found.hypothesis),
        epsilon_text(found.certified[0]),
        f"{bonus:g}",
        f"{confidence:g}",
        f"{found.fit.distance:.3f}",
        f"{np.quantile(found.fit.by_chance, 0.95):.3f}",
        f"{found.p:.2g}",
        found.verdict,
    )


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
    shared = ", the same for all pairs" * arm.config["privatizer"]["name"].endswith(":Shared")
    return (
        f"{laplace_of(arm)}{shared}",
        epsilon_text(arm.certificate.add_remove),
        f"{local_distance(arm):.3f}",
        f"{p:.2g}",
        f"{regret[:, -1].mean():,.0f}",
    )
