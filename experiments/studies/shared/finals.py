"""The table at the end of a run: for every arm its final regret, and the ε that its runs certify."""

import math

from experiments.lab.store import StoredArm, StoredExperiment
from experiments.studies.shared.arms import certificate_of, config_of, mean_and_half_width_of
from experiments.studies.shared.labels import as_written

HEADER = (
    *("arm", "regret", "95% ±", "bonus ×", "E ×", "counts"),
    *("privacy", "δ", "ε (a user added or removed)", "ε (replaced)"),
)


def finals(experiment: StoredExperiment) -> list[tuple[str, ...]]:
    """The regret of every arm after its last episode, mean and half of the 95% interval over its runs."""
    return [HEADER, *(_row(arm) for arm in experiment.arms)]


def as_regret(value: float) -> str:
    """A regret, or a difference of two, for a terminal: 167,666 or 22.5."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _row(arm: StoredArm) -> tuple[str, ...]:
    mean, half_width = mean_and_half_width_of(arm)
    certificate, config = certificate_of(arm), config_of(arm)
    private = certificate.model != "none"
    return (
        arm.key,
        as_regret(mean),
        "-" if math.isnan(half_width) else as_regret(half_width),
        as_written(config["bonus"]["scale"]),
        as_written(config["confidence"]["scale"]) if private else "-",
        "pooled" if config["agent"].get("pooled") else "per step",
        certificate.model,
        as_written(certificate.delta),
        _epsilon(certificate.add_remove),
        _epsilon(certificate.replace_one),
    )


def _epsilon(value: float) -> str:
    return "∞" if value == math.inf else f"{float(f'{value:.4g}'):,.10g}"
